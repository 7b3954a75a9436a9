"""The examples of attention by itself, and of the token that plays three roles.

Nothing here computes an answer: the numbers are written down. Those with six decimals are rounded.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from layer_examples import ForwardExample

Array = NDArray[Any]

LOG_3 = 1.0986122886681098
#: What the last of the tokens with three roles gathers, and what becomes of it: it may look at all others.
LAST_OUT = [0.786986, 0.319521, 0, 0.213014]
LAST_Y = [1, 0.319521, 0, 0.213014]


class AttentionExample(NamedTuple):
    """One call of ``attention``, and one of ``attention_backward`` after it, with what they return.

    ``axes`` are the names of the axes of q, the leading ones included.
    """

    name: str
    axes: str
    q: Array
    k: Array
    v: Array
    allowed: NDArray[np.bool_]
    weights: Array
    out: Array
    dout: Array
    grads: dict[str, Array]
    hint: str
    backward_hint: str


def attention_examples() -> list[AttentionExample]:
    """One key, two keys, three tokens under the causal mask in a batch, and scores of 10000."""
    return [_one_key(), _two_keys(), _three_tokens(), _large_scores()]


def three_roles() -> list[ForwardExample]:
    """Three tokens, each of which asks for the next, answers to the one before, and brings something else.

    At first all may look at all, then each token at itself and those before it.
    """
    all_allowed = ForwardExample(
        name="three tokens with three roles",
        x=np.array([[[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]]], dtype=float),
        params=_roles(),
        allowed=np.ones((3, 3), dtype=bool),
        y=np.array([[[1.680479, 0.319521, 0, 1.573972], [0.319521, 2.360958, 0, 0.213014], LAST_Y]]),
        joined=np.array([[[0.106507, 0.319521, 0, 1.573972], [0.106507, 2.360958, 0, 0.213014], LAST_OUT]]),
        hint="Token 0 asks for what token 1 answers, token 1 for token 2, token 2 for token 0: the weights "
        "are 0.787 there and 0.107 elsewhere.",
    )
    causal = all_allowed._replace(
        name="three tokens with three roles under the causal mask",
        allowed=np.tri(3, dtype=bool),
        y=np.array([[[1, 0, 0, 0], [1.5, 0, 0, 1], LAST_Y]]),
        joined=np.array([[[1, 0, 0, 0], [0.5, 0, 0, 1], LAST_OUT]]),
        hint="Token 0 has nobody but itself, and token 1 cannot see whom it asks for.",
    )
    return [all_allowed, causal]


def weights_of_three_roles() -> Array:
    """Who listens to whom in the example with three roles."""
    strong, weak = 0.786986, 0.106507
    return np.array([[weak, strong, weak], [weak, weak, strong], [strong, weak, weak]])


def _roles() -> dict[str, Array]:
    """What each channel of x asks for, answers and brings, and how that is mixed in the end."""
    matrices = {
        "wq": [[0, 2, 0, 0], [0, 0, 2, 0], [2, 0, 0, 0], [0, 0, 0, 0]],
        "wk": [[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0]],
        "wv": [[1, 0, 0, 0], [0, 0, 0, 2], [0, 3, 0, 0], [0, 0, 0, 0]],
        "wo": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1]],
    }
    return {name: np.array(matrix, dtype=float) for name, matrix in matrices.items()}


def _one_key() -> AttentionExample:
    return AttentionExample(
        name="one query and one key",
        axes="seq d",
        q=np.array([[1.0, 2.0]]),
        k=np.array([[3.0, 4.0]]),
        v=np.array([[5.0, 6.0]]),
        allowed=np.array([[True]]),
        weights=np.array([[1.0]]),
        out=np.array([[5.0, 6.0]]),
        dout=np.array([[7.0, 8.0]]),
        grads={"q": np.zeros((1, 2)), "k": np.zeros((1, 2)), "v": np.array([[7.0, 8.0]])},
        hint="With one key its weight is 1, so its value is the answer.",
        backward_hint="The weight of a single key cannot change: nothing flows back to query and key.",
    )


def _two_keys() -> AttentionExample:
    return AttentionExample(
        name="one query and two keys with the scores log 3 and 0",
        axes="seq d",
        q=np.array([[2.0, 0.0, 0.0, 0.0]]),
        k=np.array([[LOG_3, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]),
        v=np.array([[4.0, 0.0, 0.0, 0.0], [0.0, 8.0, 0.0, 0.0]]),
        allowed=np.array([[True, True]]),
        weights=np.array([[0.75, 0.25]]),
        out=np.array([[3.0, 2.0, 0.0, 0.0]]),
        dout=np.array([[1.0, 1.0, 0.0, 0.0]]),
        grads={
            "q": np.array([[-0.411980, 0.375, 0.0, 0.0]]),
            "k": np.array([[-0.75, 0.0, 0.0, 0.0], [0.75, 0.0, 0.0, 0.0]]),
            "v": np.array([[0.75, 0.75, 0.0, 0.0], [0.25, 0.25, 0.0, 0.0]]),
        },
        hint="q @ k.T is [2*log 3, 0]; divided by sqrt(4) it is [log 3, 0], so the weights are [0.75, 0.25].",
        backward_hint="By hand: dW = [4, 8]; the sum of W*dW is 5; dS = [0.75*(4-5), 0.25*(8-5)] = "
        "[-0.75, 0.75], which is divided by sqrt(4) on its way to q and k.",
    )


def _three_tokens() -> AttentionExample:
    """The same array for queries, keys and values, in a batch of one sequence."""
    x = np.array([[[1.0, 2.0], [0.0, 1.0], [-1.0, 1.0]]])
    return AttentionExample(
        name="a batch of one sequence of three tokens, causal mask",
        axes="batch seq d",
        q=x,
        k=x,
        v=x,
        allowed=np.tri(3, dtype=bool),
        weights=np.array([[[1.0, 0.0, 0.0], [0.669762, 0.330238, 0.0], [0.248255, 0.248255, 0.503490]]]),
        out=np.array([[[1.0, 2.0], [0.669762, 1.669762], [-0.255235, 1.248255]]]),
        dout=np.array([[[1.0, 0.0], [0.0, 2.0], [1.0, -1.0]]]),
        grads={
            "q": np.array([[[0.0, 0.0], [0.312797, 0.312797], [0.265152, 0.088384]]]),
            "k": np.array([[[-0.088384, 0.401181], [-0.088384, -0.224413], [0.176768, -0.176768]]]),
            "v": np.array([[[1.248255, 1.091268], [0.248255, 0.412222], [0.503490, -0.503490]]]),
        },
        hint="Row t of the weights is zero behind place t: the mask hides what comes later.",
        backward_hint="Rows of dS belong to queries, columns to keys: dK and dV need their table transposed.",
    )


def _large_scores() -> AttentionExample:
    zeros = np.zeros((3, 1))
    return AttentionExample(
        name="scores of 10000, -10000 and 5000",
        axes="seq d",
        q=np.array([[100.0], [-100.0]]),
        k=np.array([[100.0], [-100.0], [50.0]]),
        v=np.array([[1.0], [2.0], [9.0]]),
        allowed=np.array([[True, True, True], [True, True, False]]),
        weights=np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
        out=np.array([[1.0], [2.0]]),
        dout=np.array([[1.0], [1.0]]),
        grads={"q": zeros[:2], "k": zeros, "v": np.array([[1.0], [1.0], [0.0]])},
        hint="np.exp(10000.0) is infinity: what can be subtracted from all scores of a row without changing "
        "its weights?",
        backward_hint="The weights are 0 or 1 here, so no score changes anything.",
    )
