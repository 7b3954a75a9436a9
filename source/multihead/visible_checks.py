"""The checks that you see while you work: examples small enough to be done by hand.

Each ``check_...`` function calls your function and compares what comes back with known numbers. Where they
differ, ``CheckFailed`` says in a few lines what was expected, what came instead, and at which place.
More checks, with other sizes and numbers, run when the notebook is graded.

NumPy is all that is needed. Nothing is computed before a check is called.
"""

import sys
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
StudentFunction = Callable[..., Any]
#: A remark about wrong numbers, or what makes one out of all that came and the first wrong place.
Hint = str | Callable[[Array, tuple[int, ...]], str]

LINE_WIDTH = 80
X_AXES = "batch seq d_model"
HEAD_AXES = "batch heads seq d_head"
MATRIX_AXES = "rows columns"
CACHE_KEYS = ("x", "heads", "attention", "joined")
MATRICES = ("wo", "wv", "wq", "wk")


class CheckFailed(AssertionError):
    """An example did not come out; the text says which one, what was expected and what came instead."""

    def _render_traceback_(self) -> list[str]:
        """The lines that Jupyter shows in place of a traceback: the text alone."""
        return textwrap.wrap(str(self), LINE_WIDTH, break_on_hyphens=False)


class Passed:
    """All visible examples of one exercise come out right; a notebook shows that as printed text."""

    def __init__(self, exercise: str, examples: int):
        self.exercise = exercise
        self.examples = examples

    def __repr__(self) -> str:
        return f"{self.exercise}: all {self.examples} visible examples come out right."

    def _ipython_display_(self) -> None:
        # Printed, because nbgrader takes the value of a test cell for a number of points.
        sys.stdout.write(f"{self!r}\n")


def check_split_heads(split_heads: StudentFunction) -> Passed:
    """Eight numbers in two heads, then numbers that tell where they come from."""
    __tracebackhide__ = True
    what = "split_heads(x, 2) with x = np.arange(8).reshape(1, 2, 4)"
    got = split_heads(np.arange(8).reshape(1, 2, 4), 2)
    _compare(what, got, _eight_in_two_heads(), HEAD_AXES, "Head 0 is [[0, 1], [4, 5]].")

    what = "split_heads(x, 3) with x[b, t, c] = 100*b + 10*t + c"
    got = split_heads(_addresses(), 3)
    _compare(what, got, _addresses_in_three_heads(), HEAD_AXES, _origin)
    return Passed("split_heads", 2)


def check_merge_heads(merge_heads: StudentFunction) -> Passed:
    """The same two examples, the other way round."""
    __tracebackhide__ = True
    what = "merge_heads(h) with head 0 = [[0, 1], [4, 5]] and head 1 = [[2, 3], [6, 7]]"
    got = merge_heads(_eight_in_two_heads())
    _compare(what, got, np.arange(8).reshape(1, 2, 4), X_AXES, "Token 0 is [0, 1, 2, 3] again.")

    what = "merge_heads(h) with the 3 heads of x[b, t, c] = 100*b + 10*t + c"
    got = merge_heads(_addresses_in_three_heads())
    _compare(what, got, _addresses(), X_AXES, _origin)
    return Passed("merge_heads", 2)


def check_multihead(multihead: StudentFunction) -> Passed:
    """One, two and three tokens; the three tokens in 1, 2 and 4 heads with the same four matrices."""
    __tracebackhide__ = True
    examples = _forward_examples()
    for example in examples:
        what = f"multihead, {example.name}"
        answer = multihead(example.x, example.params, example.heads, example.allowed)
        y, cache = _two_results(what, answer, "y, cache")
        _compare(f"{what}, y", y, example.y, X_AXES, example.hint)
        _check_cache(f"{what}, cache", cache, example)
    return Passed("multihead", len(examples))


def check_multihead_backward(multihead: StudentFunction, multihead_backward: StudentFunction) -> Passed:
    """The gradients for one token, for the same token twice in a batch, and for two tokens."""
    __tracebackhide__ = True
    examples = _backward_examples()
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
        _compare(f"{what}, dx", dx, example.dx, X_AXES, example.dx_hint)
    return Passed("multihead_backward", len(examples))


# --- Examples ---------------------------------------------------------------------------------------------


class ForwardExample(NamedTuple):
    """One call of ``multihead`` and what it returns."""

    name: str
    x: Array
    params: dict[str, Array]
    heads: int
    allowed: NDArray[np.bool_]
    y: Array
    joined: Array
    hint: str


class BackwardExample(NamedTuple):
    """One call of ``multihead_backward``, after ``multihead`` in one head, and what it returns."""

    name: str
    x: Array
    params: dict[str, Array]
    allowed: NDArray[np.bool_]
    dy: Array
    dx: Array
    grads: dict[str, Array]
    hint: str
    dx_hint: Hint


def _eight_in_two_heads() -> Array:
    return np.array([[[[0, 1], [4, 5]], [[2, 3], [6, 7]]]])


def _addresses() -> Array:
    """x[b, t, c] = 100*b + 10*t + c for B = 2, T = 4, C = 6: every number tells where it stands."""
    batch, seq, channel = np.ogrid[:2, :4, :6]
    return np.asarray(100 * batch + 10 * seq + channel)


def _addresses_in_three_heads() -> Array:
    """Channel c = 2*h + j of ``_addresses`` is number j of head h."""
    batch, head, seq, j = np.ogrid[:2, :3, :4, :2]
    return np.asarray(100 * batch + 10 * seq + (2 * head + j))


def _small_params() -> dict[str, Array]:
    """Four matrices for C = 2: wq = wk = I, wv = 2I."""
    return {"wq": np.eye(2), "wk": np.eye(2), "wv": 2 * np.eye(2), "wo": np.array([[1.0, 1.0], [0.0, 1.0]])}


def _forward_examples() -> list[ForwardExample]:
    one_token = ForwardExample(
        name="x = [[[1, 2]]] in 1 head",
        x=np.array([[[1.0, 2.0]]]),
        params=_small_params(),
        heads=1,
        allowed=np.array([[True]]),
        y=np.array([[[2.0, 6.0]]]),
        joined=np.array([[[2.0, 4.0]]]),
        hint="With one key its weight is 1, so joined = x @ wv = [2, 4] and y = joined @ wo = [2, 6].",
    )
    two_tokens = ForwardExample(
        name="x = [[[1, 2], [0, 1]]] in 1 head",
        x=np.array([[[1.0, 2.0], [0.0, 1.0]]]),
        params=_small_params(),
        heads=1,
        allowed=np.ones((2, 2), dtype=bool),
        y=np.array([[[1.785916, 5.571833], [1.339523, 4.679046]]]),
        joined=np.array([[[1.785916, 3.785916], [1.339523, 3.339523]]]),
        hint="The weights are [0.8930, 0.1070] for token 0 and [0.6698, 0.3302] for token 1.",
    )
    return [one_token, two_tokens, *(_three_tokens(heads) for heads in (2, 1, 4))]


def _three_tokens(heads: int) -> ForwardExample:
    """C = 8, identity projections, each token sees itself and what came before."""
    tokens = [
        [1, 0, 0, 1, 0.5, 0, -1, 0],
        [0, 1, 1, 0, 0, 0.5, 0, -1],
        [1, 1, -1, 0, 0.5, 0.5, 1, 1],
    ]
    later_tokens = {
        1: [
            [0.240663, 0.759337, 0.759337, 0.240663, 0.120331, 0.379669, -0.240663, -0.759337],
            [0.913324, 0.876563, -0.703210, 0.123437, 0.456662, 0.438281, 0.666449, 0.703210],
        ],
        2: [
            [0.268941, 0.731059, 0.731059, 0.268941, 0.174323, 0.325677, -0.348645, -0.651355],
            [0.859756, 0.768776, -0.488287, 0.231224, 0.429363, 0.429363, 0.576177, 0.576177],
        ],
        4: [
            [0.330238, 0.669762, 0.669762, 0.330238, 0.227960, 0.272040, -0.330238, -0.669762],
            [0.751745, 0.751745, -0.435946, 0.283995, 0.343425, 0.343425, 0.709925, 0.709925],
        ],
    }
    y = np.array([[tokens[0], *later_tokens[heads]]])
    return ForwardExample(
        name=f"three tokens with C = 8 in {heads} head{'s' if heads > 1 else ''}, causal mask",
        x=np.array([tokens]),
        params={name: np.eye(8) for name in MATRICES},
        heads=heads,
        allowed=np.tri(3, dtype=bool),
        y=y,
        joined=y,
        hint=f"Each head has scores of its own: their shape is (B, H, T, T) = (1, {heads}, 3, 3). "
        "The four matrices hold 4*C*C = 256 parameters, in however many heads.",
    )


def _backward_examples() -> list[BackwardExample]:
    one_token = BackwardExample(
        name="x = [[[1, 2]]], dy = [[[3, 5]]]",
        x=np.array([[[1.0, 2.0]]]),
        params=_small_params(),
        allowed=np.array([[True]]),
        dy=np.array([[[3.0, 5.0]]]),
        dx=np.array([[[16.0, 10.0]]]),
        grads={
            "wo": np.array([[6.0, 10.0], [12.0, 20.0]]),
            "wv": np.array([[8.0, 5.0], [16.0, 10.0]]),
            "wq": np.zeros((2, 2)),
            "wk": np.zeros((2, 2)),
        },
        hint="By hand: dJ = dy @ wo.T = [8, 5]. With one key nothing flows back to Q and K.",
        dx_hint="With one key only the route through V is left: dx = dJ @ wv.T.",
    )
    same_token_twice = BackwardExample(
        name="x = [[[1, 2]], [[1, 2]]], dy = [[[3, 5]], [[3, 5]]]",
        x=np.repeat(one_token.x, 2, axis=0),
        params=one_token.params,
        allowed=one_token.allowed,
        dy=np.repeat(one_token.dy, 2, axis=0),
        dx=np.repeat(one_token.dx, 2, axis=0),
        grads={name: 2 * grad for name, grad in one_token.grads.items()},
        hint="The same sequence twice in a batch doubles the gradients of the matrices: "
        "sum over batch and time, never average.",
        dx_hint="Each sequence of the batch has a dx of its own, as if it were alone.",
    )
    return [one_token, same_token_twice, _two_tokens()]


def _two_tokens() -> BackwardExample:
    return BackwardExample(
        name="x = [[[1, 2], [0, 1]]], dy all ones",
        x=np.array([[[1.0, 2.0], [0.0, 1.0]]]),
        params=_small_params(),
        allowed=np.ones((2, 2), dtype=bool),
        dy=np.ones((1, 2, 2)),
        dx=sum(_routes().values(), start=np.zeros((1, 2, 2))),
        grads={
            "wo": np.array([[3.125440, 3.125440], [7.125440, 7.125440]]),
            "wv": np.array([[3.125440, 1.562720], [7.125440, 3.562720]]),
            "wq": np.array([[0.405528, 0.405528], [1.749447, 1.749447]]),
            "wk": np.array([[0.405528, 1.749447], [0.405528, 1.749447]]),
        },
        hint="Each is the sum over batch and time of outer(what went in, gradient of what came out).",
        dx_hint=_route_hint,
    )


def _routes() -> dict[str, Array]:
    """What reaches dx of the example with two tokens through Q, K and V."""
    return {
        "Q": np.array([[[0.405528, 0.405528], [0.938392, 0.938392]]]),
        "K": np.array([[[0.405528, 1.749447], [-0.405528, -1.749447]]]),
        "V": np.array([[[6.250879, 3.125440], [1.749121, 0.874560]]]),
    }


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
    if len(wrong) > 0:
        place = tuple(int(i) for i in wrong[0])
        _fail(
            what,
            f"{len(wrong)} of {expected.size} numbers are wrong, the first at {_place_text(place, axes)} "
            f"in the shape {shape}: expected {expected[place]:.6g}, got {got[place]:.6g}. "
            + (hint if isinstance(hint, str) else hint(got, place)),
        )


def _wrong_places(got: Array, expected: Array) -> NDArray[np.intp]:
    """The indices of all numbers that are off by more than the rounding of the examples (NaN always is)."""
    tolerance = 1e-5 * max(1.0, float(np.max(np.abs(expected))))
    with np.errstate(all="ignore"):
        return np.argwhere(~(np.abs(got - expected.astype(np.float64)) <= tolerance))


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


def _fail(what: str, text: str) -> NoReturn:
    raise CheckFailed(f"{what}: {text}".strip())


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


def _route_hint(got: Array, _place: tuple[int, ...]) -> str:
    """Which of the three routes into x is missing, or alone."""
    routes = _routes()
    for name, route in routes.items():
        others = sum(other for key, other in routes.items() if key != name)
        if len(_wrong_places(got, np.asarray(others))) == 0:
            return f"This is dx without the route through {name}."
        if len(_wrong_places(got, route)) == 0:
            return f"This is the route through {name} alone: add the three routes."
    return "dx[0, 0, 0] = 7.0619 is 0.4055 through Q + 0.4055 through K + 6.2509 through V."
