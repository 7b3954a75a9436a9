"""What is kept of an outcome for longer: nothing that keeps a student, or what was sent there, alive."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from autograder.checking.framework import Comparison
from autograder.checking.recording import Event
from autograder.checking.runner import Outcome
from autograder.checking.student import Remote, StudentFailure

#: About what Python itself needs for an outcome, an event, and a value in it, in bytes.
OUTCOME_BYTES, EVENT_BYTES, VALUE_BYTES = 1000, 400, 150


class GoneRemote:
    """A remote object of a student who is gone: only its kind is known any more."""

    def __init__(self, kind: str):
        self.kind = kind

    def __getitem__(self, key: str | int) -> NoReturn:
        raise LookupError("this object is gone")

    def __setitem__(self, key: str | int, value: Any) -> NoReturn:
        raise LookupError("this object is gone")

    def fetch(self) -> NoReturn:
        """There is nothing left to copy; raises LookupError."""
        raise LookupError("this object is gone")

    def call(self, *args: Any, **kwargs: Any) -> NoReturn:
        """There is nothing left to call; raises LookupError."""
        raise LookupError("this object is gone")

    def method(self, name: str, /, *args: Any, **kwargs: Any) -> NoReturn:
        """There is nothing left to call; raises LookupError."""
        raise LookupError("this object is gone")

    def attribute(self, name: str) -> NoReturn:
        """There is nothing left to look at; raises LookupError."""
        raise LookupError("this object is gone")

    def set_attribute(self, name: str, value: Any) -> NoReturn:
        """There is nothing left to change; raises LookupError."""
        raise LookupError("this object is gone")


def slim(outcome: Outcome) -> Outcome:
    """An outcome without its inputs, which the student's own record has as well, and without the student."""
    events = tuple(_slim_event(one) for one in outcome.events)
    return replace(outcome, events=events, detail=None, comparison=_slim_comparison(outcome.comparison))


def size_of(outcome: Outcome) -> int:
    """About how much memory a slim outcome takes, in bytes."""
    return OUTCOME_BYTES + sum(
        EVENT_BYTES + _bytes(one.outcome) + _bytes(one.before) for one in outcome.events
    )


def _slim_event(event: Event) -> Event:
    return replace(
        event, args=(), kwargs={}, outcome=_slim_value(event.outcome), before=_slim_value(event.before)
    )


def _slim_value(value: Any) -> Any:
    if isinstance(value, Remote):
        return GoneRemote(value.kind)
    if isinstance(value, StudentFailure | KeyError):  # a traceback keeps all that was at hand
        value.__cause__ = value.__context__ = None
        return value.with_traceback(None)
    if isinstance(value, np.ndarray):
        return value if value.base is None else value.copy()  # a view keeps the whole
    if isinstance(value, tuple | list):
        return type(value)(map(_slim_value, value))
    if isinstance(value, dict):
        return {key: _slim_value(one) for key, one in value.items()}
    return value


def _slim_comparison(comparison: Comparison | None) -> Comparison | None:
    """Of a comparison only that there was one counts here."""
    nothing = np.empty(0)
    return None if comparison is None else replace(comparison, got=nothing, want=nothing)


def _bytes(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return VALUE_BYTES + value.nbytes
    if isinstance(value, Mapping):
        return VALUE_BYTES + sum(map(_bytes, value.values()))
    if isinstance(value, tuple | list):
        return VALUE_BYTES + sum(map(_bytes, value))
    return VALUE_BYTES
