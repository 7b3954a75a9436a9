"""Showing results: tables for people, JSON for programs, progress while it takes long."""

import codecs
import contextlib
import io
import os
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
#: The width of what is wide, in a pipe or a file: rows of arrays stay whole.
PIPE_WIDTH = 240

#: What stands for our signs on a terminal whose encoding has none for them; anything else shows as "?".
_PLAIN_SIGNS = {"✓": "+", "✗": "x", "–": "-", "…": ".", "→": ">"}
_SUBSTITUTE = "autograder.substitute"


def _substitute(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(_PLAIN_SIGNS.get(sign, "?") for sign in signs), error.end


codecs.register_error(_SUBSTITUTE, _substitute)


def write_json(target: str | None, assignment: str, results: Sequence[SubmissionResult]) -> None:
    """Write results as ``docs/result_format.md`` has them, to a file or, for ``-``, to standard output."""
    from autograder.reporting.result_format import results_to_json

    if target is not None:
        write_text(target, results_to_json(assignment, results))


def write_text(target: str | None, text: str) -> None:
    """Write a text to a file or, for ``-``, to standard output; nothing without a target.

    A file appears whole; a device or a pipe is written to as it is. Raises CourseError where that fails.
    """
    if target is None:
        return
    data = text.encode()
    if target == STDOUT:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    path = Path(target)
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            write_atomically(path.resolve(), data, mode=0o666 & ~_umask())
    except OSError as error:
        raise CourseError(f"The results cannot be written to {target}: {error.strerror}.") from error


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def show(what: "RenderableType", json_target: str | None = None, *, wide: bool = False) -> None:
    """Print a table or plain lines of text, unless standard output carries JSON.

    With ``wide`` lines are as long as they like where no terminal, and no COLUMNS, limits them.
    """
    from rich.console import Console

    if json_target == STDOUT:
        return
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_SUBSTITUTE)
    limited = not wide or sys.stdout.isatty() or "COLUMNS" in os.environ
    # Lines of text are left whole, for a terminal to break: a path is copied, a command is typed.
    Console(width=None if limited else PIPE_WIDTH).print(
        what, markup=False, emoji=False, highlight=False, soft_wrap=isinstance(what, str)
    )


def width() -> int:
    """The width of the terminal, in characters."""
    from rich.console import Console

    return Console().width


@contextlib.contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar on a terminal's standard error: call it with done, total, and the last.

    Elsewhere nothing is printed: for a program, text on standard error means that something went wrong.
    """
    if not sys.stderr.isatty():
        yield lambda done, total, last: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from autograder.reporting.table import plain

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[last]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, last="")
        yield lambda done, total, last: bar.update(task, completed=done, total=total, last=plain(last))
