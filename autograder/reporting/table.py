"""Results as tables for a terminal, readable at 80 columns.

Whatever comes from a submission, such as a student's name, is shown as plain text: no markup, no control
characters.
"""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autograder.model import CheckResult, Status, SubmissionResult, Verdict

#: Names longer than the room that is left are folded; with less room than this, exercises are left out.
MIN_STUDENT_WIDTH = 10
MAX_NAME_WIDTH = 28

_MARKS = {Verdict.PASSED: ("✓", "green"), Verdict.JUDGE_ERROR: ("?", "yellow")}
_WRONG = ("✗", "red")


def submission_table(assignment: str, result: SubmissionResult) -> RenderableType:
    """One result in full: a line for each check that passed, and all that is known of the others."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(max_width=MAX_NAME_WIDTH, no_wrap=True, overflow="ellipsis")
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    judged = any(exercise.checks for exercise in result.exercises)
    for exercise in result.exercises:
        waits = judged and exercise.score is None and not exercise.checks
        points = Text(_points(exercise.score, exercise.max_score), "bold")
        table.add_row(Text(plain(exercise.name), "bold"), points, "waits for a person" if waits else "")
        told: set[str] = set()
        for check in exercise.checks:
            table.add_row(*_check_row(check, told))
        table.add_row()
    table.add_row(Text("total", "bold"), Text(_points(result.score, result.max_score), "bold"), "")
    head = Text(f"{plain(assignment)}, {plain(result.student)}: {_total(result)}", "bold")
    return Group(head, *_remarks(result), "", table)


def class_table(assignment: str, results: Sequence[SubmissionResult], *, width: int) -> RenderableType:
    """All results, a line each, and below it what needs a person's eyes.

    Columns of exercises are left out where ``width`` characters cannot hold them.
    """
    names = list(dict.fromkeys(one.name for result in results for one in result.exercises))
    best = max((result.max_score for result in results), default=0.0)
    totals = ["no score" if one.score is None else _number(one.score) for one in results]
    columns = [*(_column(results, name) for name in names), (f"total\nof {_number(best)}", totals)]
    room = width - sum(_width([*title.split("\n"), *values]) + 2 for title, values in columns)
    if room < MIN_STUDENT_WIDTH:
        columns = columns[-1:]
    count = f"{len(results)} submission{'' if len(results) == 1 else 's'}"
    head = Text(f"{plain(assignment)}: {count}", "bold")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("student", overflow="fold")
    for heading, _ in columns:
        table.add_column(heading, justify="right", no_wrap=True)
    for row, result in enumerate(results):
        table.add_row(Text(plain(result.student)), *(values[row] for _, values in columns))
    odd = [result for result in results if result.status is not Status.GRADED or result.notes]
    remarks = [Group(Text(plain(one.student), style="bold"), *_remarks(one)) for one in odd]
    parts: list[RenderableType] = [head, table]
    if remarks:
        parts += [Text("Worth a look:"), *remarks]
    return Group(*parts)


def plain(text: str) -> str:
    """Text without anything that a terminal could take for a command."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)


def _remarks(result: SubmissionResult) -> Iterator[RenderableType]:
    """The reason of a result and its notes, below its name."""
    if result.status is not Status.GRADED:
        kind = "needs attention" if result.status is Status.JUDGE_ERROR else str(result.status)
        yield Padding(Text(f"{kind}: {plain(result.reason or '')}", "yellow"), (0, 0, 0, 2), expand=False)
    notes = Table.grid()
    for note in result.notes:
        notes.add_row("  - ", Text(plain(note), overflow="fold"))
    if result.notes:
        yield notes


def _check_row(check: CheckResult, told: set[str]) -> tuple[Text, Text, Text]:
    """A check's name, points and explanation; one that passed with all its points stays on one line.

    A hint that ``told`` has already is not given again; new ones are added to it.
    """
    mark, colour = _MARKS.get(check.verdict, _WRONG)
    passed = check.verdict is Verdict.PASSED
    name = Text.assemble("  ", (mark, colour), " ", (plain(check.name), "dim" if passed else colour))
    counts = check.max_points > 0  # some rows only tell how things hang together
    points = Text(_points(check.points, check.max_points) if counts else "", "dim" if passed else "")
    if passed and check.points == check.max_points:
        return name, points, Text(plain(check.message), "dim", no_wrap=True, overflow="ellipsis")
    return name, points, _explanation(check, told, "dim" if passed else "")


def _explanation(check: CheckResult, told: set[str], style: str) -> Text:
    """A check's message, the mistake behind it, and its hints."""
    lines = [check.message]
    hints = [check.hint] if check.hint else []
    if check.diagnosis is not None:
        lines.append(check.diagnosis.message)
        hints.insert(0, check.diagnosis.hint)
    text = Text("\n".join(plain(line) for line in lines), style)
    for hint in hints:
        if hint not in told:
            told.add(hint)
            text.append(f"\nHint: {plain(hint)}", style="italic")
    return text


def _points(score: float | None, max_score: float) -> str:
    return f"{'–' if score is None else _number(score)} / {_number(max_score)}"


def _total(result: SubmissionResult) -> str:
    score = "no score" if result.score is None else _number(result.score)
    return f"{score} of {_number(result.max_score)}"


def _column(results: Sequence[SubmissionResult], name: str) -> tuple[str, list[str]]:
    """An exercise's title, broken at underscores to stay narrow, and its scores."""
    scores = [{one.name: one.score for one in result.exercises}.get(name) for result in results]
    values = ["–" if score is None else _number(score) for score in scores]
    return plain(name).replace("_", "_\n"), values


def _number(value: float) -> str:
    """A number of points in few characters.

    >>> _number(3.0), _number(0.75)
    ('3', '0.75')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _width(texts: Sequence[str]) -> int:
    return max(Text(text).cell_len for text in texts)
