"""Mistakes seen in ``compute_attention`` with masks."""

import math
from types import ModuleType
from typing import Any

import torch
from torch.nn import functional as F

from autograder.checking.mistakes import MistakeSet

mistakes = MistakeSet("compute_attention", method_of="MultiHeadAttention")


def scores_of(self: Any, query: Any, key: Any) -> Any:
    """The right scores, before any mask."""
    return query @ key.transpose(-2, -1) / math.sqrt(self.head_dim)


def gathered(scores: Any, value: Any) -> Any:
    """What scores gather."""
    return F.softmax(scores, dim=-1) @ value


@mistakes.add(hint="Who looks at the argument mask?", seen="courses")
def mask_ignored(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """A mask is for training alone."""
    return right.compute_attention(self, query, key, value)


@mistakes.add(hint="What does a 1 in the mask mean: look, or look away?", seen="courses")
def mask_inverted(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """True marks what is masked, so those scores become minus infinity."""
    scores = scores_of(self, query, key)
    return gathered(scores if mask is None else scores.masked_fill(mask != 0, -math.inf), value)


@mistakes.add(hint="What is exp(0)?", seen="courses")
def hidden_by_zero(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """A score of 0 gives a weight of 0."""
    scores = scores_of(self, query, key)
    return gathered(scores if mask is None else scores.masked_fill(mask == 0, 0.0), value)


@mistakes.add(hint="Does every row of weights still sum to 1?", seen="courses")
def mask_after_softmax(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """Weights of hidden keys are set to 0 once they are there."""
    weights = F.softmax(scores_of(self, query, key), dim=-1)
    return (weights if mask is None else weights.masked_fill(mask == 0, 0.0)) @ value


@mistakes.add(hint="By how much does a mask of ones and zeros change a score?", seen="courses")
def mask_added(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """A mask is added to the scores."""
    scores = scores_of(self, query, key)
    return gathered(scores if mask is None else scores + mask, value)


@mistakes.add(hint="What is left of a hidden key where scores are as large as 10000?", seen="courses")
def hidden_by_minus_hundred(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """A score of -100 is as good as minus infinity."""
    scores = scores_of(self, query, key)
    return gathered(scores if mask is None else scores.masked_fill(mask == 0, -100.0), value)


@mistakes.add(hint="Rows are queries: in which direction does your mask read them?", seen="courses")
def mask_transposed(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Rows of a mask are keys, columns are queries, where both are equally many."""
    if mask is not None and mask.shape[-1] == mask.shape[-2]:
        mask = mask.transpose(-2, -1)
    return right.compute_attention(self, query, key, value, mask)


@mistakes.add(hint="How do you ask whether there is a mask at all?", seen="courses")
def mask_as_condition(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """`if mask:` asks whether there is one."""
    return right.compute_attention(self, query, key, value, mask if mask else None)


@mistakes.add(hint="Print ~torch.tensor([1, 0]).", seen="courses")
def booleans_alone(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """A mask holds booleans, which ~ turns around."""
    scores = scores_of(self, query, key)
    return gathered(scores if mask is None else scores.masked_fill(~mask, -math.inf), value)


@mistakes.add(hint="Print 1 - torch.tensor([True, False]).", seen="courses")
def numbers_alone(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """A mask holds ones and zeros, with which one can compute."""
    scores = scores_of(self, query, key)
    return gathered(scores if mask is None else scores - (1 - mask) * 1e9, value)


@mistakes.add(hint="Whose table is mask[0], and what do the others get?", seen="courses")
def mask_of_first_sequence(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """One mask serves the whole batch: the first one."""
    return right.compute_attention(
        self, query, key, value, mask[:1] if mask is not None and mask.dim() == 4 else mask
    )


@mistakes.add(hint="How many tables are there in a mask (B, H, T, S)?", seen="courses")
def mask_of_first_head(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """One mask serves all heads: the first one."""
    return right.compute_attention(
        self, query, key, value, mask[:, :1] if mask is not None and mask.dim() == 4 else mask
    )


@mistakes.add(hint="Which argument says who may look where?", seen="courses")
def always_causal(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Nobody may look at what comes later, mask or no mask."""
    causal = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril()
    return right.compute_attention(self, query, key, value, causal if mask is None else (mask != 0) & causal)


@mistakes.add(
    hint="Whose tensor does a method write into if its name ends with an underscore?", seen="courses"
)
def mask_turned_in_place(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """The mask of hidden keys is made of that of allowed ones in place."""
    scores = scores_of(self, query, key)
    return gathered(
        scores if mask is None else scores.masked_fill(mask.logical_not_().bool(), -math.inf), value
    )


@mistakes.add(hint="Call it with a mask, then without.", seen="courses")
def last_mask_kept(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """The module keeps the mask, for calls that bring none."""
    self.last_mask = getattr(self, "last_mask", None) if mask is None else mask
    return right.compute_attention(self, query, key, value, self.last_mask)


@mistakes.add(hint="Call it with one mask, then with another.", seen="courses")
def first_mask_kept(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """The mask is always the same, so the module keeps the first one."""
    if mask is not None and not hasattr(self, "first_mask"):
        self.first_mask = mask
    return right.compute_attention(self, query, key, value, None if mask is None else self.first_mask)
