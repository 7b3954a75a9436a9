"""A student who is asked first when a check is half done: does the answer depend on earlier calls?"""

from collections.abc import Sequence
from typing import Any

from autograder.checking.recording import Asked, Event
from autograder.checking.student import Answer, Remote, Sent, Student


class Late:
    """A ``Student`` in whose place ``other`` answers the first calls, ``skipped`` in number."""

    def __init__(self, student: Student, other: Student, skipped: int):
        self._student = student
        self._other = other
        self._left = skipped

    def call(self, function: str, /, *args: Any, **kwargs: Any) -> Answer:
        """Call a function by name."""
        if self._left > 0:
            self._left -= 1
            return self._other.call(function, *args, **kwargs)
        return self._student.call(function, *args, **kwargs)

    def send(self, value: Any) -> Sent:
        """Hand over an argument."""
        return self._student.send(value)

    def install(self, name: str, source: str, *, keep: Sequence[str] = ()) -> None:
        """Put a function of ours in the place of the student's."""
        self._student.install(name, source, keep=keep)


def calls_before_last(events: Sequence[Event]) -> int:
    """How many calls were made before the last one, and before the one whose result that one was given.

    It is 0 where objects were asked: with what one student has made another one cannot go on.
    """
    if any(one.on is not None for one in events):
        return 0
    calls = [one for one in events if one.asked is Asked.CALL]
    if not calls:
        return 0
    given = {id(one) for one in _remotes(calls[-1].args)}
    for number, call in enumerate(calls[:-1]):
        if given & {id(one) for one in _remotes(call.outcome)}:
            return number
    return len(calls) - 1


def _remotes(value: Any) -> list[Remote]:
    if isinstance(value, tuple | list):
        return [remote for one in value for remote in _remotes(one)]
    return [value] if isinstance(value, Remote) else []
