"""The examples of the visible checks: calls that can be followed by hand, and what comes of them.

Nothing here computes an answer: the numbers are written down. Those with six decimals are rounded.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

MATRICES = ("wo", "wv", "wq", "wk")


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
    """One call of ``multihead_backward``, after ``multihead`` in one head, and what it returns.

    ``routes`` are the shares of ``dx`` that come through Q, K and V, where the example tells them apart.
    """

    name: str
    x: Array
    params: dict[str, Array]
    allowed: NDArray[np.bool_]
    dy: Array
    dx: Array
    grads: dict[str, Array]
    hint: str
    dx_hint: str
    routes: Mapping[str, Array] = MappingProxyType({})


def eight_in_two_heads() -> Array:
    """The numbers 0 to 7, which are two tokens of four channels, in two heads."""
    return np.array([[[[0, 1], [4, 5]], [[2, 3], [6, 7]]]])


def addresses() -> Array:
    """x[b, t, c] = 100*b + 10*t + c for B = 2, T = 4, C = 6: every number tells where it stands."""
    batch, seq, channel = np.ogrid[:2, :4, :6]
    return np.asarray(100 * batch + 10 * seq + channel)


def addresses_in_three_heads() -> Array:
    """Channel c = 2*h + j of ``addresses`` is number j of head h."""
    batch, head, seq, j = np.ogrid[:2, :3, :4, :2]
    return np.asarray(100 * batch + 10 * seq + (2 * head + j))


def forward_examples() -> list[ForwardExample]:
    """One, two and three tokens; the three tokens in 2, 1 and 4 heads with the same four matrices."""
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


def weights_of_three_tokens() -> dict[int, Array]:
    """The weights of the example with three tokens in 1, 2 and 4 heads: (H, T, T) for each H."""
    weights = {
        1: [[[0.240663, 0.759337], [0.123437, 0.086676, 0.789887]]],
        2: [
            [[0.268941, 0.731059], [0.231224, 0.140244, 0.628532]],
            [[0.348645, 0.651355], [0.141274, 0.141274, 0.717451]],
        ],
        4: [
            [[0.330238, 0.669762], [0.248255, 0.248255, 0.503490]],
            [[0.330238, 0.669762], [0.283995, 0.140029, 0.575975]],
            [[0.455921, 0.544079], [0.313149, 0.313149, 0.373702]],
            [[0.330238, 0.669762], [0.096692, 0.096692, 0.806617]],
        ],
    }
    return {
        heads: np.array([[[1.0, 0.0, 0.0], [*second, 0.0], third] for second, third in tables])
        for heads, tables in weights.items()
    }


def backward_examples() -> list[BackwardExample]:
    """One token, the same token twice in a batch, and two tokens."""
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


def _small_params() -> dict[str, Array]:
    """Four matrices for C = 2: wq = wk = I, wv = 2I."""
    return {"wq": np.eye(2), "wk": np.eye(2), "wv": 2 * np.eye(2), "wo": np.array([[1.0, 1.0], [0.0, 1.0]])}


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


def _two_tokens() -> BackwardExample:
    routes = {
        "Q": np.array([[[0.405528, 0.405528], [0.938392, 0.938392]]]),
        "K": np.array([[[0.405528, 1.749447], [-0.405528, -1.749447]]]),
        "V": np.array([[[6.250879, 3.125440], [1.749121, 0.874560]]]),
    }
    return BackwardExample(
        name="x = [[[1, 2], [0, 1]]], dy all ones",
        x=np.array([[[1.0, 2.0], [0.0, 1.0]]]),
        params=_small_params(),
        allowed=np.ones((2, 2), dtype=bool),
        dy=np.ones((1, 2, 2)),
        dx=routes["Q"] + routes["K"] + routes["V"],
        grads={
            "wo": np.array([[3.125440, 3.125440], [7.125440, 7.125440]]),
            "wv": np.array([[3.125440, 1.562720], [7.125440, 3.562720]]),
            "wq": np.array([[0.405528, 0.405528], [1.749447, 1.749447]]),
            "wk": np.array([[0.405528, 1.749447], [0.405528, 1.749447]]),
        },
        hint="Each is the sum over batch and time of outer(what went in, gradient of what came out).",
        dx_hint="dx[0, 0, 0] = 7.0619 is 0.4055 through Q + 0.4055 through K + 6.2509 through V.",
        routes=routes,
    )
