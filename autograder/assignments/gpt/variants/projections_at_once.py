"""Queries, keys and values come from one product with the three weights side by side."""

import numpy as np

from autodiff.functions import softmax
from autodiff.layers import Composite, Layer, Linear
from autodiff.model import Model
from autodiff.tensor import Tensor, record


class CausalMask(Layer):
    def forward(self, x):
        T = x.shape[-1]
        index = np.tril_indices(T)
        y = np.full(x.shape, -1e9, dtype=x.data.dtype)
        y[(..., *index)] = x.data[(..., *index)]

        def pull_back(dy):
            dx = np.zeros(dy.shape, dtype=dy.dtype)
            dx[(..., *index)] = dy[(..., *index)]
            return (dx,)

        return record(y, (x,), pull_back)


def joined(tensors):
    sizes = [one.shape[-1] for one in tensors]
    starts = [sum(sizes[:i]) for i in range(len(sizes))]

    def pull_back(grad):
        return tuple(grad[..., a : a + n] for a, n in zip(starts, sizes, strict=True))

    return record(np.concatenate([one.data for one in tensors], axis=-1), tensors, pull_back)


class MultiHeadAttention(Composite):
    def __init__(self, d_model, heads, rng):
        super().__init__()
        if heads < 1 or d_model % heads:
            raise ValueError("heads")
        self.heads = heads
        self.query = Linear(d_model, d_model, rng)
        self.key = Linear(d_model, d_model, rng)
        self.value = Linear(d_model, d_model, rng)
        self.output = Linear(d_model, d_model, rng)
        self.mask = CausalMask()

    def forward(self, x):
        parts = (self.query, self.key, self.value)
        weight, bias = joined([p.weight for p in parts]), joined([p.bias for p in parts])
        batch, seq, width = x.shape
        qkv = (x @ weight + bias).reshape(batch, seq, 3, self.heads, width // self.heads)
        qkv = qkv.transpose(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        weights = softmax(self.mask((q @ k.swapaxes(-1, -2)) * (width // self.heads) ** -0.5))
        self.weights = weights.data
        y = (weights @ v).transpose(0, 2, 1, 3).reshape(batch, seq, width)
        return y @ self.output.weight + self.output.bias


def build_gpt(vocabulary, heads, rng):
    attention = type("Attention", (MultiHeadAttention,), {"forward": MultiHeadAttention.forward})
    return Model(vocabulary, make_attention=lambda width, rng: attention(width, heads, rng), seed=rng)
