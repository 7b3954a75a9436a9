"""What a check sees of the student: functions to call, and the ways in which a call can end.

Two things implement ``Student``: the examination over a socket (``sandbox``), by which submissions
are judged, and ``LocalStudent`` (``checking.local``), in this process, for code that is trusted anyway.
A check cannot tell them apart.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from autograder.model import Verdict

#: Kinds of an answer that is not plain data; ``Remote.kind`` is always one of them.
REMOTE_KINDS = frozenset(
    {"dict", "list", "array_subclass", "object_array", "dtype", "function", "class", "object"}
)

#: Names of the NumPy dtypes that cross; an array of any other is a ``Remote`` of kind "dtype".
PLAIN_DTYPES = frozenset(
    {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
    | {"float32", "float64", "complex64", "complex128"}
)

_is_remote: dict[type, bool] = {}

_EXCEPTIONS = """
ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError
BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError
ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError EncodingWarning Exception
ExceptionGroup FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit
ImportError ImportWarning IndentationError IndexError InterruptedError IsADirectoryError KeyError
KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError NotADirectoryError
NotImplementedError OSError OverflowError PendingDeprecationWarning PermissionError ProcessLookupError
RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration
StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError TypeError
UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError
UnicodeWarning UserWarning ValueError Warning ZeroDivisionError
"""
#: The only names by which ``StudentRaised.exception`` may call an exception: no text of the student's own.
BUILTIN_EXCEPTIONS = frozenset(_EXCEPTIONS.split())


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
    """A call, or all calls of an exercise together, used up its time.

    ``by_clock`` if it was wall time that ran out: on a busy machine that proves nothing yet.
    """

    verdict = Verdict.TIMED_OUT

    def __init__(self, message: str = "", *, by_clock: bool = False):
        super().__init__(message)
        self.by_clock = by_clock


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


class _ByType(type(Protocol)):  # type: ignore[misc]
    """Looks for the members of a protocol once in each class: too slow for a question about every answer."""

    def __instancecheck__(cls, instance: Any) -> bool:
        kind = type(instance)
        if kind not in _is_remote:
            _is_remote[kind] = super().__instancecheck__(instance)
        return _is_remote[kind]


@runtime_checkable
class Remote(Protocol, metaclass=_ByType):
    """An answer that stays where it is: only what is asked for is copied."""

    @property
    def kind(self) -> str:
        """One of ``REMOTE_KINDS``."""

    def __getitem__(self, key: str | int) -> Any:
        """Copy one item; raises KeyError where there is none."""

    def __setitem__(self, key: str | int, value: Any) -> None:
        """Put plain data in the place of one item; raises ``StudentRaised`` where the object takes none."""

    def fetch(self) -> Any:
        """Copy the whole, nested dicts, lists and tuples included; what is no data stays Remote."""

    def call(self, *args: Any, **kwargs: Any) -> "Answer":
        """Call the object; raises a ``StudentFailure`` where no answer comes back."""

    def method(self, name: str, /, *args: Any, **kwargs: Any) -> "Answer":
        """Call what an attribute holds, in one request."""

    def attribute(self, name: str) -> Any:
        """The value of an attribute, as an answer's is: an array is a copy, most else a ``Remote``.

        A dotted name, ``query.weight.data``, goes from one object to the next. Raises a ``StudentFailure``
        where there is none, or the student's code breaks down over it.
        """

    def set_attribute(self, name: str, value: Any) -> None:
        """Put an argument, as ``call`` takes it, in the place of an attribute; the name may be dotted."""


class Answer(Protocol):
    """What one call returned."""

    @property
    def value(self) -> Any:
        """The answer as it was when the call returned.

        None, a bool, int, float or str, a NumPy scalar or exact ndarray of one of ``PLAIN_DTYPES``, or a
        tuple of such, as which a named tuple comes, too; anything else, a subclass of the others, is a
        ``Remote``.
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
        """Call a function, or make an object of a class, with plain data, ``Sent`` or ``Remote`` arguments.

        A dotted name, ``np.random.default_rng``, begins with a name of the notebook. Raises a
        ``StudentFailure`` where no answer comes back.
        """

    def send(self, value: Any) -> Sent:
        """Hand over an argument once, to be used in calls and looked at afterwards."""

    def install(self, name: str, source: str, *, keep: Sequence[str] = ()) -> None:
        """Put a function or class of ours in the place of the student's of that name.

        ``source`` defines it; of what it does not define it uses builtins and ``np`` alone. A dotted name,
        ``MultiHeadAttention.forward``, puts a method on the student's class. A class that is put in the place
        of the student's takes over the attributes ``keep`` of that one, as far as they are there. The only
        request by which an answer enters a student's process: ``checking.follow_through`` says when that may
        be. Raises ``StudentMissing`` where there is no class on which to put a method.
        """


def function(student: Student, name: str) -> Callable[..., Any]:
    """The student's function as a plain callable that returns the answer's value."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return student.call(name, *args, **kwargs).value

    call.__name__ = name
    return call
