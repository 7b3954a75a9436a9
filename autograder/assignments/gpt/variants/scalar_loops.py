"""Loops over every number, forward and back, as one would do it by hand."""

import math

import numpy as np

from autodiff.layers import Composite, Layer, Linear
from autodiff.model import Model
from autodiff.tensor import Tensor, record

SLOW = True


class CausalMask(Layer):
    def forward(self, x):
        y = np.array(x.data)
        for place in np.ndindex(x.shape):
            if place[-1] > place[-2]:
                y[place] = -1e9

        def pull_back(grad):
            back = np.array(grad)
            for place in np.ndindex(grad.shape):
                if place[-1] > place[-2]:
                    back[place] = 0
            return (back,)

        return record(y, (x,), pull_back)


def attention(q, k, v, heads):
    B, T, C = q.shape
    d = C // heads
    a, b, c = q.data, k.data, v.data
    weights = np.zeros((B, heads, T, T), dtype=a.dtype)
    y = np.zeros((B, T, C), dtype=a.dtype)
    for batch, head, query in np.ndindex(B, heads, T):
        first = head * d
        scores = [
            sum(float(a[batch, query, first + i]) * float(b[batch, key, first + i]) for i in range(d))
            / math.sqrt(d)
            for key in range(query + 1)
        ]
        largest = max(scores)
        powers = [math.exp(score - largest) for score in scores]
        for key, power in enumerate(powers):
            weights[batch, head, query, key] = power / sum(powers)
            for i in range(d):
                y[batch, query, first + i] += weights[batch, head, query, key] * c[batch, key, first + i]

    def pull_back(grad):
        da, db, dc = (np.zeros_like(one) for one in (a, b, c))
        for batch, head, query in np.ndindex(B, heads, T):
            first, row = head * d, weights[batch, head, query]
            dw = [
                sum(float(grad[batch, query, first + i]) * float(c[batch, key, first + i]) for i in range(d))
                for key in range(query + 1)
            ]
            mean = sum(one * float(row[key]) for key, one in enumerate(dw))
            for key, one in enumerate(dw):
                ds = row[key] * (one - mean) / math.sqrt(d)
                for i in range(first, first + d):
                    da[batch, query, i] += ds * b[batch, key, i]
                    db[batch, key, i] += ds * a[batch, query, i]
                    dc[batch, key, i] += row[key] * grad[batch, query, i]
        return da, db, dc

    return record(y, (q, k, v), pull_back), weights


class MultiHeadAttention(Composite):
    def __init__(self, d_model, heads, rng):
        super().__init__()
        if heads < 1:
            raise ValueError("heads must be positive")
        if d_model % heads:
            raise ValueError("heads must divide d_model")
        self.heads = heads
        self.query = Linear(d_model, d_model, rng)
        self.key = Linear(d_model, d_model, rng)
        self.value = Linear(d_model, d_model, rng)
        self.output = Linear(d_model, d_model, rng)

    def forward(self, x):
        y, self.weights = attention(self.query(x), self.key(x), self.value(x), self.heads)
        return self.output(y)


def build_gpt(vocabulary, heads, rng):
    def make_attention(d_model, rng):
        return MultiHeadAttention(d_model, heads, rng)

    return Model(vocabulary, make_attention=make_attention, seed=rng)
