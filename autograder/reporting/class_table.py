"""The results of a class as a table for a terminal, and below it what needs a person's eyes."""

import re
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autograder.model import WITHOUT_SANDBOX, ExerciseResult, Status, SubmissionResult, Verdict
from autograder.reporting.table import number, plain, remarks

#: Names longer than the room that is left are folded; with less room than this, exercises are left out.
MIN_STUDENT_WIDTH = 10
#: Where titles are broken to stay narrow: behind underscores; where that is not enough, before capitals, too.
BREAKS = (re.compile("(?<=_)"), re.compile("(?<=_)|(?<=[a-z0-9])(?=[A-Z])"))
#: So many names are listed of those who wait for a person; more are counted.
MAX_NAMES = 20

#: What is worth a look even where points say it all: it may be the notebook and not the student.
_UNUSUAL = {
    Verdict.TIMED_OUT: "ran out of time",
    Verdict.MEMORY_EXCEEDED: "needed too much memory",
    Verdict.CRASHED: "broke Python down",
    Verdict.MISSING: "is not defined",
}


def class_table(assignment: str, results: Sequence[SubmissionResult], *, width: int) -> RenderableType:
    """All results, a line each; below them who waits for a person, and what was unusual.

    A dash stands for points that are not given yet. Columns of exercises are left out where ``width``
    characters cannot hold them.
    """
    names = list(dict.fromkeys(one.name for result in results for one in result.exercises))
    best = max((result.max_score for result in results), default=0.0)
    totals = ["no score" if one.score is None else number(one.score) for one in results]
    total = (f"total\nof {number(best)}", totals)
    columns = [total]
    for breaks in BREAKS:
        wide = [*(_column(results, name, breaks) for name in names), total]
        if (
            width - sum(_width([*title.split("\n"), *values]) + 2 for title, values in wide)
            >= MIN_STUDENT_WIDTH
        ):
            columns = wide
            break
    count = f"{len(results)} submission{'' if len(results) == 1 else 's'}"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("student", overflow="fold")
    for heading, _ in columns:
        table.add_column(heading, justify="right", no_wrap=True)
    for row, result in enumerate(results):
        table.add_row(Text(plain(result.student)), *(values[row] for _, values in columns))
    head = Text(f"{plain(assignment)}: {count}", "bold")
    return Group(head, *_warning(results), table, *_waiting(results, names), *_worth_a_look(results))


def _warning(results: Sequence[SubmissionResult]) -> Iterator[RenderableType]:
    """How many results were reached without the sandbox, said once for all of them."""
    unsafe = sum(not result.sandboxed for result in results)
    if unsafe:
        which = "All" if unsafe == len(results) else f"{unsafe} of them"
        yield Text(f"{which} graded without the sandbox (--unsafe).", "bold yellow")


def _waiting(results: Sequence[SubmissionResult], names: Sequence[str]) -> Iterator[RenderableType]:
    """Who waits for a person, by exercise; what the grading program failed on is told elsewhere."""
    waiting: dict[str, list[str]] = {name: [] for name in names}
    for result in results:
        for exercise in result.exercises if result.status is not Status.JUDGE_ERROR else ():
            if exercise.waits:
                waiting[exercise.name].append(plain(result.student))
    if any(waiting.values()):
        yield Text("Waits for a person to grade it:")
    for name, students in waiting.items():
        if students:
            more = len(students) - MAX_NAMES
            listed = ", ".join(students[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
            text = Text(f"{plain(name)} of {listed}", overflow="fold")
            yield Padding(text, (0, 0, 0, 2), expand=False)


def _worth_a_look(results: Sequence[SubmissionResult]) -> Iterator[RenderableType]:
    """What was unusual, student by student."""
    notes = [(result, (*_notes(result), *_unusual(result))) for result in results]
    odd = [(result, said) for result, said in notes if said or result.status is not Status.GRADED]
    if odd:
        yield Text("Worth a look:")
    for result, said in odd:
        yield Group(Text(plain(result.student), style="bold"), *remarks(result, said))


def _notes(result: SubmissionResult) -> Iterator[str]:
    return (note for note in result.notes if note != WITHOUT_SANDBOX)


def _unusual(result: SubmissionResult) -> Iterator[str]:
    """How exercises ended otherwise than with right or wrong answers."""
    for exercise in result.exercises:
        if exercise.error is not None:
            yield f"The cell of {exercise.name} ended with {exercise.error}."
        told = exercise.error is not None or any(f"`{exercise.name}`" in note for note in result.notes)
        for verdict, words in _UNUSUAL.items():
            if not (told and verdict is Verdict.MISSING):
                yield from _ended(exercise, verdict, words)


def _ended(exercise: ExerciseResult, verdict: Verdict, words: str) -> Iterator[str]:
    """A sentence if a check ended so; it names the checks unless all of them did."""
    counting = [check for check in exercise.checks if check.max_points > 0]
    ended = [check.name for check in counting if check.verdict is verdict]
    if ended:
        where = "" if len(ended) == len(counting) else f" in {', '.join(ended)}"
        yield f"{exercise.name} {words}{where}."


def _column(results: Sequence[SubmissionResult], name: str, breaks: re.Pattern[str]) -> tuple[str, list[str]]:
    """An exercise's title, broken to stay narrow, and its scores."""
    scores = [{one.name: one.score for one in result.exercises}.get(name) for result in results]
    values = ["–" if score is None else number(score) for score in scores]
    return breaks.sub("\n", plain(name)), values


def _width(texts: Sequence[str]) -> int:
    return max(Text(text).cell_len for text in texts)
