"""A reference that computes each answer once: many candidates are held against the same one.

What is remembered is exactly what the reference answered to exactly these arguments, which are compared in
full; what is given, or answers with, an object that is no plain data is computed anew. Neither arrays nor
dicts that are handed out can be changed, so that nobody can spoil another's answer.
"""

import functools
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

Function = Callable[..., Any]

#: Arrays of up to so many numbers are compared fastest as bytes.
SMALL = 1000


def remembering(reference: ModuleType) -> ModuleType:
    """A module like ``reference`` whose functions remember their answers, as long as it lives."""
    module = ModuleType(reference.__name__, reference.__doc__)
    vars(module).update(
        (name, _remembered(value) if isinstance(value, FunctionType) else value)
        for name, value in vars(reference).items()
    )
    return module


def _remembered(function: Function) -> Function:
    known: dict[Any, list[tuple[tuple[Any, ...], Any]]] = {}

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs or not _is_plain(args):
            return function(*args, **kwargs)
        candidates = known.setdefault(tuple(map(_label, args)), [])
        for seen, answer in candidates:
            if all(map(_equal, args, seen)):
                return answer
        kept = _frozen(args)
        answer = function(*args)
        if not _is_plain(answer):
            return answer
        answer = _frozen(answer)
        candidates.append((kept, answer))
        return answer

    return call


def _is_plain(value: Any) -> bool:
    """Whether a value consists of numbers, texts and arrays of numbers alone."""
    if isinstance(value, np.ndarray):
        return not value.dtype.hasobject
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    return value is None or isinstance(value, bool | int | float | complex | str | np.generic)


class _FrozenDict(dict[Any, Any]):
    """A dict that stays as it is."""

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("an answer of the reference is shared and cannot be changed: copy it")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse


def _label(value: Any) -> Any:
    """Something small and hashable, the same for equal values, to find likely ones by."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.item(0) if value.size else None
    if isinstance(value, dict):
        return tuple(value)
    return type(value)


def _equal(one: Any, other: Any) -> bool:
    """Whether two arguments are the same to the last bit, the order of numbers in memory included."""
    if one is other:  # only what cannot change is kept
        return True
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        if one.flags.c_contiguous != other.flags.c_contiguous:
            return False
        return one.tobytes() == other.tobytes() if one.size <= SMALL else np.array_equal(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(map(_equal, one.values(), other.values()))
    if isinstance(one, tuple | list) and type(one) is type(other):
        return len(one) == len(other) and all(map(_equal, one, other))
    return type(one) is type(other) and bool(one == other)


def _frozen(value: Any) -> Any:
    """The value in arrays and dicts of its own that nobody can change; such as are that already stay."""
    if isinstance(value, np.ndarray):
        if not value.flags.writeable and value.flags.owndata:
            return value
        copy = np.array(value, order="K")
        copy.flags.writeable = False
        return copy
    if isinstance(value, _FrozenDict):
        return value
    if isinstance(value, dict):
        return _FrozenDict((key, _frozen(one)) for key, one in value.items())
    return type(value)(map(_frozen, value)) if type(value) in (tuple, list) else value
