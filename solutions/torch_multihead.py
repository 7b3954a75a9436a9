"""Multi-head attention as a PyTorch module: the reference of the assignment ``torch_multihead``.

Axes: B ``batch``, T ``seq`` of the queries, S of the keys and values, H ``heads``, d ``head_dim`` = C / H, C
``d_model``. The class grows from cell to cell, as in the notebook, whose solution cells hold this same code.
"""

import math
from typing import Any

import torch
from jaxtyping import Float, Shaped
from torch import nn
from torch.nn import functional as F

from growing import method_of


class MultiHeadAttention(nn.Module):
    r"""Attention in several heads, in which the queries may come from another sequence than keys and values.

    $$ Y = \mathrm{combine}(\mathrm{attention}(X_Q W_Q^\top,\ X_K W_K^\top,\ X_V W_V^\top))\,W_O^\top + b_O $$

    Args:
        d_model: the length of a vector.
        num_heads: how many heads share it evenly.

    Raises AssertionError where ``num_heads`` does not divide ``d_model``.

    >>> [name for name, _ in MultiHeadAttention(6, 2).named_parameters()]
    ['query.weight', 'key.weight', 'value.weight', 'output.weight', 'output.bias']
    """

    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        assert d_model % num_heads == 0, f"d_model ({d_model}) must be divisible by num_heads ({num_heads})"
        self.d_model = d_model
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model)


@method_of(MultiHeadAttention)
def split_heads(
    self: Any, x: Shaped[torch.Tensor, "batch seq d_model"], batch_size: int
) -> Shaped[torch.Tensor, "batch heads seq head_dim"]:
    """Give every head its share of each vector: head h gets the channels h*d to (h+1)*d - 1.

    >>> module = MultiHeadAttention(4, 2)
    >>> module.split_heads(torch.arange(8).reshape(1, 2, 4), 1).tolist()
    [[[[0, 1], [4, 5]], [[2, 3], [6, 7]]]]
    """
    return x.reshape(batch_size, -1, self.num_heads, self.head_dim).transpose(1, 2)


@method_of(MultiHeadAttention)
def compute_attention(
    self: Any,
    query: Float[torch.Tensor, "batch heads T d"],
    key: Float[torch.Tensor, "batch heads S d"],
    value: Float[torch.Tensor, "batch heads S d"],
    mask: Shaped[torch.Tensor, "*mask"] | None = None,
) -> Float[torch.Tensor, "batch heads T d"]:
    r"""Let every query gather values from the keys that it may look at, in each head by itself.

    $$ \mathrm{softmax}(Q K^\top / \sqrt{d})\,V $$

    Args:
        query: one for each token that asks.
        key: one for each token that may be looked at.
        value: what those tokens hold.
        mask: of any shape that broadcasts to (batch, heads, T, S): 0 or False where the query (row) may not
            look at the key (column); no row of zeros alone.

    >>> module = MultiHeadAttention(1, 1)
    >>> ones, values = torch.ones(1, 1, 2, 1), torch.tensor([[[[2.0], [4.0]]]])
    >>> module.compute_attention(ones, ones, values).flatten().tolist()
    [3.0, 3.0]
    >>> module.compute_attention(ones, ones, values, torch.tensor([[1, 0], [1, 1]])).flatten().tolist()
    [2.0, 3.0]
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(self.head_dim)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -math.inf)
    return F.softmax(scores, dim=-1) @ value


@method_of(MultiHeadAttention)
def combine_heads(
    self: Any, x: Shaped[torch.Tensor, "batch heads seq head_dim"], batch_size: int
) -> Shaped[torch.Tensor, "batch seq d_model"]:
    """Join the shares of all heads into one vector for each token: the inverse of ``split_heads``.

    >>> module = MultiHeadAttention(4, 2)
    >>> x = torch.arange(8).reshape(1, 2, 4)
    >>> torch.equal(module.combine_heads(module.split_heads(x, 1), 1), x)
    True
    """
    return x.transpose(1, 2).contiguous().view(batch_size, -1, self.d_model)


@method_of(MultiHeadAttention)
def forward(
    self: Any,
    query: Float[torch.Tensor, "batch T d_model"],
    key: Float[torch.Tensor, "batch S d_model"],
    value: Float[torch.Tensor, "batch S d_model"],
    mask: Shaped[torch.Tensor, "*mask"] | None = None,
) -> Float[torch.Tensor, "batch T d_model"]:
    """Project, split, attend, combine, and project once more.

    >>> module = MultiHeadAttention(6, 2)
    >>> x, context = torch.ones(4, 3, 6), torch.ones(4, 5, 6)
    >>> module(x, context, context).shape
    torch.Size([4, 3, 6])
    """
    batch_size = query.shape[0]
    q = self.split_heads(self.query(query), batch_size)
    k = self.split_heads(self.key(key), batch_size)
    v = self.split_heads(self.value(value), batch_size)
    gathered = self.compute_attention(q, k, v, mask)
    return self.output(self.combine_heads(gathered, batch_size))
