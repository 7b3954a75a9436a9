"""Batch and heads become one axis, as many implementations have it: (B*H, T, d)."""

import math
from functools import partial

import numpy as np

from autodiff.functions import keep
from autodiff.layers import Composite, Layer, Linear, Softmax
from autodiff.model import Model
from autodiff.tensor import Tensor


class CausalMask(Layer):
    def forward(self, x):
        places = np.arange(x.shape[-1])
        return keep(x, places[:, None] >= places)


class MultiHeadAttention(Composite):
    def __init__(self, d_model, heads, rng):
        super().__init__()
        if heads not in [n for n in range(1, d_model + 1) if d_model % n == 0]:
            raise ValueError(heads)
        self.heads = heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, Linear(d_model, d_model, rng))
        self.after_mask = Composite(CausalMask(), Softmax())

    def fold(self, x):
        batch, seq, d_model = x.shape
        x = x.reshape(batch, seq, self.heads, d_model // self.heads).transpose(0, 2, 1, 3)
        return x.reshape(batch * self.heads, seq, d_model // self.heads)

    def unfold(self, x):
        many, seq, d_head = x.shape
        x = x.reshape(many // self.heads, self.heads, seq, d_head).transpose(0, 2, 1, 3)
        return x.reshape(many // self.heads, seq, self.heads * d_head)

    def forward(self, x):
        q, k, v = map(self.fold, (self.query(x), self.key(x), self.value(x)))
        k = k * (1 / math.sqrt(k.shape[-1]))
        shares = self.after_mask(q @ k.swapaxes(1, 2))
        self.weights = shares.data.reshape(-1, self.heads, *shares.shape[1:])
        return self.output(self.unfold(shares @ v))


def build_gpt(vocabulary, heads, rng):
    def attention(heads, d_model, rng):
        return MultiHeadAttention(d_model, heads, rng)

    return Model(vocabulary, make_attention=partial(attention, heads), seed=rng)
