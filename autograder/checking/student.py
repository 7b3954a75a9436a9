"""What a check sees of the student: functions to call, and the ways in which a call can end.

Two things implement ``Student``: the examination over a socket (``sandbox``), by which submissions
are judged, and ``LocalStudent`` (``checking.local``), in this process, for code that is trusted anyway.
A check cannot tell them apart.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from autograder.model import Verdict

#: Kinds of an answer that is not plain data; ``Remote.kind`` is always one of them.
REMOTE_KINDS = frozenset(
    {"dict", "list", "array_subclass", "object_array", "dtype", "function", "class", "object"}
)


class StudentFailure(Exception):
    """A call into the student's code did not bring back an answer."""

    verdict = Verdict.CRASHED


@dataclass
class StudentRaised(StudentFailure):
    """The student's code raised.

    ``exception`` is the name of the nearest built-in class (from a fixed list), ``line`` the line in the
    student's own cell, ``cell`` that cell's index in the notebook; both are None where unknown.
    """

    exception: str
    cell: int | None = None
    line: int | None = None
    verdict = Verdict.RAISED


class StudentTimedOut(StudentFailure):
    """A call, or all calls of an exercise together, used up its time."""

    verdict = Verdict.TIMED_OUT


class StudentMemoryExceeded(StudentFailure):
    """A call needed more memory than allowed."""

    verdict = Verdict.MEMORY_EXCEEDED


class StudentCrashed(StudentFailure):
    """The interpreter went away during a call."""

    verdict = Verdict.CRASHED


class StudentMissing(StudentFailure):
    """The notebook defines no such function."""

    verdict = Verdict.MISSING


class StudentMalformed(StudentFailure):
    """What came back was not an answer: too large, or not in the wire format."""

    verdict = Verdict.MALFORMED_ANSWER


class Remote(Protocol):
    """An answer that stays where it is: only what is asked for is copied."""

    @property
    def kind(self) -> str:
        """One of ``REMOTE_KINDS``."""

    def __getitem__(self, key: str | int) -> Any:
        """Copy one item; raises KeyError where there is none."""

    def fetch(self) -> Any:
        """Copy the whole, nested dicts, lists and tuples included; what is no data stays Remote."""


class Answer(Protocol):
    """What one call returned."""

    @property
    def value(self) -> Any:
        """The answer as it was when the call returned.

        A plain ndarray, None, bool, int, float, str or a tuple of such; anything else is a ``Remote``.
        """

    def reread(self) -> Any:
        """The same objects as they are now: differs from ``value`` if later calls changed them."""


class Sent(Protocol):
    """An argument that was handed over and can be looked at again."""

    def reread(self) -> Any:
        """The argument as it is now, on the student's side."""


class Student(Protocol):
    """The student's functions at the place of the test cell."""

    def call(self, function: str, /, *args: Any, **kwargs: Any) -> Answer:
        """Call a function by name with plain data, ``Sent`` or ``Remote`` arguments.

        Raises a ``StudentFailure`` where no answer comes back.
        """

    def send(self, value: Any) -> Sent:
        """Hand over an argument once, to be used in calls and looked at afterwards."""


def function(student: Student, name: str) -> Callable[..., Any]:
    """The student's function as a plain callable that returns the answer's value."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return student.call(name, *args, **kwargs).value

    call.__name__ = name
    return call
