"""A softmax by hand, with the largest score taken out."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from growing import method_of


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.d_model = d_model
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model)


@method_of(MultiHeadAttention)
def split_heads(self, x, batch_size):
    return x.view(batch_size, -1, self.num_heads, self.head_dim).permute(0, 2, 1, 3)


@method_of(MultiHeadAttention)
def compute_attention(self, query, key, value, mask=None):
    scores = query @ key.transpose(2, 3) / math.sqrt(self.head_dim)
    if mask is None:
        mask = torch.ones_like(scores)
    scores = torch.where(mask == 0, -torch.inf, scores)
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return powers @ value / powers.sum(dim=-1, keepdim=True)


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
