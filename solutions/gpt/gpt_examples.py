"""Examples that other lessons do not have: scores under the mask, and a way back through two heads.

Nothing here computes an answer: the numbers are written down. Those with six decimals are rounded.
"""

from typing import NamedTuple

import numpy as np

from attention_examples import three_roles
from layer_examples import Array, ForwardExample
from worked_examples import three_tokens

#: What the mask puts where a query may not look.
HIDDEN = -1e9
#: The parts of the layer, and what their matrices are called in the examples.
PARTS = {"query": "wq", "key": "wk", "value": "wv", "output": "wo"}


class MaskExample(NamedTuple):
    """Scores, what the mask makes of them, what arrives on the way back, and what of it passes."""

    name: str
    axes: str
    scores: Array
    masked: Array
    dy: Array
    dx: Array


def mask_examples() -> list[MaskExample]:
    """Three tokens by themselves, then two tokens in a batch of one with two heads."""
    three = MaskExample(
        name="three tokens",
        axes="query key",
        scores=np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]),
        masked=np.array([[1.0, HIDDEN, HIDDEN], [4.0, 5.0, HIDDEN], [7.0, 8.0, 9.0]]),
        dy=np.array([[10.0, 20.0, 30.0], [40.0, 50.0, 60.0], [70.0, 80.0, 90.0]]),
        dx=np.array([[10.0, 0.0, 0.0], [40.0, 50.0, 0.0], [70.0, 80.0, 90.0]]),
    )
    in_heads = MaskExample(
        name="two tokens in two heads",
        axes="batch heads query key",
        scores=np.array([[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]]),
        masked=np.array([[[[1.0, HIDDEN], [3.0, 4.0]], [[5.0, HIDDEN], [7.0, 8.0]]]]),
        dy=np.array([[[[1.0, -1.0], [2.0, -2.0]], [[3.0, -3.0], [4.0, -4.0]]]]),
        dx=np.array([[[[1.0, 0.0], [2.0, -2.0]], [[3.0, 0.0], [4.0, -4.0]]]]),
    )
    return [three, in_heads]


def forward_examples() -> list[ForwardExample]:
    """Three tokens with three roles in one head, then three tokens in 2 and in 4 heads."""
    _, causal_roles = three_roles()
    return [causal_roles, three_tokens(2), three_tokens(4)]


def way_back() -> tuple[Array, Array]:
    """What arrives at y of the three tokens in two heads, and what of it reaches x."""
    dy = [[1, 0, -1, 2, 0, 1, 0, -1], [0, 2, 1, 0, -1, 0, 1, 0], [1, -1, 0, 1, 2, 0, -1, 1]]
    dx = [
        [1.425197, 0.205714, -1.219950, 2.231224, -0.025788, 0.955149, 0.287987, -0.607790],
        [-0.247389, 1.818993, 1.413610, -0.154674, -0.519613, 0.104671, 0.549104, -0.330658],
        [0.619990, -0.923763, 0.109799, 0.822505, 1.525889, -0.014969, -0.696710, 0.950104],
    ]
    return np.array([dy], dtype=float), np.array([dx])


def characters() -> Array:
    """The numbers of 4 times 32 characters out of 65."""
    return np.arange(4 * 32).reshape(4, 32) % 65
