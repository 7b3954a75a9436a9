"""The checks that you see while you work: examples small enough to be done by hand.

Each ``check_...`` function calls your function and compares what comes back with known numbers. Where they
differ, ``CheckFailed`` says in a few lines what was expected, what came instead, and at which place.
More checks, with other sizes and numbers, run when the notebook is graded.

NumPy is all that is needed; with matplotlib, pictures show the same. Nothing is computed before a check is
called, and what draws is imported when a notebook shows the outcome: a notebook that is graded never does.
"""

import sys
import textwrap
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from worked_examples import (
    MATRICES,
    BackwardExample,
    ForwardExample,
    addresses,
    addresses_in_three_heads,
    backward_examples,
    eight_in_two_heads,
    forward_examples,
    weights_of_three_tokens,
)

if TYPE_CHECKING:
    from pictures import Picture

Array = NDArray[Any]
StudentFunction = Callable[..., Any]
MakePicture = Callable[[], "Picture"]
#: A remark about wrong numbers, or what makes one out of all that came and the first wrong place.
Hint = str | Callable[[Array, tuple[int, ...]], str]

LINE_WIDTH = 80
X_AXES = "batch seq d_model"
HEAD_AXES = "batch heads seq d_head"
MATRIX_AXES = "rows columns"
CACHE_KEYS = ("x", "heads", "attention", "joined")
EXERCISES = ("split_heads", "merge_heads", "multihead", "multihead_backward")


class CheckFailed(AssertionError):
    """An example did not come out; the text says which one, what was expected and what came instead."""

    def __init__(self, text: str, picture: MakePicture | None = None):
        super().__init__(text)
        self.picture = picture

    def _render_traceback_(self) -> list[str]:
        """The lines that Jupyter shows in place of a traceback: the text alone, then the picture."""
        _show(self.picture)
        return textwrap.wrap(str(self), LINE_WIDTH, break_on_hyphens=False)


class Passed:
    """All visible examples of one exercise come out right; a notebook shows that as printed text."""

    def __init__(self, exercise: str, examples: int, picture: MakePicture | None = None):
        self.exercise = exercise
        self.examples = examples
        self.picture = picture

    def __repr__(self) -> str:
        return f"{self.exercise}: {self.examples} of {self.examples} visible checks pass."

    def _ipython_display_(self) -> None:
        _done.add(self.exercise)
        # Printed, because nbgrader takes the value of a test cell for a number of points.
        sys.stdout.write(f"{self!r} {_milestone()}\n")
        _show(self.picture)


#: The exercises whose checks passed when they ran last. Only a notebook that shows a success adds to it.
_done: set[str] = set()


def _show(picture: MakePicture | None) -> None:
    try:
        from pictures import show_below  # noqa: PLC0415 - see the top
    except ModuleNotFoundError:  # the file did not come along: what is printed says it all
        return
    if picture is not None:
        show_below(picture)


def _milestone() -> str:
    left = [name for name in EXERCISES if name not in _done]
    coming = left[0] if left else "the question at the end"
    return f"Milestone: {len(_done)} of {len(EXERCISES)} done; next: {coming}."


def check_split_heads(split_heads: StudentFunction) -> Passed:
    """Eight numbers in two heads, then numbers that tell where they come from."""
    __tracebackhide__ = True
    _done.discard("split_heads")
    what = "split_heads(x, 2) with x = np.arange(8).reshape(1, 2, 4)"
    got = split_heads(np.arange(8).reshape(1, 2, 4), 2)
    _compare(what, got, eight_in_two_heads(), HEAD_AXES, "Head 0 is [[0, 1], [4, 5]].")

    what = "split_heads(x, 3) with x[b, t, c] = 100*b + 10*t + c"
    got = split_heads(addresses(), 3)
    _compare(what, got, addresses_in_three_heads(), HEAD_AXES, _origin)
    return Passed("split_heads", 2)


def check_merge_heads(merge_heads: StudentFunction) -> Passed:
    """The same two examples, the other way round."""
    __tracebackhide__ = True
    _done.discard("merge_heads")
    what = "merge_heads(h) with head 0 = [[0, 1], [4, 5]] and head 1 = [[2, 3], [6, 7]]"
    got = merge_heads(eight_in_two_heads())
    _compare(what, got, np.arange(8).reshape(1, 2, 4), X_AXES, "Token 0 is [0, 1, 2, 3] again.")

    what = "merge_heads(h) with the 3 heads of x[b, t, c] = 100*b + 10*t + c"
    got = merge_heads(addresses_in_three_heads())
    _compare(what, got, addresses(), X_AXES, _origin)
    return Passed("merge_heads", 2)


def check_multihead(multihead: StudentFunction) -> Passed:
    """One, two and three tokens; the three tokens in 1, 2 and 4 heads with the same four matrices."""
    __tracebackhide__ = True
    _done.discard("multihead")
    examples = forward_examples()
    for example in examples:
        what = f"multihead, {example.name}"
        answer = multihead(example.x, example.params, example.heads, example.allowed)
        y, cache = _two_results(what, answer, "y, cache")
        _compare(f"{what}, y", y, example.y, X_AXES, example.hint)
        _check_cache(f"{what}, cache", cache, example)
    return Passed("multihead", len(examples), _weights)


def check_multihead_backward(multihead: StudentFunction, multihead_backward: StudentFunction) -> Passed:
    """The gradients for one token, for the same token twice in a batch, and for two tokens."""
    __tracebackhide__ = True
    _done.discard("multihead_backward")
    examples = backward_examples()
    for example in examples:
        _, cache = _two_results(
            f"multihead, {example.name}",
            multihead(example.x, example.params, 1, example.allowed),
            "y, cache",
        )
        what = f"multihead_backward, {example.name}"
        answer = multihead_backward(cache, example.params, example.dy)
        dx, grads = _two_results(what, answer, "dx, grads")
        for name in MATRICES:
            got = _look_up(f"{what}, grads", grads, name, MATRICES)
            _compare(f'{what}, grads["{name}"]', got, example.grads[name], MATRIX_AXES, example.hint)
        _compare(f"{what}, dx", dx, example.dx, X_AXES, partial(_route_hint, example))
    return Passed("multihead_backward", len(examples), partial(_three_routes, examples[-1].routes))


# --- Comparing --------------------------------------------------------------------------------------------


def _compare(what: str, got: Any, expected: Array, axes: str, hint: Hint) -> None:
    """Raise CheckFailed unless ``got`` is a plain array with the shape and the numbers of ``expected``."""
    shape = _shape_text(expected.shape, axes)
    if type(got) is not np.ndarray:
        _fail(what, f"expected a NumPy array of the shape {shape}, got {_describe(got)}.")
    if got.shape != expected.shape:
        _fail(what, f"expected the shape {shape}, got the shape {_shape_text(got.shape, axes)}.")
    of_floats = expected.dtype.kind == "f"
    if got.dtype.kind not in ("f" if of_floats else "iuf") or (of_floats and got.dtype.itemsize < 8):
        _fail(what, f"expected numbers of the type {expected.dtype}, got the type {got.dtype}.")
    wrong = _wrong_places(got, expected)
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        _fail(
            what,
            f"{np.count_nonzero(wrong)} of {expected.size} numbers are wrong, the first at "
            f"{_place_text(place, axes)} in the shape {shape}: expected {expected[place]:.6g}, "
            f"got {got[place]:.6g}. " + (hint if isinstance(hint, str) else hint(got, place)),
            partial(_comparison, expected, got, wrong, axes),
        )


def _wrong_places(got: Array, expected: Array) -> NDArray[np.bool_]:
    """True where a number is off by more than the rounding of the examples (NaN always is)."""
    tolerance = 1e-5 * max(1.0, float(np.max(np.abs(expected))))
    with np.errstate(all="ignore"):
        return np.asarray(~(np.abs(got - expected.astype(np.float64)) <= tolerance))


def _two_results(what: str, answer: Any, names: str) -> tuple[Any, Any]:
    if not isinstance(answer, tuple) or len(answer) != 2:
        _fail(what, f"expected two results (`return {names}`), got {_describe(answer)}.")
    return answer


def _look_up(what: str, mapping: Any, key: str, keys: tuple[str, ...]) -> Any:
    try:
        return mapping[key]
    except (KeyError, IndexError, TypeError, ValueError):
        listed = ", ".join(f'"{one}"' for one in keys)
        _fail(what, f'expected a dict with the keys {listed}, got {_describe(mapping)} without "{key}".')


def _check_cache(what: str, cache: Any, example: ForwardExample) -> None:
    """Raise CheckFailed unless the cache holds x, heads, joined, and something under "attention"."""
    found = {key: _look_up(what, cache, key, CACHE_KEYS) for key in CACHE_KEYS}
    _compare(f'{what}["x"]', found["x"], example.x, X_AXES, "It is the x of the call.")
    _compare(f'{what}["joined"]', found["joined"], example.joined, X_AXES, "It is what wo multiplies.")
    heads = found["heads"]
    if not isinstance(heads, (int, float, np.number)) or heads != example.heads:
        _fail(f'{what}["heads"]', f"expected {example.heads}, got {_describe(heads)}.")


def _fail(what: str, text: str, picture: MakePicture | None = None) -> NoReturn:
    raise CheckFailed(f"{what}: {text}".strip(), picture)


# --- Pictures ---------------------------------------------------------------------------------------------


def _comparison(expected: Array, got: Array, wrong: NDArray[np.bool_], axes: str) -> "Picture":
    from pictures import comparison  # noqa: PLC0415 - see the top

    return comparison(expected, got, wrong, axes)


def _weights() -> "Picture":
    from pictures import weights  # noqa: PLC0415 - see the top

    return weights(weights_of_three_tokens())


def _three_routes(routes: Mapping[str, Array]) -> "Picture":
    from pictures import total  # noqa: PLC0415 - see the top

    return total({f"through {name}": route for name, route in routes.items()}, "dx", X_AXES)


# --- Wording ----------------------------------------------------------------------------------------------


def _shape_text(shape: tuple[int, ...], axes: str) -> str:
    """``(batch=1, heads=2, seq=2, d_head=2)``; plain numbers where axes and names do not match."""
    names = axes.split()
    if len(names) != len(shape):
        return str(shape)
    return "(" + ", ".join(f"{name}={size}" for name, size in zip(names, shape, strict=True)) + ")"


def _place_text(place: tuple[int, ...], axes: str) -> str:
    """``[batch 0, head 1, seq 0, d_head 1]``."""
    named = zip(axes.split(), place, strict=True)
    return "[" + ", ".join(f"{name.removesuffix('s')} {index}" for name, index in named) + "]"


def _describe(value: Any) -> str:
    """What an answer is, when it is not what was expected."""
    if value is None:
        return "None (does the function end with `return`?)"
    if type(value) is np.ndarray:
        return f"an array of the shape {value.shape}"
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return f"the number {value}"
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    kind = "dict" if isinstance(value, Mapping) else getattr(value, "kind", type(value).__name__)
    return f"{'an' if str(kind)[:1] in 'aeiou' else 'a'} {kind}"


def _origin(got: Array, place: tuple[int, ...]) -> str:
    """Where the first wrong number of the addresses was taken from."""
    number = float(got[place])
    if not 0 <= number < 200:  # NaN is not either
        return ""
    batch, seq, channel = int(number) // 100, int(number) // 10 % 10, int(number) % 10
    if number != 100 * batch + 10 * seq + channel or seq > 3 or channel > 5:
        return ""
    return f"What came is channel {channel} of token {seq} in sequence {batch}."


def _route_hint(example: BackwardExample, got: Array, _place: tuple[int, ...]) -> str:
    """Which of the three routes into x is missing, or alone; else what the example says."""
    for name, route in example.routes.items():
        others = sum(other for key, other in example.routes.items() if key != name)
        if not _wrong_places(got, np.asarray(others)).any():
            return f"This is dx without the route through {name}."
        if not _wrong_places(got, route).any():
            return f"This is the route through {name} alone: add the three routes."
    return example.dx_hint
