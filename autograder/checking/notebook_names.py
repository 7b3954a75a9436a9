"""What stands for the names and objects of a student's notebook in a visible check.

Visible checks are written for the notebook in which they run: they call functions, make objects of classes,
ask for attributes and set them. The judge runs the same lines with stand-ins, and each of these steps is a
request to the student's side.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from autograder.checking.student import Answer, Remote, Student, StudentRaised


class Name:
    """A name of the notebook: called, or followed to a dotted one, such as ``np.random.default_rng``.

    What it stands for is looked up when it is called, not before.
    """

    def __init__(self, student: Student, name: str):
        self._student, self._name = student, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the student's function returns, or an object of the class."""
        return _called(partial(self._student.call, self._name), args, kwargs)

    def __getattr__(self, name: str) -> "Name":
        _refuse_special(name)
        return Name(self._student, f"{self._name}.{name}")


class Dict:
    """A dict of the student's, copied whole at the first look: one exchange instead of one an item."""

    kind = "dict"

    def __init__(self, remote: Remote):
        self.remote = remote
        self._items: dict[str | int, Any] | None = None

    def __getitem__(self, key: str | int) -> Any:
        if self._items is None:
            whole = self.remote.fetch()
            self._items = whole if isinstance(whole, dict) else {}
        return self._items[key]


class Object:
    """An object of the student's, a layer or a tensor: called, looked up, its attributes read and set.

    What an attribute holds is called as a method of the object to which it belongs: an error is told as that
    method's. Raises AttributeError where an attribute is missing, KeyError where an item is, and a
    ``StudentFailure`` where the student's code breaks down.
    """

    __slots__ = ("_call", "remote")
    remote: Remote
    _call: Callable[..., Answer]

    def __init__(self, remote: Remote, call: Callable[..., Answer] | None = None):
        object.__setattr__(self, "remote", remote)
        object.__setattr__(self, "_call", call or remote.call)

    @property
    def kind(self) -> str:
        """What it is, for a sentence."""
        return self.remote.kind

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the object answers."""
        return _called(self._call, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        _refuse_special(name)
        with _missing_as_python_says_it(name):
            value = seen(self.remote.attribute(name))
        if isinstance(value, Object):
            return Object(value.remote, partial(self.remote.method, name))
        return value

    def __getitem__(self, key: str | int) -> Any:
        return seen(self.remote[key])

    def __setattr__(self, name: str, value: Any) -> None:
        with _missing_as_python_says_it(name):
            self.remote.set_attribute(name, _held(value))


#: How an answer is seen that stays on the student's side, by its kind; of other kinds it is seen as it is.
_SEEN_AS: dict[str, Callable[[Remote], Any]] = {
    "dict": Dict,
    "object": Object,
    "function": Object,
    "class": Object,
}


def seen(value: Any) -> Any:
    """An answer as a visible check sees it."""
    if isinstance(value, tuple):
        return tuple(map(seen, value))
    if isinstance(value, Remote) and value.kind in _SEEN_AS:
        return _SEEN_AS[value.kind](value)
    return value


def _called(call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return seen(call(*map(_held, args), **{name: _held(one) for name, one in kwargs.items()}).value)


def _held(argument: Any) -> Any:
    """An argument as the student's side takes it."""
    if isinstance(argument, tuple):  # an answer, handed on
        return tuple(map(_held, argument))
    return argument.remote if isinstance(argument, Dict | Object) else argument


@contextmanager
def _missing_as_python_says_it(name: str) -> Iterator[None]:
    """The student's AttributeError is one here, too."""
    try:
        yield
    except StudentRaised as error:
        if error.exception == "AttributeError":
            raise AttributeError(name) from error
        raise


def _refuse_special(name: str) -> None:
    """What Python itself asks of an object is asked of the stand-in."""
    if name.startswith("__"):
        raise AttributeError(name)
