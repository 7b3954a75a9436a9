"""One class with all methods in its body, ValueError, keyword arguments and own initial weights."""

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {d_model} channels")
        self.d_model, self.num_heads, self.head_dim = d_model, num_heads, d_model // num_heads
        self.scale = math.sqrt(self.head_dim)
        for name in ("query", "key", "value"):
            setattr(self, name, nn.Linear(in_features=d_model, out_features=d_model, bias=False))
        self.output = nn.Linear(in_features=d_model, out_features=d_model, bias=True)
        self._init_weights()

    def _init_weights(self) -> None:
        for layer in (self.query, self.key, self.value, self.output):
            nn.init.xavier_uniform_(layer.weight)
        nn.init.zeros_(self.output.bias)

    def split_heads(self, x, batch_size):
        x = x.reshape(batch_size, x.size(1), self.num_heads, self.head_dim)
        return x.transpose(1, 2).contiguous()

    def compute_attention(self, query, key, value, mask=None):
        scores = torch.matmul(query / self.scale, key.transpose(-2, -1))
        if mask is not None:
            scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
        return torch.softmax(scores, dim=-1).matmul(value)

    def combine_heads(self, x, batch_size):
        return x.transpose(1, 2).contiguous().view(batch_size, -1, self.d_model)

    def forward(self, query, key, value, mask=None):
        n = query.shape[0]
        q, k, v = (
            self.split_heads(layer(x), batch_size=n)
            for layer, x in ((self.query, query), (self.key, key), (self.value, value))
        )
        return self.output(self.combine_heads(self.compute_attention(q, k, v, mask=mask), n))


split_heads = MultiHeadAttention.split_heads
compute_attention = MultiHeadAttention.compute_attention
combine_heads = MultiHeadAttention.combine_heads
forward = MultiHeadAttention.forward
