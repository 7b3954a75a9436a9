"""A loop over the heads: each gets its slice of the channels, and the answers are put side by side."""

import numpy as np

from autodiff.layers import Composite, Layer, Linear, Softmax
from autodiff.model import Model
from autodiff.tensor import Tensor, record


class CausalMask(Layer):
    def forward(self, x):
        answer = x.data.copy()
        for query in range(x.shape[-1]):
            answer[..., query, query + 1 :] = -1e9

        def pull_back(grad):
            back = np.zeros_like(grad)
            for query in range(x.shape[-1]):
                back[..., query, : query + 1] = grad[..., query, : query + 1]
            return [back]

        return record(answer, [x], pull_back)


def side_by_side(tensors):
    ends = np.cumsum([one.shape[-1] for one in tensors])[:-1]
    whole = np.concatenate([one.data for one in tensors], axis=-1)
    return record(whole, tensors, lambda grad: list(np.split(grad, ends, axis=-1)))


class MultiHeadAttention(Composite):
    def __init__(self, d_model, heads, rng):
        super().__init__()
        if not 0 < heads <= d_model or d_model % heads:
            raise ValueError(f"{d_model} channels are not for {heads} heads")
        self.heads = heads
        self.query, self.key, self.value, self.output = (Linear(d_model, d_model, rng) for _ in range(4))

    def forward(self, x):
        d = x.shape[-1] // self.heads
        q, k, v = self.query(x), self.key(x), self.value(x)
        found, tables = [], []
        for head in range(self.heads):
            mine = (..., slice(head * d, (head + 1) * d))
            scores = q[mine] @ k[mine].swapaxes(-1, -2) * d**-0.5
            weights = Softmax()(CausalMask()(scores))
            found.append(weights @ v[mine])
            tables.append(weights.data)
        self.weights = np.stack(tables, axis=1)
        return self.output(side_by_side(found))


def build_gpt(vocabulary, heads, rng):
    def make(d_model, rng):
        return MultiHeadAttention(d_model=d_model, heads=heads, rng=rng)

    return Model(vocabulary, make_attention=make, context=32, d_model=64, blocks=2, seed=rng)
