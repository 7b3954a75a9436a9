"""Writes down what a check asks of a student, and what comes back.

Checks draw the same inputs from the same seed. So the events of two students, in one check, belong to
each other as long as both answer alike: the first difference in a record is a difference in an answer.
Nothing is asked that the check does not ask itself.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np

from autograder.checking.student import Answer, Remote, Sent, Student, StudentFailure

#: What one record keeps of arrays, in all. Of what goes beyond, only the dtype and the shape are kept: a
#: student's answers must not fill the memory of the judge.
KEPT_BYTES = 16 * 2**20


#: The maker of what was handed over.
SENT = "an argument"


class Asked(StrEnum):
    """What was asked for."""

    SEND = "send"
    CALL = "call"
    REREAD = "reread"
    ITEM = "item"
    FETCH = "fetch"
    SET = "set"
    INSTALL = "install"
    CALL_OBJECT = "call_object"
    METHOD = "method"
    ATTRIBUTE = "attribute"
    SET_ATTRIBUTE = "set_attribute"


@dataclass(frozen=True)
class Omitted:
    """In place of an array that was too large to keep."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Event:
    """One request, and how it ended.

    ``name`` is the function that was called, the key of an item, or the name of an attribute or method; of
    an object that was called, what made it. ``outcome`` is the value that came back, or the
    ``StudentFailure`` or ``KeyError`` in its place. ``before`` is what the same object was when it was
    looked at last, where it was. ``of`` is the ``key`` of what was looked at, or of what a call or ``send``
    gave: by it, events that concern one object are found. ``on`` is the ``key`` of the object that was
    called, or whose method or attribute was asked for, ``maker`` what made that object.
    """

    asked: Asked
    name: str | int | None = None
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    outcome: Any = None
    before: Any = None
    of: int | None = field(default=None, compare=False)
    on: int | None = field(default=None, compare=False)
    maker: str | None = field(default=None, compare=False)


class Recording:
    """A ``Student`` that passes everything on to another one and keeps the ``events``."""

    def __init__(self, student: Student):
        self._student = student
        self._room = KEPT_BYTES
        self._keys = itertools.count(1)
        self.events: list[Event] = []

    @property
    def function(self) -> str | None:
        """What was called or asked last, to be named when a request fails.

        A function or class by its name; an object by what made it, its methods and attributes behind a dot.
        """
        return None if (last := self._last_asked()) is None else _asked_for(last)

    @property
    def is_object_called(self) -> bool:
        """Whether what was asked last is an object that was called itself, as layers and modules are."""
        return (last := self._last_asked()) is not None and last.asked is Asked.CALL_OBJECT

    def _last_asked(self) -> Event | None:
        return next((one for one in reversed(self.events) if _asked_for(one) is not None), None)

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
        return self.answered(answer, function, asked)

    def answered(self, answer: Answer, maker: str, asked: Mapping[str, Any]) -> "RecordedAnswer":
        """Write down what was asked and answered; the answer, whose objects have this maker, watched."""
        value = self.watched(answer.value, maker)
        recorded = RecordedAnswer(self, answer, value, maker)
        self.note(of=recorded.key, outcome=value, **asked)
        return recorded

    def send(self, value: Any) -> Sent:
        """Hand over an argument."""
        sent = self._student.send(_inside(value))
        recorded = RecordedSent(self, sent, value)
        self.note(asked=Asked.SEND, of=recorded.key, args=(value,))
        return recorded

    def install(self, name: str, source: str, *, keep: Sequence[str] = ()) -> None:
        """Put a function of ours in the place of the student's."""
        self._student.install(name, source, keep=keep)
        self.note(asked=Asked.INSTALL, name=name)

    def new_key(self) -> int:
        """A number that no other object of this record has."""
        return next(self._keys)

    def note(self, **event: Any) -> None:
        """Write down one event."""
        self.events.append(Event(**{key: self._kept(value) for key, value in event.items()}))

    def watched(self, value: Any, maker: str) -> Any:
        """A value whose remote objects write down what they are asked; ``maker`` is what brought it about."""
        if isinstance(value, np.ndarray | RecordedRemote):
            return value
        if isinstance(value, Remote):
            return RecordedRemote(self, value, maker)
        if isinstance(value, tuple | list):
            return type(value)(self.watched(one, maker) for one in value)
        if isinstance(value, dict):
            return {key: self.watched(one, maker) for key, one in value.items()}
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

    def __init__(self, recording: Recording, answer: Answer, value: Any, maker: str):
        self._recording = recording
        self.key = recording.new_key()
        self._answer = answer
        self._maker = maker
        self.value: Any = value

    def reread(self) -> Any:
        """The same objects as they are now."""
        now = self._recording.watched(self._answer.reread(), self._maker)
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
        now = self._recording.watched(self.inside.reread(), SENT)
        self._recording.note(asked=Asked.REREAD, of=self.key, outcome=now, before=self.value)
        return now


class RecordedRemote:
    """An object that stayed on the student's side (``student.Remote``), made by ``maker``."""

    def __init__(self, recording: Recording, remote: Remote, maker: str):
        self._recording = recording
        self.maker = maker
        self.key = recording.new_key()
        self.inside = remote
        self._last: Any = None

    @property
    def kind(self) -> str:
        """One of ``REMOTE_KINDS``."""
        return self.inside.kind

    def __getitem__(self, key: str | int) -> Any:
        try:
            item = self._recording.watched(self.inside[key], self.maker)
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
        now = self._recording.watched(self.inside.fetch(), self.maker)
        self._recording.note(asked=Asked.FETCH, of=self.key, outcome=now, before=self._last)
        self._last = now
        return now

    def call(self, *args: Any, **kwargs: Any) -> RecordedAnswer:
        """Call the object itself."""
        asked = self._asked(Asked.CALL_OBJECT, self.maker, args, kwargs)
        return self._answer(asked, self.inside.call)

    def method(self, name: str, /, *args: Any, **kwargs: Any) -> RecordedAnswer:
        """Call a method of the object."""
        asked = self._asked(Asked.METHOD, name, args, kwargs)
        return self._answer(asked, partial(self.inside.method, name))

    def attribute(self, name: str) -> Any:
        """An attribute of the object."""
        asked = self._asked(Asked.ATTRIBUTE, name)
        try:
            value = self._recording.watched(self.inside.attribute(name), self.maker)
        except StudentFailure as failure:
            self._recording.note(outcome=failure, **asked)
            raise
        self._recording.note(outcome=value, **asked)
        return value

    def set_attribute(self, name: str, value: Any) -> None:
        """Put an argument in the place of an attribute."""
        asked = self._asked(Asked.SET_ATTRIBUTE, name, (value,))
        try:
            self.inside.set_attribute(name, _inside(value))
        except StudentFailure as failure:
            self._recording.note(outcome=failure, **asked)
            raise
        self._recording.note(**asked)

    def _asked(
        self, what: Asked, name: str, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        known = {"asked": what, "name": name, "on": self.key, "maker": self.maker}
        return {**known, "args": args, "kwargs": kwargs or {}}

    def _answer(self, asked: dict[str, Any], call: Callable[..., Answer]) -> RecordedAnswer:
        args = [_inside(one) for one in asked["args"]]
        kwargs = {name: _inside(one) for name, one in asked["kwargs"].items()}
        try:
            answer = call(*args, **kwargs)
        except StudentFailure as failure:
            self._recording.note(outcome=failure, **asked)
            raise
        return self._recording.answered(answer, self.maker, asked)


def _asked_for(event: Event) -> str | None:
    """What a request was addressed to, in words of the notebook."""
    match event.asked:
        case Asked.CALL | Asked.CALL_OBJECT:
            return str(event.name)
        case Asked.METHOD | Asked.ATTRIBUTE | Asked.SET_ATTRIBUTE:
            return f"{event.maker}.{event.name}"
    return None


def _inside(value: Any) -> Any:
    """An argument as the recorded student knows it."""
    if isinstance(value, RecordedSent | RecordedRemote):
        return value.inside
    if isinstance(value, tuple | list):
        return type(value)(_inside(one) for one in value)
    if isinstance(value, dict):
        return {key: _inside(one) for key, one in value.items()}
    return value
