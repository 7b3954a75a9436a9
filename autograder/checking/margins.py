"""How far right answers stay below a tolerance, and wrong ones above: noted while somebody watches.

A comparison notes its largest error as a multiple of the error that is allowed: up to 1 passes, more fails.
Nobody watches while students are graded, and then a note costs no more than a look at a context variable.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_watched: ContextVar[list[float] | None] = ContextVar("watched", default=None)


@contextmanager
def watched() -> Iterator[list[float]]:
    """Collect, in order, what the comparisons in the body note.

    >>> with watched() as notes:
    ...     note(lambda: 2e-12 / 1e-9)
    >>> notes
    [0.002]
    """
    notes: list[float] = []
    token = _watched.set(notes)
    try:
        yield notes
    finally:
        _watched.reset(token)


def note(ratio: Callable[[], float]) -> None:
    """Note an error as a multiple of the allowed one; ``ratio`` is only asked while somebody watches."""
    notes = _watched.get()
    if notes is not None:
        notes.append(ratio())
