"""Axes in an order of one's own: heads first, (H, B, T, d), and decorated functions."""

import functools

import numpy as np

from autodiff.layers import Composite, Layer, Linear, Softmax
from autodiff.model import Model
from autodiff.tensor import Tensor, record


def operation(function):
    """Make an operation on arrays, which returns an answer and its way back, one on tensors."""

    @functools.wraps(function)
    def on_tensors(*tensors):
        answer, back = function(*(one.data for one in tensors))
        return record(answer, tensors, lambda grad: (back(grad),))

    return on_tensors


@operation
def hide_later(scores):
    T = scores.shape[-1]
    seen = np.array([[key <= query for key in range(T)] for query in range(T)])
    return np.where(seen, scores, scores.dtype.type(-1e9)), lambda grad: np.where(
        seen, grad, grad.dtype.type(0)
    )


class CausalMask(Layer):
    def forward(self, x):
        return hide_later(x)


class MultiHeadAttention(Composite):
    weights: np.ndarray

    def __init__(self, d_model, heads, rng):
        super().__init__()
        if heads < 1 or d_model % heads:
            raise ValueError("no such heads")
        self.query, self.key = Linear(d_model, d_model, rng), Linear(d_model, d_model, rng)
        self.value, self.output = Linear(d_model, d_model, rng), Linear(d_model, d_model, rng)
        self.heads = heads

    def forward(self, x):
        batch, seq, d_model = x.shape
        d_head = d_model // self.heads
        order = (2, 0, 1, 3)
        q, k, v = (
            getattr(self, name)(x).reshape(batch, seq, self.heads, d_head).transpose(*order)
            for name in ("query", "key", "value")
        )
        weights = Softmax()(CausalMask()((q / d_head**0.5) @ k.transpose(0, 1, 3, 2)))
        self.weights = weights.data.swapaxes(0, 1).copy()
        return self.output((weights @ v).transpose(1, 2, 0, 3).reshape(batch, seq, d_model))


@functools.wraps(Model)
def build_gpt(vocabulary, heads, rng):
    return Model(
        vocabulary, seed=rng, make_attention=lambda *args: MultiHeadAttention(args[0], heads, args[1])
    )
