"""Is an answer what it should be? Kind first, then shape, then finiteness, then the numbers.

An answer may be any value that a student's function can bring about, so nothing here relies on
its being sensible. What goes to the student names neither input nor expected number; ``detail``
does, for the instructor. ``np.allclose`` (it broadcasts, and an empty array passes) and
``assert_allclose`` (NaN equals NaN) decide nothing.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.checking.framework import CheckFailure, Comparison, MalformedAnswer
from autograder.checking.margins import note
from autograder.checking.student import Remote

#: Largest difference allowed, relative to max(1, the largest expected number).
TOLERANCE = 1e-9
TOLERANCE_FLOAT32 = 1e-4
#: A float64 answer that is off by no more than this has the right formula and too few digits.
NEARLY = 1e-5

_KINDS = {
    "dict": "a dict",
    "list": "a list",
    "array_subclass": "a matrix, a masked array or another relative of a NumPy array",
    "object_array": "an array of Python objects",
    "dtype": "an array of something else than ordinary numbers",
    "function": "a function",
    "class": "a class",
}
_SCALARS: tuple[tuple[type, str], ...] = (
    (np.ndarray, "a NumPy array"),
    (np.generic, "a single number"),
    (bool, "True or False"),
    (int, "a single number"),
    (float, "a single number"),
    (str, "a text"),
    (tuple, "a tuple"),
    (list, "a list"),
    (dict, "a dict"),
)


def describe(value: Any) -> str:
    """What an answer is, in fixed words: ``a list``, ``None`` ...

    >>> describe((1, 2))
    'a tuple'
    """
    if value is None:
        return "None"
    for kind, words in _SCALARS:
        if isinstance(value, kind):
            return words
    if isinstance(value, Remote):
        return _KINDS.get(value.kind, "an object of another kind")
    return "an object of another kind"


def expect_array(
    got: Any, want: np.ndarray, what: str, axes: Sequence[str], *, tol: float | None = None
) -> None:
    """Require a plain array of real numbers that equals ``want``.

    The dtype of ``want`` says which ones may answer: float64 wants float64; float32 may be answered in
    float32 or float64; integers in integers or floats. ``axes`` are the names of want's axes. The largest
    difference must not exceed ``tol`` * max(1, max|want|); integers answered in integers must be equal.

    Raises:
        MalformedAnswer: it is no plain, real, finite array of such a dtype.
        CheckFailure: the shape or the numbers are wrong.
    """
    if want.dtype.kind not in "iuf" or want.ndim != len(axes):
        raise ValueError(f"{what}: cannot compare with {want.ndim} axes of {want.dtype}, named {axes}")
    _expect_kind(got, want, what)
    try:
        _expect_shape(got, want, what, axes)
        _expect_finite(got, what)
        _expect_numbers(got, want, what, _tolerance(want) if tol is None else tol)
    except CheckFailure as failure:
        failure.comparison = Comparison(what, tuple(axes), got, want)
        raise


def expect_mask(got: Any, want: np.ndarray, what: str, axes: Sequence[str]) -> None:
    """Require a plain array of booleans that equals ``want``.

    Raises:
        MalformedAnswer: it is no plain array of booleans.
        CheckFailure: the shape or an entry is wrong.
    """
    if want.dtype != np.bool_ or want.ndim != len(axes):
        raise ValueError(f"{what}: cannot compare with {want.ndim} axes of {want.dtype}, named {axes}")
    if type(got) is not np.ndarray:
        raise MalformedAnswer(f"{what} must be a plain NumPy array; it is {describe(got)}.", hint=_hint(got))
    if got.dtype != np.bool_:
        raise MalformedAnswer(
            f"{what} must hold True and False; it holds something else.",
            hint="Which dtype has an array of zeros and ones?",
            detail=f"dtype {got.dtype}, expected bool",
        )
    _expect_shape(got, want, what, axes)
    if not np.array_equal(got, want):
        raise CheckFailure(
            f"{what} has the right shape but wrong entries.",
            detail=f"{np.count_nonzero(got != want)} of {want.size} entries are wrong",
        )


def expect_tuple(got: Any, names: Sequence[str], function: str) -> tuple[Any, ...]:
    """Require what ``function`` returned to be a tuple of so many results; raises MalformedAnswer."""
    wanted = f"{function} must return the tuple ({', '.join(names)})"
    if not isinstance(got, tuple):
        raise MalformedAnswer(f"{wanted}; it returned {describe(got)}.", hint=_hint(got))
    if len(got) != len(names):
        raise MalformedAnswer(
            f"{wanted}; it returned a tuple of another length.",
            detail=f"{len(got)} results, expected {len(names)}",
        )
    return got


def expect_dict(got: Any, what: str) -> Remote:
    """Require a dict, or an object that may be asked for keys like one; raises MalformedAnswer."""
    if not isinstance(got, Remote) or got.kind not in ("dict", "object"):
        raise MalformedAnswer(f"{what} must be a dict; it is {describe(got)}.", hint=_hint(got))
    return got


def expect_item(got: Any, key: str, what: str) -> Any:
    """Require a dict with this key, and return what lies there; raises MalformedAnswer."""
    mapping = expect_dict(got, what)
    try:
        return mapping[key]
    except KeyError as error:
        raise MalformedAnswer(f'{what} has no key "{key}".') from error


def expect_items(got: Any, keys: Sequence[str], what: str) -> dict[str, Any]:
    """Like ``expect_item`` for several keys, in one exchange where the answer is a dict."""
    mapping = expect_dict(got, what)
    whole = mapping.fetch() if mapping.kind == "dict" else None
    if not isinstance(whole, dict):
        return {key: expect_item(mapping, key, what) for key in keys}
    for key in keys:
        if key not in whole:
            raise MalformedAnswer(f'{what} has no key "{key}".')
    return {key: whole[key] for key in keys}


def unchanged(before: Any, after: Any) -> bool:
    """Whether two copies of one value are equal, NaN at the same places included.

    What stayed on the student's side counts as unchanged when its kind is: more cannot be known.
    """
    return _alike(before, after, tol=0.0)


def repeated(first: Any, second: Any) -> bool:
    """Whether a second answer equals the first; the last digits may differ by the order of additions."""
    return _alike(first, second, tol=TOLERANCE)


def _alike(one: Any, other: Any, tol: float) -> bool:
    if type(one) is np.ndarray and type(other) is np.ndarray:  # by far the most frequent case
        return _arrays_alike(one, other, tol)
    if isinstance(one, Remote) or isinstance(other, Remote):
        return isinstance(one, Remote) and isinstance(other, Remote) and one.kind == other.kind
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key], tol) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(_alike(a, b, tol) for a, b in zip(one, other, strict=True))
    if isinstance(one, np.ndarray | np.generic | float):
        return _arrays_alike(np.asarray(one), np.asarray(other), tol)
    return bool(one == other)


def _arrays_alike(one: np.ndarray, other: np.ndarray, tol: float) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    with np.errstate(all="ignore"):
        same = one == other
        if one.dtype.kind in "fc":
            size = np.max(np.abs(other), initial=1.0, where=np.isfinite(other))
            same = same | (np.isnan(one) & np.isnan(other)) | (np.abs(one - other) <= tol * size)
    return bool(np.all(same))


def _expect_kind(got: Any, want: np.ndarray, what: str) -> None:
    if type(got) is not np.ndarray:
        raise MalformedAnswer(f"{what} must be a plain NumPy array; it is {describe(got)}.", hint=_hint(got))
    fault = _dtype_fault(got.dtype, want.dtype)
    if fault is not None:
        words, hint = fault
        raise MalformedAnswer(
            f"{what} {words}.", hint=hint, detail=f"dtype {got.dtype}, expected {want.dtype}"
        )


def _dtype_fault(got: np.dtype[Any], want: np.dtype[Any]) -> tuple[str, str | None] | None:
    """What is wrong with the dtype, and a hint; None if nothing is."""
    if got.kind == "c":
        return "holds complex numbers; real ones are wanted", None
    if got.kind not in "iuf":
        return "holds no numbers", None
    if want.kind == "f" and got.kind != "f":
        return (
            "holds integers; floats are wanted",
            "Which of your arrays took over the dtype of an integer one?",
        )
    if want == np.float64 and got != np.float64:
        return "has fewer digits than float64", "Which of your steps makes float32 out of float64?"
    return None


def _expect_shape(got: np.ndarray, want: np.ndarray, what: str, axes: Sequence[str]) -> None:
    if got.shape != want.shape:
        raise CheckFailure(
            f"{what} must have the axes ({', '.join(axes)}); {_shape_fault(got.shape, want.shape, axes)}.",
            detail=f"shape {got.shape}, expected {want.shape}",
        )


def _shape_fault(got: tuple[int, ...], want: tuple[int, ...], axes: Sequence[str]) -> str:
    if len(got) != len(want):
        count = {0: "no axis at all", 1: "1 axis"}.get(len(got), f"{len(got)} axes")
        return f"yours has {count} instead of {len(want)}"
    if len(set(want)) == len(want) and set(got) == set(want):
        names = dict(zip(want, axes, strict=True))
        return f"yours has them in the order ({', '.join(names[length] for length in got)})"
    wrong = [name for name, a, b in zip(axes, got, want, strict=True) if a != b]
    if len(wrong) == 1:
        return f"in yours the axis {wrong[0]} has the wrong length"
    return f"in yours the axes {', '.join(wrong[:-1])} and {wrong[-1]} have the wrong length"


def _expect_finite(got: np.ndarray, what: str) -> None:
    bad = ~np.isfinite(got)
    if not np.any(bad):
        return
    words = "NaN (not a number)" if np.any(np.isnan(got)) else "infinity"
    first = tuple(int(i) for i in np.argwhere(bad)[0])
    raise MalformedAnswer(
        f"{what} holds {words}.",
        hint="Where can a number grow too large for a float, or a division by zero happen?",
        detail=f"{np.count_nonzero(bad)} of {got.size} entries are not finite, first {list(first)}",
    )


def _expect_numbers(got: np.ndarray, want: np.ndarray, what: str, tol: float) -> None:
    with np.errstate(all="ignore"):
        scale = max(1.0, float(np.max(np.abs(want.astype(np.float64)), initial=0.0)))
        if got.dtype.kind == "f" or want.dtype.kind == "f":
            gap = np.abs(got.astype(np.float64) - want.astype(np.float64))
        else:
            gap = np.where(got == want, 0.0, np.inf)
        wrong = ~(gap <= tol * scale)
    if got.dtype.kind == "f" or want.dtype.kind == "f":
        note(lambda: float(np.max(gap, initial=0.0)) / (tol * scale))
    if not np.any(wrong):
        return
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    detail = (
        f"{np.count_nonzero(wrong)} of {want.size} entries are wrong, first {list(first)}: {got[first]!r}, "
        f"expected {want[first]!r}; largest difference {np.max(gap):.3g}, allowed {tol * scale:.3g}"
    )
    if tol < NEARLY and np.max(gap) <= NEARLY * scale:
        raise CheckFailure(
            f"{what} is nearly right, but has fewer right digits than float64 can hold.",
            hint="Is something rounded, computed in float32, or found by small steps instead of a formula?",
            detail=detail,
        )
    raise CheckFailure(f"{what} has the right shape but wrong numbers.", detail=detail)


def _tolerance(want: np.ndarray) -> float:
    return TOLERANCE_FLOAT32 if want.dtype == np.float32 else TOLERANCE


def _hint(got: Any) -> str | None:
    """A thought about an answer of the wrong kind."""
    if got is None:
        return "A function that ends without return returns None."
    if isinstance(got, Remote) and got.kind in ("list", "array_subclass", "object_array"):
        return "What does np.asarray make of it?"
    return None
