"""Judging an exercise by its own code, where what it builds on is wrong: right answers enter a fork.

Two things may enter. A right helper takes the place of the student's own, as source text; and the keys of a
right cache are laid over those of the student's cache. Both are answers to other exercises. They are safe
under three rules, which ``usecases.assessing`` keeps:

- they go only into a fork that answers one exercise more and is then killed;
- they go there after every exercise that they could answer has its final verdict, so that whatever the
  student's code does with them, such as to print them or to leave them in a file, comes too late;
- no two forks are given the same inputs: nothing seen in one of them answers a question in another.

And nothing that a fork can write to outlives its run, or other students' code would find it there: that is
the sandbox's part.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NoReturn

from autograder.checking.student import Answer, Remote, Sent, Student, StudentFailure, StudentRaised


class RightCache:
    """A ``Student`` whose function ``forward`` returns right results, and a cache that is right in ``keys``.

    The cache is the last of the results. The right keys are laid over the student's own cache, which may hold
    more of them, or, if ``whole`` or where there is none, stand alone. What lies inside a right item that is
    a dict is the student's own affair: such an item is laid only over a dict with the same keys.
    """

    def __init__(
        self,
        student: Student,
        reference: ModuleType,
        forward: str,
        keys: Sequence[str],
        *,
        whole: bool = False,
    ):
        self._student = student
        self._reference = reference
        self._forward = forward
        self._keys = keys
        self._whole = whole
        #: Whether something of the student's own, made by a wrong function, stayed in a cache.
        self.mixed = False

    def call(self, function: str, /, *args: Any, **kwargs: Any) -> Answer:
        """Call a function by name."""
        own_args = [_inside(one) for one in args]
        own_kwargs = {name: _inside(one) for name, one in kwargs.items()}
        if function != self._forward:
            return self._student.call(function, *own_args, **own_kwargs)
        values = [_value(one) for one in args]
        *results, cache = getattr(self._reference, function)(
            *values, **{name: _value(one) for name, one in kwargs.items()}
        )
        right = {key: cache[key] for key in self._keys}
        own = None if self._whole else self._own_cache(function, own_args, own_kwargs)
        if own is None or not self._lay(right, own):
            own = _Handed(self._student.send(right), right)
        return _Results((*results, own))

    def send(self, value: Any) -> Sent:
        """Hand over an argument."""
        return _Handed(self._student.send(_inside(value)), _value(value))

    def install(self, name: str, source: str, *, keep: Sequence[str] = ()) -> None:
        """Put a function of ours in the place of the student's."""
        self._student.install(name, source, keep=keep)

    def _own_cache(self, function: str, args: list[Any], kwargs: dict[str, Any]) -> Remote | None:
        try:
            value = self._student.call(function, *args, **kwargs).value
        except StudentFailure:
            return None
        own = value[-1] if isinstance(value, tuple) and value else None
        return own if isinstance(own, Remote) and own.kind in ("dict", "object") else None

    def _lay(self, right: dict[str, Any], own: Remote) -> bool:
        """Lay right items over a student's cache; says whether it takes them."""
        try:
            before = own.fetch() if own.kind == "dict" else None
            for key, item in right.items():
                if not isinstance(item, dict) or _alike(item, before, key):
                    own[key] = item
                else:
                    self.mixed = True
        except StudentFailure:
            return False
        return True


class _Results:
    """What the function with right results returned (``student.Answer``)."""

    def __init__(self, value: tuple[Any, ...]):
        self.value: Any = value

    def reread(self) -> Any:
        """The same results: nobody else has them."""
        return self.value


class _Handed:
    """A dict or another argument of ours on the student's side: ``Sent``, and ``Remote`` like an answer."""

    kind = "dict"

    def __init__(self, sent: Sent, value: Any):
        self.inside = sent
        self.value = value

    def reread(self) -> Any:
        """The argument as it is now."""
        return self.inside.reread()

    def fetch(self) -> Any:
        """A copy of the whole."""
        return self.inside.reread()

    def __getitem__(self, key: str | int) -> Any:
        return self.inside.reread()[key]

    def __setitem__(self, key: str | int, value: Any) -> None:
        raise TypeError("a right cache is not changed any more")

    def call(self, *args: Any, **kwargs: Any) -> NoReturn:
        """A dict cannot be called; raises StudentRaised."""
        raise StudentRaised("TypeError")

    def method(self, name: str, /, *args: Any, **kwargs: Any) -> NoReturn:
        """A dict has no methods that a check would ask for; raises StudentRaised."""
        raise StudentRaised("AttributeError")

    def attribute(self, name: str) -> NoReturn:
        """A dict has no attributes that a check would ask for; raises StudentRaised."""
        raise StudentRaised("AttributeError")

    def set_attribute(self, name: str, value: Any) -> NoReturn:
        """A dict takes no attributes; raises StudentRaised."""
        raise StudentRaised("AttributeError")


def _alike(item: dict[str, Any], before: Any, key: str) -> bool:
    """Whether the student's item is built as the right one is, or missing."""
    if not isinstance(before, dict) or key not in before:
        return isinstance(before, dict)
    return isinstance(before[key], dict) and before[key].keys() == item.keys()


def _inside(value: Any) -> Any:
    return value.inside if isinstance(value, _Handed) else value


def _value(value: Any) -> Any:
    return value.value if isinstance(value, _Handed) else value
