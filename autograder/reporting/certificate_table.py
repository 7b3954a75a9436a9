"""A certificate for a terminal, readable at 80 columns."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autograder.reporting.certificate import Certificate, CheckRecord, Fault, MistakeRecord

#: So many lines of one kind of finding are shown; the page has them all.
SHOWN = 10


def certificate_table(certificate: Certificate) -> RenderableType:
    """The verdict, a line for each check, and whatever speaks against the checks."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("check", no_wrap=True)
    for heading in ("kills", "alone", "right errs by", "wrong by"):
        table.add_column(heading, justify="right", no_wrap=True)
    for exercise in certificate.exercises:
        table.add_row(Text(exercise.name, "bold"))
        for check in exercise.checks:
            table.add_row(*_row(check))
        table.add_section()
    return Group(Text(headline(certificate), "bold"), *_summary(certificate), table, *_findings(certificate))


def headline(certificate: Certificate) -> str:
    """The verdict in one sentence."""
    seeds = f"{certificate.seeds} seed{'' if certificate.seeds == 1 else 's'}"
    if certificate.holds:
        return f"{certificate.assignment}: certified on {seeds}."
    return f"{certificate.assignment}: NOT certified on {seeds}."


def summary(certificate: Certificate) -> list[str]:
    """The figures in a few sentences."""
    mistakes, right = certificate.mistakes, certificate.right
    clearest = min((one.margin for one in mistakes if one.margin is not None), default=None)
    farthest = max((one.margin for one in right if one.margin is not None), default=None)
    lines = [
        f"{_counted(mistakes)}: {len(certificate.survivors)} survive.",
        f"{len(right)} right solutions: {len(certificate.false_failures)} false failures.",
    ]
    if farthest is not None:
        lines.append(f"No right solution errs by more than {multiple(farthest)} of the error allowed.")
    if clearest is not None:
        lines.append(
            f"Every mistake errs somewhere by at least {multiple(clearest)} times the error allowed."
        )
    if certificate.diagnosed:
        named = sum(one.is_named for one in certificate.diagnosed)
        wrong = sum(bool(one.said) for one in right)
        lines.append(
            f"Handed in as students' code, {named} of {len(certificate.diagnosed)} mistakes are named, and "
            f"nothing else, every time; of {wrong or 'no'} right solution{'s' if wrong > 1 else ''} is "
            "anything said."
        )
    processes = f"{certificate.processes} process{'' if certificate.processes == 1 else 'es'}"
    lines.append(
        f"It took {certificate.wall_seconds:.1f} s in {processes}; "
        f"{certificate.complete_seeds} of the seeds were tried completely."
    )
    return lines


def _counted(mistakes: Sequence[MistakeRecord]) -> str:
    """How many there are, and in how many forms, if that is more."""
    further = sum(bool(one.form_of) for one in mistakes)
    forms = f", {len(mistakes)} with all their forms" if further else ""
    return f"{len(mistakes) - further} known mistakes{forms}"


def multiple(margin: float | None) -> str:
    """A multiple of the error allowed, in few characters."""
    return "–" if margin is None else f"{margin:.2g}"


def idle_checks(certificate: Certificate) -> tuple[list[str], list[str]]:
    """The checks that find no mistake at all, and those that find none alone."""
    named = [(f"{one.name}.{check.name}", check) for one in certificate.exercises for check in one.checks]
    nothing = [name for name, check in named if not check.kills]
    nothing_alone = [name for name, check in named if check.kills and not check.alone]
    return nothing, nothing_alone


def _summary(certificate: Certificate) -> Iterator[Text]:
    return (Text(line) for line in summary(certificate))


def _row(check: CheckRecord) -> Sequence[str]:
    return (
        f"  {check.name}",
        str(len(check.kills)),
        str(len(check.alone)),
        multiple(check.right_margin),
        multiple(check.wrong_margin),
    )


def _findings(certificate: Certificate) -> Iterator[RenderableType]:
    nothing, nothing_alone = idle_checks(certificate)
    survivors = [
        f"{exercise}: {mistake.id} earns all points on seed {', '.join(map(str, mistake.survived[:5]))}"
        for exercise, mistake in certificate.survivors
    ]
    yield from _listed("These mistakes survive:", survivors, "red")
    yield from _listed("These right solutions fail:", map(_fault, certificate.false_failures), "red")
    yield from _listed("These checks broke down:", map(_fault, certificate.breakdowns), "red")
    yield from _listed("These checks find no known mistake; are they needed?", nothing, "yellow")
    yield from _listed("These find no mistake that no other check finds:", [", ".join(nothing_alone)], "")


def _listed(title: str, lines: Iterator[str] | Sequence[str], style: str) -> Iterator[RenderableType]:
    found = [line for line in lines if line]
    if found:
        yield Text(title, style)
        yield from (Text(f"  {line}") for line in found[:SHOWN])
        if len(found) > SHOWN:
            yield Text(f"  and {len(found) - SHOWN} more, on the page")


def _fault(fault: Fault) -> str:
    last = fault.message.strip().splitlines()[-1] if fault.message.strip() else ""
    return f"{fault.candidate}, {fault.exercise}.{fault.check}, seed {fault.seed}: {fault.verdict}. {last}"
