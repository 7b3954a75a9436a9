"""Examples of an attention layer in one head: calls that can be followed by hand, and what comes of them.

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
    """One call of a layer and what it returns; ``joined`` is what ``wo`` multiplies."""

    name: str
    x: Array
    params: dict[str, Array]
    allowed: NDArray[np.bool_]
    y: Array
    joined: Array
    hint: str
    heads: int = 1


class BackwardExample(NamedTuple):
    """One call of a backward pass, after the forward pass in one head, and what it returns.

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


def forward_examples() -> list[ForwardExample]:
    """One token and two tokens."""
    one_token = ForwardExample(
        name="x = [[[1, 2]]]",
        x=np.array([[[1.0, 2.0]]]),
        params=small_params(),
        allowed=np.array([[True]]),
        y=np.array([[[2.0, 6.0]]]),
        joined=np.array([[[2.0, 4.0]]]),
        hint="With one key its weight is 1, so x @ wv = [2, 4] is gathered, and y = [2, 4] @ wo = [2, 6].",
    )
    two_tokens = ForwardExample(
        name="x = [[[1, 2], [0, 1]]]",
        x=np.array([[[1.0, 2.0], [0.0, 1.0]]]),
        params=small_params(),
        allowed=np.ones((2, 2), dtype=bool),
        y=np.array([[[1.785916, 5.571833], [1.339523, 4.679046]]]),
        joined=np.array([[[1.785916, 3.785916], [1.339523, 3.339523]]]),
        hint="The weights are [0.8930, 0.1070] for token 0 and [0.6698, 0.3302] for token 1.",
    )
    return [one_token, two_tokens]


def backward_examples() -> list[BackwardExample]:
    """One token, the same token twice in a batch, and two tokens."""
    one_token = BackwardExample(
        name="x = [[[1, 2]]], dy = [[[3, 5]]]",
        x=np.array([[[1.0, 2.0]]]),
        params=small_params(),
        allowed=np.array([[True]]),
        dy=np.array([[[3.0, 5.0]]]),
        dx=np.array([[[16.0, 10.0]]]),
        grads={
            "wo": np.array([[6.0, 10.0], [12.0, 20.0]]),
            "wv": np.array([[8.0, 5.0], [16.0, 10.0]]),
            "wq": np.zeros((2, 2)),
            "wk": np.zeros((2, 2)),
        },
        hint="By hand: dy @ wo.T = [8, 5]. With one key nothing flows back to Q and K.",
        dx_hint="With one key only the route through V is left: dx = [8, 5] @ wv.T.",
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


def small_params() -> dict[str, Array]:
    """Four matrices for C = 2: wq = wk = I, wv = 2I, and wo."""
    return {"wq": np.eye(2), "wk": np.eye(2), "wv": 2 * np.eye(2), "wo": np.array([[1.0, 1.0], [0.0, 1.0]])}


def _two_tokens() -> BackwardExample:
    routes = {
        "Q": np.array([[[0.405528, 0.405528], [0.938392, 0.938392]]]),
        "K": np.array([[[0.405528, 1.749447], [-0.405528, -1.749447]]]),
        "V": np.array([[[6.250879, 3.125440], [1.749121, 0.874560]]]),
    }
    return BackwardExample(
        name="x = [[[1, 2], [0, 1]]], dy all ones",
        x=np.array([[[1.0, 2.0], [0.0, 1.0]]]),
        params=small_params(),
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
