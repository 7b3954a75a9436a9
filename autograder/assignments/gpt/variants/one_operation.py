"""Attention as one recorded operation, with its way back written by hand in einsum."""

import numpy as np

from autodiff.layers import Composite, Layer, Linear
from autodiff.model import Model
from autodiff.tensor import Tensor, record


class CausalMask(Layer):
    def forward(self, x):
        tri = np.tri(x.shape[-1], dtype=x.data.dtype)
        return record(
            x.data * tri + (1 - tri) * x.data.dtype.type(-1e9), (x,), lambda dy: (dy * tri.astype(dy.dtype),)
        )


def attention(q, k, v):
    """(B, T, H, d) three times -> (B, T, H, d), and the weights."""
    scale = q.data.dtype.type(1 / np.sqrt(q.shape[-1]))
    s = np.einsum("bqhd,bkhd->bhqk", q.data, k.data) * scale
    s = CausalMask()(Tensor(s)).data
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)

    def pull_back(dy):
        dw = np.einsum("bqhd,bkhd->bhqk", dy, v.data)
        ds = w * (dw - np.einsum("bhqk,bhqk->bhq", w, dw)[..., None]) * scale
        return (
            np.einsum("bhqk,bkhd->bqhd", ds, k.data),
            np.einsum("bhqk,bqhd->bkhd", ds, q.data),
            np.einsum("bhqk,bqhd->bkhd", w, dy),
        )

    return record(np.einsum("bhqk,bkhd->bqhd", w, v.data), (q, k, v), pull_back), w


class MultiHeadAttention(Composite):
    def __init__(self, d_model, heads, rng):
        super().__init__()
        if heads < 1:
            raise ValueError("too few heads")
        self.d_head, rest = divmod(d_model, heads)
        if rest:
            raise TypeError("heads must divide d_model")
        self.query = Linear(d_model, d_model, rng)
        self.key = Linear(d_model, d_model, rng)
        self.value = Linear(d_model, d_model, rng)
        self.output = Linear(d_model, d_model, rng)

    def forward(self, x):
        B, T, C = x.shape
        parts = (layer(x).reshape(B, T, -1, self.d_head) for layer in (self.query, self.key, self.value))
        y, self.weights = attention(*parts)
        return self.output(y.reshape(B, T, C))


class build_gpt(Model):  # noqa: N801
    def __init__(self, vocabulary, heads, rng):
        super().__init__(vocabulary, make_attention=lambda d, r: MultiHeadAttention(d, heads, r), seed=rng)
