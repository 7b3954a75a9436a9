"""Mistakes seen in ``compute_attention``: the numbers; masks and what surrounds them stand beside this."""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from torch.nn import functional as F

from autograder.checking.mistakes import MistakeSet

from . import attention_contract, attention_masks

mistakes = MistakeSet("compute_attention", method_of="MultiHeadAttention")


def weighed(value: Any, scores: Any, mask: Any, weigh: Callable[[Any], Any] | None = None) -> Any:
    """What is gathered with these scores; ``weigh`` stands for the softmax."""
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -math.inf)
    return (F.softmax(scores, dim=-1) if weigh is None else weigh(scores)) @ value


def products(query: Any, key: Any) -> Any:
    """Q K^T."""
    return query @ key.transpose(-2, -1)


@mistakes.add(hint="How do scores grow with the width of a head?", seen="courses")
def no_scale(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Scores are products; the softmax makes weights of them whatever their size is."""
    return weighed(value, products(query, key), mask)


@mistakes.add(hint="How many products are added up in a score?", seen="courses")
def scale_of_d_model(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Scores are divided by the root of d_model, the length of a vector."""
    return weighed(value, products(query, key) / math.sqrt(self.d_model), mask)


@mistakes.add(hint="Compare with the formula: is there a root?", seen="courses")
def scale_without_root(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """Scores are divided by head_dim."""
    return weighed(value, products(query, key) / self.head_dim, mask)


@mistakes.add(hint="Is it the number of heads that is under the root?", seen="courses")
def scale_of_num_heads(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """Scores are divided by the root of the number of heads."""
    return weighed(value, products(query, key) / math.sqrt(self.num_heads), mask)


@mistakes.add(hint="Do scores become larger or smaller by the scale?", seen="courses")
def scale_multiplied(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Scores are multiplied by the root of head_dim."""
    return weighed(value, products(query, key) * math.sqrt(self.head_dim), mask)


@mistakes.add(hint="Which sum of weights is 1: that of a row, or of a column?", seen="courses")
def softmax_over_queries(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """The softmax runs along the axis before the last."""
    scores = products(query, key) / math.sqrt(self.head_dim)
    return weighed(value, scores, mask, lambda scores: F.softmax(scores, dim=-2))


@mistakes.add(hint="Along which axis must the softmax of a score table run?", seen="courses")
def softmax_over_heads(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """dim=1 is the second axis, which is that of the keys."""
    scores = products(query, key) / math.sqrt(self.head_dim)
    return weighed(value, scores, mask, lambda scores: F.softmax(scores, dim=1))


@mistakes.add(hint="What may one sequence of a batch know of the others?", seen="courses")
def softmax_over_batch(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """The softmax runs along dim=0, the first axis."""
    scores = products(query, key) / math.sqrt(self.head_dim)
    return weighed(value, scores, mask, lambda scores: F.softmax(scores, dim=0))


@mistakes.add(hint="What of the largest score, before exp?", seen="courses")
def softmax_by_hand(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """The softmax is exp divided by the sum of exp, and nothing else."""
    scores = products(query, key) / math.sqrt(self.head_dim)
    return weighed(value, scores, mask, lambda one: one.exp() / one.exp().sum(dim=-1, keepdim=True))


@mistakes.add(hint="Does every row of weights sum to 1?", seen="courses")
def softmax_left_out(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Scores are weights; hidden ones are zero."""
    scores = products(query, key) / math.sqrt(self.head_dim)
    return weighed(value, scores, mask, lambda one: one.masked_fill(one == -math.inf, 0.0))


@mistakes.add(hint="When is the score divided: before or after the softmax?", seen="courses")
def scale_after_softmax(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """The weights are divided by the root of head_dim."""
    root = math.sqrt(self.head_dim)
    return weighed(value, products(query, key), mask, lambda one: F.softmax(one, dim=-1) / root)


for _part in (attention_masks, attention_contract):
    mistakes.include(_part.mistakes)
