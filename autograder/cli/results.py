"""Showing results: tables for people, JSON for programs, progress while it takes long."""

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import CourseError
from autograder.files import write_atomically
from autograder.model import SubmissionResult

if TYPE_CHECKING:
    from rich.console import RenderableType

STDOUT = "-"


def write_json(target: str | None, assignment: str, results: Sequence[SubmissionResult]) -> None:
    """Write results as ``docs/result_format.md`` has them, to a file or, for ``-``, to standard output."""
    from autograder.reporting.result_format import results_to_json

    if target is None:
        return
    text = results_to_json(assignment, results)
    if target == STDOUT:
        sys.stdout.write(text)
        return
    try:
        write_atomically(Path(target), text.encode())
    except OSError as error:
        raise CourseError(f"The results cannot be written to {target}: {error.strerror}.") from error


def show(what: "RenderableType", json_target: str | None) -> None:
    """Print a table, unless standard output carries JSON."""
    from rich.console import Console

    if json_target != STDOUT:
        Console().print(what)


def width() -> int:
    """The width of the terminal, in characters."""
    from rich.console import Console

    return Console().width


@contextlib.contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar on a terminal's standard error, elsewhere nothing: call it with done, total, and the last."""
    if not sys.stderr.isatty():
        yield lambda done, total, last: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.text import Text

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[last]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, last="")
        yield lambda done, total, last: bar.update(task, completed=done, total=total, last=Text(last).plain)
