"""Reference for ``gpt``: attention with several heads on the core's tensors, and the model with it."""

import math

import numpy as np

from autodiff.layers import Composite, Layer, Linear, Softmax
from autodiff.model import Model
from autodiff.tensor import Array, Tensor, record

#: What stands where a query may not look: so little that nothing of it is left after the softmax.
FORBIDDEN = -1e9


class CausalMask(Layer):
    """Lets every place look at itself and at what came before."""

    def forward(self, x: Tensor) -> Tensor:
        r"""Scores (..., seq, seq) -> the same, with ``FORBIDDEN`` above the diagonal.

        $$ dx_{ij} = dy_{ij} \text{ where } j \le i, \qquad 0 \text{ elsewhere} $$

        >>> CausalMask()(Tensor(np.zeros((4, 2, 3, 3)))).data[0, 0].tolist()
        [[0.0, -1000000000.0, -1000000000.0], [0.0, 0.0, -1000000000.0], [0.0, 0.0, 0.0]]
        """
        allowed = np.tri(x.shape[-1], dtype=bool)
        result = np.where(allowed, x.data, x.data.dtype.type(FORBIDDEN))

        def pull_back(grad: Array) -> tuple[Array]:
            return (np.where(allowed, grad, grad.dtype.type(0)),)

        return record(result, (x,), pull_back)


class MultiHeadAttention(Composite):
    """Attention in which every head reads the context in a way of its own.

    Args:
        d_model: the length of a vector; a multiple of ``heads``.
        heads: how many parts it is divided into, each with its own weights.
        rng: where the first parameters come from.

    Raises ValueError where ``heads`` does not divide ``d_model``.

    >>> layer = MultiHeadAttention(64, 2, np.random.default_rng(0))
    >>> layer(Tensor(np.ones((4, 32, 64), dtype=np.float32))).shape
    (4, 32, 64)
    """

    def __init__(self, d_model: int, heads: int, rng: np.random.Generator):
        super().__init__()
        if heads < 1 or d_model % heads:
            raise ValueError(f"{heads} heads cannot share {d_model} numbers evenly.")
        self.heads = heads
        self.query = Linear(d_model, d_model, rng)
        self.key = Linear(d_model, d_model, rng)
        self.value = Linear(d_model, d_model, rng)
        self.mask = CausalMask()
        self.softmax = Softmax()
        self.output = Linear(d_model, d_model, rng)
        #: The last weights, (batch, heads, seq, seq): a row for each query.
        self.weights: Array | None = None

    def forward(self, x: Tensor) -> Tensor:
        """(batch, seq, d_model) -> (batch, seq, d_model)."""
        q, k, v = self._split(self.query(x)), self._split(self.key(x)), self._split(self.value(x))
        scores = (q * (1 / math.sqrt(q.shape[-1]))) @ k.swapaxes(-1, -2)
        weights = self.softmax(self.mask(scores))
        self.weights = weights.data
        joined = (weights @ v).transpose(0, 2, 1, 3).reshape(*x.shape)
        return self.output(joined)

    def _split(self, x: Tensor) -> Tensor:
        """(batch, seq, d_model) -> (batch, heads, seq, d_head)."""
        batch, seq, d_model = x.shape
        return x.reshape(batch, seq, self.heads, d_model // self.heads).transpose(0, 2, 1, 3)


def build_gpt(vocabulary: int, heads: int, rng: np.random.Generator) -> Model:
    """The lesson's model, with several heads in the attention layer of each block.

    Args:
        vocabulary: how many different characters there are.
        heads: into how many parts the attention layers divide a vector.
        rng: where the first numbers of all parameters come from.

    >>> model = build_gpt(65, 2, np.random.default_rng(42))
    >>> model(np.zeros((4, 32), dtype=int)).shape, model.count()
    ((4, 32, 65), 109889)
    """

    def make_attention(d_model: int, rng: np.random.Generator) -> Layer:
        return MultiHeadAttention(d_model, heads, rng)

    return Model(vocabulary, make_attention=make_attention, seed=rng)
