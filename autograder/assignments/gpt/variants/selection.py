"""Nothing is cut: a head is what is left when the other heads' channels are multiplied by 0."""

import numpy as np

from autodiff.layers import Composite, Layer, Linear, Softmax
from autodiff.model import Model
from autodiff.tensor import Tensor, record


class CausalMask(Layer):
    def __init__(self):
        self.triangles = {}

    def triangle(self, seq):
        if seq not in self.triangles:
            self.triangles[seq] = np.greater_equal.outer(np.arange(seq), np.arange(seq))
        return self.triangles[seq]

    def forward(self, x):
        seen = self.triangle(x.shape[-1])
        y = np.full_like(x.data, -1e9)
        np.copyto(y, x.data, where=seen)
        return record(y, (x,), lambda g: (np.multiply(g, seen, dtype=g.dtype),))


class MultiHeadAttention(Composite):
    def __init__(self, d_model, heads, rng):
        super().__init__()
        if type(heads) is not int or heads < 1 or d_model % heads > 0:
            raise ValueError(heads)
        self.query = Linear(d_model, d_model, rng)
        self.key = Linear(d_model, d_model, rng)
        self.value = Linear(d_model, d_model, rng)
        self.output = Linear(d_model, d_model, rng)
        self.owner = np.arange(d_model) // (d_model // heads)
        self.mask = CausalMask()
        self.softmax = Softmax()

    def forward(self, x):
        batch, seq, d_model = x.shape
        heads = self.owner[-1] + 1
        mine = (np.arange(heads)[:, None, None] == self.owner).astype(x.data.dtype)
        q, k, v = (part(x).reshape(batch, 1, seq, d_model) for part in (self.query, self.key, self.value))
        root = float(np.sqrt(d_model // heads))
        weights = self.softmax(self.mask((q * Tensor(mine)) @ k.swapaxes(2, 3) / root))
        self.weights = weights.data
        return self.output((weights @ (v * mine)).sum(axis=1))


def build_gpt(vocabulary, heads, rng):
    layers = []

    def make_attention(d_model, source):
        layers.append(MultiHeadAttention(d_model, heads, source))
        return layers[-1]

    return Model(vocabulary, make_attention=make_attention, seed=rng)
