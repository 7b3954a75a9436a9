"""The softmax is put together of small operations of one's own, and the layer is no Composite."""

import numpy as np

from autodiff.layers import Layer, Linear
from autodiff.model import Model
from autodiff.tensor import Tensor, record


def exponential(x):
    y = np.exp(x.data)
    return record(y, (x,), lambda grad: (grad * y,))


def where(allowed, x, other):
    return record(
        np.where(allowed, x.data, np.asarray(other, x.data.dtype)),
        (x,),
        lambda grad: (np.where(allowed, grad, np.zeros((), grad.dtype)),),
    )


class CausalMask(Layer):
    def forward(self, x):
        rows, columns = np.indices(x.shape[-2:])
        return where(columns <= rows, x, -1_000_000_000)


class MultiHeadAttention(Layer):
    def __init__(self, d_model, heads, rng):
        if heads < 1 or d_model / heads != d_model // heads:
            raise ValueError("heads")
        self.heads = heads
        self.query = Linear(d_model, d_model, rng)
        self.key = Linear(d_model, d_model, rng)
        self.value = Linear(d_model, d_model, rng)
        self.output = Linear(d_model, d_model, rng)

    def split(self, x):
        return x.reshape(*x.shape[:2], self.heads, x.shape[2] // self.heads).swapaxes(1, 2)

    def forward(self, x):
        q, k, v = [self.split(one(x)) for one in (self.query, self.key, self.value)]
        scores = CausalMask().forward(q @ k.swapaxes(-2, -1) / np.sqrt(q.shape[-1]))
        powers = exponential(scores - scores.data.max(axis=-1, keepdims=True))
        weights = powers / powers.sum(axis=-1, keepdims=True)
        self.weights = weights.data
        return self.output.forward((weights @ v).swapaxes(1, 2).reshape(*x.shape))


def build_gpt(vocabulary, heads, rng):
    return Model(
        vocabulary,
        make_attention=lambda d_model, numbers: MultiHeadAttention(d_model, heads, numbers),
        seed=rng,
    )
