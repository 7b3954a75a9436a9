"""A certificate as one self-contained page: no script, no picture, nothing from anywhere else."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from autograder.reporting.certificate import Certificate, ExerciseRecord, Fault, MistakeRecord
from autograder.reporting.certificate_table import headline, idle_checks, multiple, summary

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
body { color: #222; background: #fff }
h1 { font-size: 1.5rem } h2 { font-size: 1.2rem; margin-top: 2.5rem }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0 }
tr { border-bottom: 1px solid #ccc }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
.bad { color: #a40000 } .good { color: #1a6600 } .quiet { color: #595959 }
code { font-size: .9em }
"""


INTRODUCTION = """\
<p>The checks that grade were tried on right solutions in many styles, which must pass, and on known mistakes,
which must not.</p>"""


def certificate_page(certificate: Certificate) -> str:
    """The page."""
    verdict = "good" if certificate.holds else "bad"
    parts = [
        f'<h1 class="{verdict}">{escape(headline(certificate))}</h1>',
        INTRODUCTION,
        _bullets(map(escape, summary(certificate))),
        *_findings(certificate),
        *(part for exercise in certificate.exercises for part in _exercise(exercise)),
        *_right(certificate),
        *_diagnosis(certificate),
        *_explained(certificate),
    ]
    title = escape(f"Certificate of {certificate.assignment}")
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{STYLE}</style>\n'
        "</head>\n<body>\n" + "\n".join(parts) + "\n</body>\n</html>\n"
    )


def _findings(certificate: Certificate) -> Iterator[str]:
    nothing, nothing_alone = idle_checks(certificate)
    survivors = [
        f"<code>{escape(exercise)}.{escape(one.id)}</code> earns all points on the seeds "
        f"{', '.join(map(str, one.survived))}: {escape(one.belief)}"
        for exercise, one in certificate.survivors
    ]
    for title, lines in (
        ("Mistakes that survive", survivors),
        ("Right solutions that fail", list(map(_fault, certificate.false_failures))),
        ("Checks that broke down", list(map(_fault, certificate.breakdowns))),
    ):
        yield f'<h2>{title}</h2>\n<p class="{"bad" if lines else "good"}">{len(lines) or "None."}</p>'
        yield _bullets(lines)
    yield "<h2>Checks that kill nothing alone</h2>"
    yield (
        "<p>Without one of these, every known mistake would still be found by another. They earn their place "
        "by naming the place of a mistake, and by the points that are right without it.</p>"
    )
    yield _bullets(f"<code>{escape(name)}</code>" for name in nothing_alone) or "<p>There are none.</p>"
    if nothing:
        yield '<p class="bad">These find no known mistake at all and should go, or get a mistake to find:</p>'
        yield _bullets(f"<code>{escape(name)}</code>" for name in nothing)


def _exercise(exercise: ExerciseRecord) -> Iterator[str]:
    yield f"<h2><code>{escape(exercise.name)}</code>, {exercise.max_points:g} points</h2>"
    rows = (
        (
            f"<code>{escape(check.name)}</code>",
            escape(check.kind),
            f"{check.weight:g}",
            str(len(check.kills)),
            ", ".join(f"<code>{escape(name)}</code>" for name in check.alone),
            multiple(check.right_margin),
            multiple(check.wrong_margin),
            f"{check.slowest_seconds:.3f}",
        )
        for check in exercise.checks
    )
    heads = ("check", "kind", "weight", "kills", "kills alone", "right ≤", "wrong ≥", "slowest (s)")
    yield _table(heads, rows, numbers={2, 3, 5, 6, 7})
    yield _table(
        ("mistake", "what is believed", "seen in", "killed by", "wrong ≥", "seeds"),
        map(_mistake, exercise.mistakes),
        numbers={4, 5},
    )


def _mistake(mistake: MistakeRecord) -> Sequence[str]:
    killers = [
        escape(check) if count == mistake.complete_seeds else f"{escape(check)} ({count})"
        for check, count in mistake.killed_by.items()
    ]
    return (
        _name(mistake),
        escape(mistake.belief),
        escape(mistake.seen),
        ", ".join(killers),
        multiple(mistake.margin),
        str(mistake.seeds),
    )


def _name(mistake: MistakeRecord) -> str:
    form = f", a form of <code>{escape(mistake.form_of)}</code>" if mistake.form_of else ""
    return f"<code>{escape(mistake.id)}</code>{form}"


def _right(certificate: Certificate) -> Iterator[str]:
    yield "<h2>Right solutions</h2>"
    rows = (
        (f"<code>{escape(one.name)}</code>", escape(one.style), multiple(one.margin), str(one.seeds))
        for one in certificate.right
    )
    yield _table(("solution", "style", "errs by ≤", "seeds"), rows, numbers={2, 3})


def _diagnosis(certificate: Certificate) -> Iterator[str]:
    """Who was taken for whom."""
    if not certificate.diagnosed:
        return
    seeds = max(one.diagnosed_seeds for one in certificate.diagnosed)
    named = [one for one in certificate.diagnosed if one.is_named]
    yield "<h2>Diagnosis</h2>"
    yield (
        f"<p>Each mistake was handed in on {seeds} seed{'' if seeds == 1 else 's'} as if it were a "
        f"student's. {len(named)} of {len(certificate.diagnosed)} were named, and nothing else, every "
        "time.</p>"
    )
    rows = [
        (
            f"<code>{escape(exercise.name)}.{escape(one.id)}</code>",
            f"{one.said.get(one.right_name, 0)} of {one.diagnosed_seeds}",
            ", ".join(
                f"<code>{escape(name)}</code> ({count})"
                for name, count in sorted(one.said.items())
                if name != one.right_name
            ),
        )
        for exercise in certificate.exercises
        for one in exercise.mistakes
        if one.diagnosed_seeds and not one.is_named
    ]
    if rows:
        yield _table(("mistake", "named", "taken for"), rows, numbers={1})
    wrong = [
        f"<code>{escape(one.name)}</code>: {escape(', '.join(one.said))}"
        for one in certificate.right
        if one.said
    ]
    colour = "bad" if wrong else "good"
    yield f'<p class="{colour}">Right solutions of which anything is said: {len(wrong) or "none"}.</p>'
    yield _bullets(wrong)


def _explained(certificate: Certificate) -> Iterator[str]:
    lean = certificate.complete_seeds < certificate.seeds
    yield "<h2>How to read this</h2>"
    yield (
        "<p>A seed stands for one set of hidden inputs, as one student gets it. "
        f"On {certificate.complete_seeds} of the {certificate.seeds} seeds every solution met every check; "
        "from these come the kills. "
        + (
            "On each of the others every mistake was tried until a hidden check found it, and the right "
            "solutions besides the reference took turns. "
            if lean
            else ""
        )
        + "What takes seconds for one seed was tried on the first few alone; the tables say on how many.</p>"
    )
    yield (
        "<p>Errors are multiples of the largest error that a check allows: up to 1 passes. “right ≤” is the "
        "largest error of any right solution, “wrong ≥” the smallest of any mistake that this check finds on "
        "every seed, or, of a mistake, the clearest error on the seed where that is smallest; a dash means "
        "that no number decides. A number behind a check's name says on how many of the complete seeds it "
        "found the mistake, where not on all. “slowest” is the CPU time of the slowest right solution.</p>"
    )
    yield (
        f'<p class="quiet">Python {escape(certificate.python)}, NumPy {escape(certificate.numpy)}, '
        f"assignment <code>{escape(certificate.fingerprint[:16])}</code>.</p>"
    )


def _fault(fault: Fault) -> str:
    check = escape(f"{fault.exercise}.{fault.check}")
    start = f"<code>{escape(fault.candidate)}</code> in <code>{check}</code>, seed {fault.seed}: "
    return f"{start}{escape(fault.verdict)}. {escape(fault.message)}"


def _bullets(lines: Iterable[str]) -> str:
    items = "\n".join(f"<li>{line}</li>" for line in lines)
    return f"<ul>\n{items}\n</ul>" if items else ""


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: set[int]) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        marked = (
            f'<{tag} class="n">{cell}</{tag}>' if place in numbers else f"<{tag}>{cell}</{tag}>"
            for place, cell in enumerate(cells)
        )
        return f"<tr>{''.join(marked)}</tr>"

    return "\n".join(["<table>", row(heads, "th"), *(row(cells, "td") for cells in rows), "</table>"])
