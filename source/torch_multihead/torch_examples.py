"""The examples of the visible checks: calls that can be followed by hand, and what comes of them.

Nothing here computes an answer: the numbers are written down, in float64. NumPy is all that it takes.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import layer_examples
import numpy_numbers

Array = NDArray[Any]

LOG_3 = 1.0986122886681098
#: What "Orange" looks at in "Orange is my favorite fruit".
ORANGE = (0.21, 0.03, 0.05, 0.31, 0.40)
NO_BIAS = np.zeros(2)


class AttentionExample(NamedTuple):
    """One call of ``compute_attention`` in a module with ``heads`` heads, and what it returns.

    ``query`` and ``out`` have the shape (B, H, T, d), ``key`` and ``value`` (B, H, S, d).
    """

    name: str
    heads: int
    query: Array
    key: Array
    value: Array
    mask: Array | None
    out: Array
    hint: str


class ForwardExample(NamedTuple):
    """One call of a module with the matrices ``params``, used as x @ w, and what it returns."""

    name: str
    heads: int
    params: dict[str, Array]
    bias: Array
    query: Array
    key: Array
    value: Array
    mask: Array | None
    y: Array
    hint: str


def attention_examples() -> list[AttentionExample]:
    """Two keys, the row of "Orange", masks of three shapes and kinds, and two heads under the causal mask."""
    return [_two_keys(), _orange(), *_masks(), _two_heads()]


def forward_examples() -> list[ForwardExample]:
    """One token, without and with a bias, two tokens, the numbers of the NumPy lesson, and two sequences."""
    one_token, two_tokens = layer_examples.forward_examples()
    return [
        _self_attention(one_token),
        _self_attention(one_token)._replace(
            name="x = [[[1, 2]]] with output.bias = [10, 20]",
            bias=np.array([10.0, 20.0]),
            y=np.array([[[12.0, 26.0]]]),
            hint="The output layer adds its bias at the very end.",
        ),
        _self_attention(two_tokens),
        _numbers_of_numpy(),
        _cross_attention(),
    ]


def weights_of_numpy() -> Array:
    """The weights in ``numpy_numbers``, (H, T, T): a row for each query."""
    return np.array(
        [
            [[1.0, 0.0, 0.0], [0.587479, 0.412521, 0.0], [0.023005, 0.691348, 0.285648]],
            [[1.0, 0.0, 0.0], [0.698400, 0.301600, 0.0], [0.091316, 0.076519, 0.832165]],
        ]
    )


def _two_keys() -> AttentionExample:
    return AttentionExample(
        name="one query and two keys with the scores log 3 and 0",
        heads=1,
        query=np.array([[[[2.0, 0.0, 0.0, 0.0]]]]),
        key=np.array([[[[LOG_3, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]]]),
        value=np.array([[[[4.0, 0.0, 0.0, 0.0], [0.0, 8.0, 0.0, 0.0]]]]),
        mask=None,
        out=np.array([[[[3.0, 2.0, 0.0, 0.0]]]]),
        hint="Query times key is [2*log 3, 0]; divided by sqrt(4) it is [log 3, 0], so the weights are "
        "[0.75, 0.25].",
    )


def _orange() -> AttentionExample:
    key = np.zeros((1, 1, 5, 5))
    key[..., 0] = np.log(ORANGE)
    return AttentionExample(
        name='the query "Orange" over five words',
        heads=1,
        query=np.array([[[[5**0.5, 0.0, 0.0, 0.0, 0.0]]]]),
        key=key,
        value=np.eye(5).reshape(1, 1, 5, 5),
        mask=None,
        out=np.array([[[ORANGE]]]),
        hint="Each value has a one at a place of its own, so what is gathered is the row of weights.",
    )


def _masks() -> list[AttentionExample]:
    """All scores are 0, so that what is gathered is the mean of the values that may be looked at."""
    size = np.array([[1.0, 10.0], [100.0, 1000.0]]).reshape(2, 2, 1, 1)  # of the values, by batch and head
    example = AttentionExample(
        name="all scores 0, values 1, 2 and 6 (times 10 in head 1, times 100 in sequence 1), a mask of 0 and "
        "1 for all heads of all sequences, of the shape (2, 3)",
        heads=2,
        query=np.zeros((2, 2, 2, 1)),
        key=np.ones((2, 2, 3, 1)),
        value=size * np.array([[1.0], [2.0], [6.0]]),
        mask=np.array([[1, 0, 1], [0, 1, 1]]),
        out=size * np.array([[3.5], [4.0]]),
        hint="With equal scores the answer is the mean of the values that the mask leaves: of 1 and 6, and "
        "of 2 and 6.",
    )
    for_each_sequence = example._replace(
        name="the same with a mask of booleans for each sequence, of the shape (2, 1, 2, 3)",
        mask=np.array([[[1, 0, 0], [1, 1, 0]], [[1, 1, 1], [0, 0, 1]]], dtype=bool).reshape(2, 1, 2, 3),
        out=size * np.array([[[1.0], [1.5]], [[3.0], [6.0]]]).reshape(2, 1, 2, 1),
        hint="A mask of the shape (B, 1, T, S) serves all heads of a sequence: let it broadcast.",
    )
    for_each_head = example._replace(
        name="the same with a mask for each head, of the shape (2, 2, 2, 3)",
        mask=np.array(
            [
                [[[1, 0, 0], [0, 1, 0]], [[0, 0, 1], [1, 1, 1]]],
                [[[1, 1, 0], [0, 1, 1]], [[1, 0, 1], [1, 1, 0]]],
            ]
        ),
        out=size * np.array([[[[1.0], [2.0]], [[6.0], [3.0]]], [[[1.5], [4.0]], [[3.5], [1.5]]]]),
        hint="A mask of the shape (B, H, T, S) says for each head by itself where it may look.",
    )
    return [example, for_each_sequence, for_each_head]


def _two_heads() -> AttentionExample:
    """The same four channels for queries, keys and values; the heads are narrower than the whole."""
    x = np.array([[[[1.0, 2.0], [0.0, 1.0], [-1.0, 1.0]], [[2.0, 0.0], [1.0, 0.0], [1.0, -1.0]]]])
    return AttentionExample(
        name="three tokens in two heads under the causal mask",
        heads=2,
        query=x,
        key=x,
        value=x,
        mask=np.tri(3),
        out=np.array(
            [
                [
                    [[1.0, 2.0], [0.669762, 1.669762], [-0.255235, 1.248255]],
                    [[2.0, 0.0], [1.669762, 0.0], [1.401112, -0.401112]],
                ]
            ]
        ),
        hint="Each head is 2 numbers wide, of d_model = 4: which of the two sizes goes under the root?",
    )


def _self_attention(example: layer_examples.ForwardExample) -> ForwardExample:
    """An example of the NumPy lessons, in which query, key and value come from one sequence."""
    return ForwardExample(
        name=example.name,
        heads=example.heads,
        params=example.params,
        bias=NO_BIAS,
        query=example.x,
        key=example.x,
        value=example.x,
        mask=example.allowed,
        y=example.y,
        hint=example.hint,
    )


def _numbers_of_numpy() -> ForwardExample:
    return ForwardExample(
        name="the three tokens of numpy_numbers.py in two heads under the causal mask",
        heads=numpy_numbers.HEADS,
        params=numpy_numbers.PARAMS,
        bias=np.zeros(4),
        query=numpy_numbers.X,
        key=numpy_numbers.X,
        value=numpy_numbers.X,
        mask=numpy_numbers.ALLOWED,
        y=numpy_numbers.Y,
        hint="Here the four matrices and the two heads all differ: which layer projects what, and does the "
        "mask reach compute_attention? If the check of that one does not pass yet, begin there.",
    )


def _cross_attention() -> ForwardExample:
    return ForwardExample(
        name="one query over two keys with values of their own",
        heads=1,
        params=layer_examples.small_params(),
        bias=NO_BIAS,
        query=np.array([[[2**0.5 * LOG_3, 0.0]]]),
        key=np.array([[[1.0, 0.0], [0.0, 1.0]]]),
        value=np.array([[[4.0, 0.0], [0.0, 8.0]]]),
        mask=None,
        y=np.array([[[6.0, 10.0]]]),
        hint="The weights are [0.75, 0.25], so [6, 4] is gathered of the doubled values; times wo it is "
        "[6, 10]. The query's sequence has one token, that of keys and values has two.",
    )
