"""Mistakes seen in ``compute_attention`` in what surrounds the numbers: kinds, gradients, arguments."""

import math
from types import ModuleType
from typing import Any

from torch.nn import functional as F

from autograder.checking.mistakes import MistakeSet

mistakes = MistakeSet("compute_attention", method_of="MultiHeadAttention")


@mistakes.add(hint="How many results does the task name?", seen="courses")
def weights_returned_too(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """The weights are worth looking at, so they are returned as well."""
    out = right.compute_attention(self, query, key, value, mask)
    return out, right.compute_attention(self, query, key, value, mask)


@mistakes.add(hint="What is gathered: what tokens hold, or what they are found by?", seen="courses")
def keys_gathered(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """The weights are applied to the keys, to which they belong."""
    return right.compute_attention(self, query, key, key, mask)


@mistakes.add(hint="Through which tensors must gradients of query and key go?", seen="courses")
def weights_detached(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Weights are numbers between 0 and 1, taken out of the graph."""
    return right.compute_attention(self, query.detach(), key.detach(), value, mask)


@mistakes.add(hint="Does your answer have a grad_fn?", seen="courses")
def answer_detached(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Numbers are handed on as they are, by .data."""
    return right.compute_attention(self, query, key, value, mask).data


@mistakes.add(hint="Print the dtype of query and that of the answer.", seen="courses")
def made_float32(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """PyTorch computes in float32."""
    return right.compute_attention(self, query.float(), key.float(), value.float(), mask)


@mistakes.add(hint="Print the dtype of the answer to float32.", seen="courses")
def made_float64(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """More digits never harm."""
    return right.compute_attention(self, query.double(), key.double(), value.double(), mask)


@mistakes.add(hint="Whose tensor does an operator such as /= change?", seen="courses")
def query_scaled_in_place(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """Queries are not needed any more once they are scaled."""
    query /= math.sqrt(self.head_dim)
    scores = query @ key.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -math.inf)
    return F.softmax(scores, dim=-1) @ value


@mistakes.add(hint="In which order do the numbers of a transposed tensor lie?", seen="courses")
def views_of_arguments(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """Batch and heads become one axis by a view, for a product of batches of tables."""
    lead = query.shape[:2]
    flat = [one.view(-1, *one.shape[2:]) for one in (query, key, value)]
    if mask is not None:
        mask = mask.expand(*lead, *mask.shape[-2:]).reshape(-1, *mask.shape[-2:])
    return right.compute_attention(self, *flat, mask).view(*query.shape)
