"""The student's functions in this very process: for code that is trusted anyway.

That is the reference, known mistakes and right variants, and, under plain nbgrader, the kernel in which the
notebook ran. Answers look exactly as they do over a socket (``sandbox``): plain data is copied when the call
returns, everything else stays behind a ``Remote``.
"""

import ast
import contextlib
import io
import sys
import warnings
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from types import CodeType
from typing import Any

import numpy as np

from autograder.checking.cpu_limit import CpuTimeExceeded, cpu_limit
from autograder.checking.student import (
    BUILTIN_EXCEPTIONS,
    PLAIN_DTYPES,
    StudentMalformed,
    StudentMemoryExceeded,
    StudentMissing,
    StudentRaised,
    StudentTimedOut,
)
from autograder.model import Limits

#: How many levels of dicts and lists ``fetch`` copies, and how many values in all.
FETCH_DEPTH = 8
FETCH_VALUES = 10_000
#: Longer tuples and texts, and larger integers, stay remote.
TUPLE_LIMIT = 100
TEXT_LIMIT = 1000
INT_LIMIT = 1 << 63


class LocalStudent:
    """A ``Student`` whose functions are looked up in ``namespace`` at every call.

    ``call_seconds`` limits the CPU time of each call. What the code prints or warns of is thrown away: under
    plain nbgrader it would show hidden inputs, and a warning would cost the points.
    """

    def __init__(self, namespace: Mapping[str, object], *, call_seconds: float | None = None):
        self._namespace = namespace
        self._call_seconds = call_seconds

    def call(self, function: str, /, *args: Any, **kwargs: Any) -> "LocalAnswer":
        """Call a function by name; raises a ``StudentFailure`` where no answer comes back."""
        first, _, rest = function.partition(".")
        return self.apply(self._named(first), rest, args, kwargs)

    def send(self, value: Any) -> "LocalSent":
        """Hand over an argument once, to be used in calls and looked at afterwards."""
        return LocalSent(self, _hand_over(value))

    def install(self, name: str, source: str, *, keep: Sequence[str] = ()) -> None:
        """Put a function or class of ours into the namespace: give it one that nobody needs afterwards.

        A method goes into a subclass of the class that stands there, which others may have, too.
        """
        if not isinstance(self._namespace, MutableMapping):
            raise TypeError("nothing can be installed in a namespace that cannot be changed")
        own: dict[str, Any] = {"np": np, "__name__": "__main__"}
        exec(self._importing(source, own), own)  # noqa: S102 (text of the reference's own)
        owner, _, method = name.rpartition(".")
        if owner:
            before: Any = self._named(owner)
            self._namespace[owner] = type(before)(owner, (before,), {method: own[method]})
            return
        standing = self._namespace.get(name)
        for attribute in keep:
            if hasattr(standing, attribute):
                setattr(own[name], attribute, getattr(standing, attribute))
        self._namespace[name] = own[name]

    def apply(self, held: Any, path: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> "LocalAnswer":
        """Call an object, or what the attribute ``path`` of it holds."""
        positional = [_hand_over(one) for one in args]
        named = {name: _hand_over(one) for name, one in kwargs.items()}
        with self.guarded():
            return LocalAnswer(self, look_up(held, path)(*positional, **named))

    def _importing(self, source: str, own: dict[str, Any]) -> CodeType:
        """Code without the imports of what the namespace has imported: ``own`` gets that.

        Given files cannot be imported in this process, and what they define must not be there twice.
        """
        module = ast.parse(source)
        imports = [one for one in module.body if isinstance(one, ast.Import | ast.ImportFrom)]
        for statement in imports:
            names = [one.asname or one.name.partition(".")[0] for one in statement.names]
            if all(name in self._namespace for name in names):
                own |= {name: self._namespace[name] for name in names}
                module.body.remove(statement)
        return compile(module, "<installed>", "exec")

    def _named(self, name: str) -> Any:
        if name not in self._namespace:
            raise StudentMissing
        return self._namespace[name]

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn every way to fail, but an interruption from outside, into a ``StudentFailure``."""
        try:
            with warnings.catch_warnings(), _silence(), cpu_limit(self._call_seconds):
                warnings.simplefilter("ignore")
                yield
        except CpuTimeExceeded as error:
            raise StudentTimedOut from error
        except MemoryError as error:
            raise StudentMemoryExceeded from error
        except StudentMalformed:
            raise
        except (Exception, SystemExit, GeneratorExit) as error:
            raise StudentRaised(_nearest_builtin(error), line=self._line(error)) from error

    def _line(self, error: BaseException) -> int | None:
        """The last line that belongs to the namespace's own code."""
        line, trace = None, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_globals is self._namespace:
                line = trace.tb_lineno
            trace = trace.tb_next
        return line


class LocalAnswer:
    """What one call returned (``checking.student.Answer``)."""

    def __init__(self, student: LocalStudent, result: Any):
        self._student = student
        self._result = result
        self.value: Any = _copy(result, _Allowance(student))

    def reread(self) -> Any:
        """The same objects as they are now."""
        with self._student.guarded():
            return _copy(self._result, _Allowance(self._student))


class LocalSent:
    """An argument that the student's functions got (``checking.student.Sent``)."""

    def __init__(self, student: LocalStudent, held: Any):
        self._student = student
        self.held = held

    def reread(self) -> Any:
        """The argument as it is now."""
        with self._student.guarded():
            return _copy(self.held, _Allowance(self._student), FETCH_DEPTH)


class LocalRemote:
    """An object that checks see through a window only (``checking.student.Remote``).

    What looks through it is guarded as calls of ``student`` are.
    """

    def __init__(self, student: LocalStudent, held: Any):
        self._student = student
        self.held = held

    @property
    def kind(self) -> str:
        """One of ``REMOTE_KINDS``."""
        return _kind(self.held)

    def __getitem__(self, key: str | int) -> Any:
        try:
            with self._student.guarded():
                return _copy(self.held[key], _Allowance(self._student))
        except StudentRaised as error:
            raise KeyError(key) from error

    def __setitem__(self, key: str | int, value: Any) -> None:
        given = _hand_over(value)
        with self._student.guarded():
            self.held[key] = given

    def fetch(self) -> Any:
        """A copy of the whole, dicts, lists and tuples included."""
        with self._student.guarded():
            return _copy(self.held, _Allowance(self._student), FETCH_DEPTH)

    def call(self, *args: Any, **kwargs: Any) -> LocalAnswer:
        """Call the object itself."""
        return self._student.apply(self.held, "", args, kwargs)

    def method(self, name: str, /, *args: Any, **kwargs: Any) -> LocalAnswer:
        """Call a method of the object."""
        return self._student.apply(self.held, name, args, kwargs)

    def attribute(self, name: str) -> Any:
        """An attribute of the object, or, dotted, of what that one holds."""
        with self._student.guarded():
            return _copy(look_up(self.held, name), _Allowance(self._student))

    def set_attribute(self, name: str, value: Any) -> None:
        """Put an argument in the place of an attribute."""
        given = _hand_over(value)
        owner, _, last = name.rpartition(".")
        with self._student.guarded():
            setattr(look_up(self.held, owner), last, given)


class _Allowance:
    """How much one answer of ``student`` may still copy; raises ``StudentMalformed`` where it is too much."""

    def __init__(self, student: LocalStudent) -> None:
        self.student = student
        self._values = FETCH_VALUES
        self._bytes = Limits().answer_bytes

    def take(self, size: int = 0) -> None:
        self._values -= 1
        self._bytes -= size
        if self._values < 0 or self._bytes < 0:
            raise StudentMalformed("the answer is too large")


def _hand_over(value: Any) -> Any:
    """An argument as the function gets it: a copy of its own, or the very object held back before."""
    if isinstance(value, LocalSent | LocalRemote):
        return value.held
    if type(value) is np.ndarray:
        return _copy_array(value)
    if isinstance(value, tuple | list):
        return type(value)(_hand_over(one) for one in value)
    if isinstance(value, dict):
        return {key: _hand_over(one) for key, one in value.items()}
    if value is None or isinstance(value, bool | int | float | str | np.generic):
        return value
    raise TypeError(f"{type(value).__name__} cannot be sent to a student's function")


def _copy(value: Any, allowance: _Allowance, depth: int = 0) -> Any:
    """An answer as a check sees it; ``depth`` says how many levels of dicts and lists are copied."""
    allowance.take()
    if _is_scalar(value):
        return value
    if type(value) is np.ndarray and value.dtype.name in PLAIN_DTYPES:
        allowance.take(value.nbytes)
        return _copy_array(value)
    if issubclass(type(value), tuple) and tuple.__len__(value) <= TUPLE_LIMIT:
        return tuple(_copy(one, allowance, depth) for one in tuple.__iter__(value))
    if depth > 0 and isinstance(value, dict):
        items = ((key, one) for key, one in dict.items(value) if type(key) in (int, str))
        return {key: _copy(one, allowance, depth - 1) for key, one in items}
    if depth > 0 and type(value) is list:
        return [_copy(one, allowance, depth - 1) for one in value]
    return LocalRemote(allowance.student, value)


def look_up(held: Any, path: str) -> Any:
    """What an attribute holds; a dotted path goes on from there, an empty one stays."""
    for name in path.split(".") if path else ():
        held = getattr(held, name)
    return held


def _copy_array(array: np.ndarray) -> np.ndarray:
    """A copy in the machine's byte order that lies in memory as the original does: C, Fortran or strided."""
    dtype = array.dtype.newbyteorder("=")
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return np.array(array, dtype, order="C" if array.flags.c_contiguous else "F")
    apart = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), dtype)[..., ::2]
    apart[...] = array
    return apart


def _is_scalar(value: Any) -> bool:
    if isinstance(value, np.generic):
        return np.asarray(value).dtype.name in PLAIN_DTYPES
    if type(value) is int:
        return -INT_LIMIT <= value < INT_LIMIT
    if type(value) is str:
        return len(value) <= TEXT_LIMIT and value.isprintable()
    return value is None or type(value) in (bool, float)


def _kind(value: Any) -> str:
    if type(value) is np.ndarray:
        return "object_array" if value.dtype.hasobject else "dtype"
    if isinstance(value, np.ndarray):
        return "array_subclass"
    for kind, one in (("dict", dict), ("list", list), ("class", type)):
        if isinstance(value, one):
            return kind
    return "function" if callable(value) else "object"


def _nearest_builtin(error: BaseException) -> str:
    names = (one.__name__ for one in type(error).__mro__)
    return next((name for name in names if name in BUILTIN_EXCEPTIONS), "Exception")


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    before = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = _NOWHERE
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class _Nowhere(io.TextIOBase):
    """Takes any text and keeps none."""

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, text: str) -> int:
        """Forget it."""
        return len(text)


_NOWHERE = _Nowhere()
