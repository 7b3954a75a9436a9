"""Many small layers, one for each step, chained by Composite."""

import math

import numpy as np

from autodiff.layers import Composite, Layer, Linear, Softmax
from autodiff.model import Model
from autodiff.tensor import Tensor, record


class CausalMask(Layer):
    def forward(self, x):
        allowed = np.broadcast_to(np.tril(np.ones(x.shape[-2:])) == 1, x.shape)
        result = np.array(x.data)
        result[~allowed] = -1e9
        return record(result, (x,), self._back(allowed))

    @staticmethod
    def _back(allowed):
        def pull_back(grad):
            grad = grad.copy()
            grad[~allowed] = 0.0
            return (grad,)

        return pull_back


class Split(Layer):
    def __init__(self, heads):
        self.heads = heads

    def forward(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.heads, -1).transpose(0, 2, 1, 3)


class Merge(Layer):
    def forward(self, x):
        batch, heads, seq, d_head = x.shape
        return x.transpose(0, 2, 1, 3).reshape(batch, seq, heads * d_head)


class Weights(Composite):
    def __init__(self):
        super().__init__(CausalMask(), Softmax())

    def forward(self, pair):
        q, k = pair
        return super().forward((q @ k.transpose(0, 1, 3, 2)) * math.pow(q.shape[-1], -0.5))


class MultiHeadAttention(Composite):
    def __init__(self, d_model, heads, rng):
        super().__init__()
        self._check(d_model, heads)
        self.query = Linear(d_model, d_model, rng)
        self.key = Linear(d_model, d_model, rng)
        self.value = Linear(d_model, d_model, rng)
        self.output = Linear(d_model, d_model, rng)
        self.split, self.merge, self.listen = Split(heads), Merge(), Weights()
        self.weights = None

    @staticmethod
    def _check(d_model, heads):
        if heads <= 0 or d_model % heads:
            raise ValueError("heads must divide d_model")

    def forward(self, x):
        q, k, v = (self.split(layer(x)) for layer in [self.query, self.key, self.value])
        shares = self.listen((q, k))
        self.weights = shares.data
        return self.output(self.merge(shares @ v))


class Attentions:
    def __init__(self, heads):
        self.heads = heads

    def __call__(self, d_model, rng):
        return MultiHeadAttention(d_model, self.heads, rng)


def build_gpt(vocabulary, heads, rng):
    return Model(vocabulary, make_attention=Attentions(heads), seed=rng)
