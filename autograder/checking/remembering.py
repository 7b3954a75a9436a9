"""A reference that computes each answer once: many candidates are held against the same one.

What is remembered is exactly what the reference answered to exactly these arguments, which are compared in
full. Arrays that are handed out cannot be written to, so that nobody can spoil another's answer.
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
        if kwargs:
            return function(*args, **kwargs)
        candidates = known.setdefault(tuple(map(_label, args)), [])
        for seen, answer in candidates:
            if all(map(_equal, args, seen)):
                return _handed_out(answer)
        kept = _frozen(args)
        answer = _frozen(function(*args))
        candidates.append((kept, answer))
        return _handed_out(answer)

    return call


def _label(value: Any) -> Any:
    """Something small and hashable, the same for equal values, to find likely ones by."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.item(0) if value.size else None
    if isinstance(value, dict):
        return tuple(value)
    return type(value)


def _equal(one: Any, other: Any) -> bool:
    """Whether two arguments are the same to the last bit, the order of numbers in memory included."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one is other:  # only arrays that cannot change are kept
            return True
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
    """A copy of all arrays in a value that nobody can write to; such as are that already stay."""
    if isinstance(value, np.ndarray):
        if not value.flags.writeable and value.flags.owndata:
            return value
        copy = np.array(value, order="K")
        copy.flags.writeable = False
        return copy
    if isinstance(value, dict):
        return {key: _frozen(one) for key, one in value.items()}
    return type(value)(map(_frozen, value)) if type(value) in (tuple, list) else value


def _handed_out(value: Any) -> Any:
    """The same arrays in dicts and lists of their own."""
    if isinstance(value, dict):
        return {key: _handed_out(one) for key, one in value.items()}
    return type(value)(map(_handed_out, value)) if type(value) in (tuple, list) else value
