"""Keys are brought straight to (B, H, d, T), and the scores are scaled after their product."""

import numpy as np

from autodiff.layers import Composite, Layer, Linear, Softmax
from autodiff.model import Model
from autodiff.tensor import Tensor, record


class CausalMask(Layer):
    def forward(self, x):
        later = np.triu(np.ones(x.shape[-2:], dtype=bool), k=1)
        masked = x.data.copy()
        masked[..., later] = -1e9

        def pull_back(dy):
            dx = dy.copy()
            dx[..., later] = 0
            return (dx,)

        return record(masked, (x,), pull_back)


class MultiHeadAttention(Composite):
    def __init__(self, d_model, heads, rng):
        super().__init__()
        if heads <= 0:
            raise ValueError("heads must be positive")
        if d_model % heads != 0:
            raise ValueError("heads must divide d_model")
        self.heads, self.d_head = heads, d_model // heads
        self.query = Linear(d_model, d_model, rng)
        self.key = Linear(d_model, d_model, rng)
        self.value = Linear(d_model, d_model, rng)
        self.output = Linear(d_model, d_model, rng)
        self.mask, self.softmax = CausalMask(), Softmax()

    def forward(self, x):
        B, T, C = x.shape
        cut = (B, T, self.heads, self.d_head)
        q = self.query(x).reshape(*cut).transpose(0, 2, 1, 3)
        k = self.key(x).reshape(*cut).transpose(0, 2, 3, 1)
        v = self.value(x).reshape(*cut).transpose(0, 2, 1, 3)
        w = self.softmax(self.mask(q @ k / self.d_head**0.5))
        self.weights = np.array(w.data)
        return self.output((w @ v).transpose(0, 2, 1, 3).reshape(B, T, C))


def build_gpt(vocabulary, heads, rng):
    return Model(vocabulary, make_attention=lambda d, r: MultiHeadAttention(d, heads, r), seed=rng)
