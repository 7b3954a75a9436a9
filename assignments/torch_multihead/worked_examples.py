"""The examples of the visible checks: calls that can be followed by hand, and what comes of them.

Nothing here computes an answer: the numbers are written down. Those with six decimals are rounded.
"""

import numpy as np

import layer_examples
from layer_examples import MATRICES, Array, ForwardExample


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


def origin(got: Array, place: tuple[int, ...]) -> str:
    """Where a wrong number was taken from, in place of one of the ``addresses``."""
    number = float(got[place])
    if not 0 <= number < 200:  # NaN is not either
        return ""
    batch, seq, channel = int(number) // 100, int(number) // 10 % 10, int(number) % 10
    if number != 100 * batch + 10 * seq + channel or seq > 3 or channel > 5:
        return ""
    return f"What came is channel {channel} of token {seq} in sequence {batch}."


def forward_examples() -> list[ForwardExample]:
    """One, two and three tokens; the three tokens in 2, 1 and 4 heads with the same four matrices."""
    return [*layer_examples.forward_examples(), *(three_tokens(heads) for heads in (2, 1, 4))]


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


def three_tokens(heads: int) -> ForwardExample:
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
        name="three tokens with C = 8 and the causal mask",
        x=np.array([tokens]),
        params={name: np.eye(8) for name in MATRICES},
        heads=heads,
        allowed=np.tri(3, dtype=bool),
        y=y,
        joined=y,
        hint=f"Each head has scores of its own: their shape is (B, H, T, T) = (1, {heads}, 3, 3). "
        "The four matrices hold 4*C*C = 256 parameters, in however many heads.",
    )
