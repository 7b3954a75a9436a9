"""One submission's result as a table for a terminal, readable at 80 columns.

Whatever comes from a submission, such as a student's name, is shown as plain text: no markup, no control
characters.
"""

import math
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autograder.model import CheckResult, ExerciseResult, Status, SubmissionResult, Verdict

#: Longer names of checks are cut; several names are broken into lines of the other width.
MAX_NAME_WIDTH = 28
_LINE_WIDTH = 18
_INDENT = "    "
#: From this many checks on that all say the same, they are counted and not named.
_MANY = 3

_MARKS = {Verdict.PASSED: ("✓", "green"), Verdict.JUDGE_ERROR: ("?", "yellow")}
_WRONG = ("✗", "red")


def submission_table(assignment: str, result: SubmissionResult, *, cut: bool = True) -> RenderableType:
    """One result in full: what checks say, once for neighbours that say the same.

    The sentence of a check that passed is cut to one line, or with ``cut=False`` given whole.
    """
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(max_width=MAX_NAME_WIDTH, overflow="ellipsis")
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for exercise in result.exercises:
        score = Text(points(exercise.score, exercise.max_score), "bold")
        table.add_row(Text(plain(exercise.name), "bold", no_wrap=True), score, _standing(exercise))
        told: set[str] = set()
        for _, same in groupby(exercise.checks, lambda check: (check.verdict, check.message)):
            table.add_row(*_row(exercise, tuple(same), told, cut=cut))
        if exercise.checks:
            table.add_row()
    if result.exercises and not result.exercises[-1].checks and any(one.checks for one in result.exercises):
        table.add_row()
    table.add_row(Text("total", "bold"), Text(points(result.score, result.max_score), "bold"), "")
    head = Text(f"{plain(assignment)}, {plain(result.student)}: {_total(result)}", "bold")
    return Group(head, *remarks(result, result.notes), "", table)


def plain(text: str) -> str:
    """Text without anything that a terminal could take for a command."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)


def number(value: float) -> str:
    """A number of points in few characters.

    >>> number(3.0), number(0.75)
    ('3', '0.75')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def points(score: float | None, max_score: float) -> str:
    """Points of how many; a dash where there are none yet.

    >>> points(1.5, 2.0), points(None, 2.0)
    ('1.5 / 2', '– / 2')
    """
    return f"{'–' if score is None else number(score)} / {number(max_score)}"


def remarks(result: SubmissionResult, notes: Sequence[str]) -> Iterator[RenderableType]:
    """The reason of a result, and notes on it, as they stand below its name."""
    if result.status is not Status.GRADED:
        kind = "needs attention" if result.status is Status.JUDGE_ERROR else str(result.status)
        yield Padding(Text(f"{kind}: {plain(result.reason or '')}", "yellow"), (0, 0, 0, 2), expand=False)
    listed = Table.grid()
    for note in notes:
        listed.add_row("  - ", Text(plain(note), overflow="fold"))
    if notes:
        yield listed


def _standing(exercise: ExerciseResult) -> Text:
    """What is to be said of an exercise as a whole."""
    if exercise.error is not None:
        return Text(f"its cell ended with {plain(exercise.error)}", "red")
    return Text("waits for a person" if exercise.waits else "")


def _row(
    exercise: ExerciseResult, same: tuple[CheckResult, ...], told: set[str], *, cut: bool
) -> tuple[Text, Text, Text]:
    """Names, points and explanation of neighbouring checks that say the same.

    A hint that ``told`` has already is not given again; new ones are added to it.
    """
    first = same[0]
    passed = first.verdict is Verdict.PASSED
    mark, colour = _MARKS.get(first.verdict, _WRONG)
    name = Text.assemble("  ", (mark, colour), " ", (_names(exercise, same), "dim" if passed else colour))
    earned, most = (
        math.fsum(values) for values in zip(*((c.points, c.max_points) for c in same), strict=True)
    )
    counts = most > 0  # some rows only tell how things hang together
    share = Text(points(earned, most) if counts else "", "dim" if passed else "")
    if passed and earned == most:
        cutting = {"no_wrap": True, "overflow": "ellipsis"} if cut else {}
        return name, share, Text(plain(first.message), "dim", **cutting)  # type: ignore[arg-type]
    return name, share, _explanation(same, told, "dim" if passed else "")


def _names(exercise: ExerciseResult, same: tuple[CheckResult, ...]) -> str:
    """The names of checks, one below the other where there is no room beside it."""
    counting = [check for check in exercise.checks if check.max_points > 0]
    if len(same) >= _MANY and same == tuple(counting):
        return f"all {len(same)} checks"
    names = ", ".join(plain(check.name) for check in same)
    lines = textwrap.wrap(names, _LINE_WIDTH, break_long_words=False, break_on_hyphens=False)
    return f"\n{_INDENT}".join(lines)


def _explanation(same: Sequence[CheckResult], told: set[str], style: str) -> Text:
    """What checks say, the mistakes behind it, and their hints."""
    mistakes = [check.diagnosis for check in same if check.diagnosis is not None]
    lines = dict.fromkeys([same[0].message, *(mistake.message for mistake in mistakes)])
    hints = [*(mistake.hint for mistake in mistakes), *(check.hint for check in same if check.hint)]
    text = Text("\n".join(plain(line) for line in lines), style)
    for hint in hints:
        if hint not in told:
            told.add(hint)
            text.append(f"\nHint: {plain(hint)}", style="italic")
    return text


def _total(result: SubmissionResult) -> str:
    score = "no score" if result.score is None else number(result.score)
    return f"{score} of {number(result.max_score)}"
