"""A property, and layers that are made in a loop from a dictionary of options."""

import torch
from torch import nn

from growing import method_of

OPTIONS = {"query": False, "key": False, "value": False, "output": True}


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.d_model = d_model
        self.num_heads = num_heads
        quotient, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"d_model={d_model} is not a multiple of num_heads={num_heads}")
        self._head_dim = quotient
        for name, bias in OPTIONS.items():
            self.add_module(name, nn.Linear(d_model, d_model, bias))

    @property
    def head_dim(self):
        return self._head_dim


@method_of(MultiHeadAttention)
def split_heads(self, x, batch_size):
    return x.view(batch_size, -1, self.num_heads, self.head_dim).permute(0, 2, 1, 3)


@method_of(MultiHeadAttention)
def compute_attention(self, query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-1, -2)) / self.head_dim**0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, value)


@method_of(MultiHeadAttention)
def combine_heads(self, x, batch_size):
    return x.permute(0, 2, 1, 3).reshape(batch_size, -1, self.d_model)


@method_of(MultiHeadAttention)
def forward(self, query, key, value, mask=None):
    batch_size = query.size(0)
    query = self.split_heads(self.query(query), batch_size)
    key = self.split_heads(self.key(key), batch_size)
    value = self.split_heads(self.value(value), batch_size)
    x = self.compute_attention(query, key, value, mask)
    return self.output(self.combine_heads(x, batch_size))
