"""Writes down what a check asks of a student, and what comes back.

Checks draw the same inputs from the same seed. So the events of two students, in one check, belong to
each other as long as both answer alike: the first difference in a record is a difference in an answer.
Nothing is asked that the check does not ask itself.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from autograder.checking.student import Answer, Remote, Sent, Student, StudentFailure

#: What one record keeps of arrays, in all. Of what goes beyond, only the dtype and the shape are kept: a
#: student's answers must not fill the memory of the judge.
KEPT_BYTES = 16 * 2**20


class Asked(StrEnum):
    """What was asked for."""

    SEND = "send"
    CALL = "call"
    REREAD = "reread"
    ITEM = "item"
    FETCH = "fetch"
    SET = "set"
    INSTALL = "install"


@dataclass(frozen=True)
class Omitted:
    """In place of an array that was too large to keep."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Event:
    """One request, and how it ended.

    ``name`` is the function that was called, or the key of an item. ``outcome`` is the value that came back,
    or the ``StudentFailure`` or ``KeyError`` in its place. ``before`` is what the same object was when it was
    looked at last, where it was. ``of`` is the ``key`` of what was looked at, or of what a call or ``send``
    gave: by it, events that concern one object are found.
    """

    asked: Asked
    name: str | int | None = None
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    outcome: Any = None
    before: Any = None
    of: int | None = field(default=None, compare=False)


class Recording:
    """A ``Student`` that passes everything on to another one and keeps the ``events``."""

    def __init__(self, student: Student):
        self._student = student
        self._room = KEPT_BYTES
        self._keys = itertools.count(1)
        self.events: list[Event] = []

    @property
    def function(self) -> str | None:
        """The function that was called last: the one to name when a request fails."""
        return next((str(one.name) for one in reversed(self.events) if one.asked is Asked.CALL), None)

    def call(self, function: str, /, *args: Any, **kwargs: Any) -> Answer:
        """Call a function by name."""
        plain = [_inside(one) for one in args]
        named = {name: _inside(one) for name, one in kwargs.items()}
        asked = {"asked": Asked.CALL, "name": function, "args": args, "kwargs": kwargs}
        try:
            answer = self._student.call(function, *plain, **named)
        except StudentFailure as failure:
            self.note(outcome=failure, **asked)
            raise
        value = self.watched(answer.value)
        recorded = RecordedAnswer(self, answer, value)
        self.note(of=recorded.key, outcome=value, **asked)
        return recorded

    def send(self, value: Any) -> Sent:
        """Hand over an argument."""
        sent = self._student.send(_inside(value))
        recorded = RecordedSent(self, sent, value)
        self.note(asked=Asked.SEND, of=recorded.key, args=(value,))
        return recorded

    def install(self, name: str, source: str) -> None:
        """Put a function of ours in the place of the student's."""
        self._student.install(name, source)
        self.note(asked=Asked.INSTALL, name=name)

    def new_key(self) -> int:
        """A number that no other object of this record has."""
        return next(self._keys)

    def note(self, **event: Any) -> None:
        """Write down one event."""
        self.events.append(Event(**{key: self._kept(value) for key, value in event.items()}))

    def watched(self, value: Any) -> Any:
        """A value whose remote objects write down what they are asked."""
        if isinstance(value, np.ndarray | RecordedRemote):
            return value
        if isinstance(value, Remote):
            return RecordedRemote(self, value)
        if isinstance(value, tuple | list):
            return type(value)(self.watched(one) for one in value)
        if isinstance(value, dict):
            return {key: self.watched(one) for key, one in value.items()}
        return value

    def _kept(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            if value.nbytes > self._room:
                return Omitted(value.dtype.name, value.shape)
            self._room -= value.nbytes
            return value
        if isinstance(value, tuple | list):
            return type(value)(self._kept(one) for one in value)
        if isinstance(value, dict):
            return {key: self._kept(one) for key, one in value.items()}
        return value


class RecordedAnswer:
    """What one call returned (``student.Answer``)."""

    def __init__(self, recording: Recording, answer: Answer, value: Any):
        self._recording = recording
        self.key = recording.new_key()
        self._answer = answer
        self.value: Any = value

    def reread(self) -> Any:
        """The same objects as they are now."""
        now = self._recording.watched(self._answer.reread())
        self._recording.note(asked=Asked.REREAD, of=self.key, outcome=now, before=self.value)
        return now


class RecordedSent:
    """An argument on the student's side (``student.Sent``)."""

    def __init__(self, recording: Recording, sent: Sent, value: Any):
        self._recording = recording
        self.key = recording.new_key()
        self.inside = sent
        self.value = value

    def reread(self) -> Any:
        """The argument as it is now."""
        now = self._recording.watched(self.inside.reread())
        self._recording.note(asked=Asked.REREAD, of=self.key, outcome=now, before=self.value)
        return now


class RecordedRemote:
    """An object that stayed on the student's side (``student.Remote``)."""

    def __init__(self, recording: Recording, remote: Remote):
        self._recording = recording
        self.key = recording.new_key()
        self.inside = remote
        self._last: Any = None

    @property
    def kind(self) -> str:
        """One of ``REMOTE_KINDS``."""
        return self.inside.kind

    def __getitem__(self, key: str | int) -> Any:
        try:
            item = self._recording.watched(self.inside[key])
        except (KeyError, StudentFailure) as failure:
            self._recording.note(asked=Asked.ITEM, of=self.key, name=key, outcome=failure)
            raise
        self._recording.note(asked=Asked.ITEM, of=self.key, name=key, outcome=item)
        return item

    def __setitem__(self, key: str | int, value: Any) -> None:
        self.inside[key] = _inside(value)
        self._recording.note(asked=Asked.SET, of=self.key, name=key, args=(value,))

    def fetch(self) -> Any:
        """A copy of the whole."""
        now = self._recording.watched(self.inside.fetch())
        self._recording.note(asked=Asked.FETCH, of=self.key, outcome=now, before=self._last)
        self._last = now
        return now


def _inside(value: Any) -> Any:
    """An argument as the recorded student knows it."""
    if isinstance(value, RecordedSent | RecordedRemote):
        return value.inside
    if isinstance(value, tuple | list):
        return type(value)(_inside(one) for one in value)
    if isinstance(value, dict):
        return {key: _inside(one) for key, one in value.items()}
    return value
