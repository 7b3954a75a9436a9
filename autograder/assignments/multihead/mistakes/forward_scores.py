"""Mistakes seen in ``multihead`` between Q, K, V and joined: scale, softmax, mask."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer import score_mistakes
from autograder.assignments.attention_layer.score_mistakes import HIDDEN, gathered, softmax, weighed
from autograder.checking.mistakes import MistakeSet

from .forward_parts import Array, Params, scaled, with_attention

mistakes = MistakeSet("multihead")

mistakes.borrow(score_mistakes.mistakes, around=with_attention)


@mistakes.form("mask_inverted")
def mask_inverted_for_attention(
    right: ModuleType, x: Array, params: Params, heads: int, allowed: Array
) -> Any:
    """The given attention() gets the inverted mask, and refuses one in which a query has no key."""
    return right.multihead(x, params, heads, ~allowed)


@mistakes.add(
    hint="How many products are added up in one score of one head?",
    seen="Graylab/DL4Proteins-notebooks#12",
)
def scale_d_model(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The scores are divided by the square root of d_model, the width of the layer."""
    return scaled(right, x, params, heads, allowed, 1 / np.sqrt(heads))


@mistakes.add(
    hint="Does a score get larger when there are more heads, or when a head is wider?",
    seen="tenstorrent/tt-metal#56789",
)
def scale_heads(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The scores are divided by the square root of the number of heads."""
    return scaled(right, x, params, heads, allowed, np.sqrt(x.shape[2] / heads) / np.sqrt(heads))


@mistakes.add(
    hint="Does attention() scale already?",
    seen="huggingface/transformers#38290",
)
def scale_twice(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The queries are divided by the square root of d before attention divides the scores; in all, by d."""
    return scaled(right, x, params, heads, allowed, 1 / np.sqrt(x.shape[2] / heads))


@mistakes.add(
    hint="Which axis of the scores counts the keys?",
    seen="courses",
)
def softmax_over_heads(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The weights of the heads, at one query and one key, sum to one: the softmax runs over axis 1."""

    def attend(q: Array, k: Array, v: Array, allowed: Array) -> Any:
        return weighed(right, q, k, v, allowed, lambda s: softmax(np.where(allowed, s, HIDDEN), axis=1))

    return with_attention(attend, right, x, params, heads, allowed)


@mistakes.add(
    hint="Which entries of an array of shape (B, H, T, T) does scores[:, 0] hold?",
    seen="courses",
)
def mask_of_first_head(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Assigning to scores[:, 0][:, ~allowed] hides the keys from every head."""

    def masked(scores: Array) -> Any:
        scores[:, 0][:, ~allowed] = HIDDEN
        return softmax(scores)

    return with_attention(lambda q, k, v, _: gathered(q, k, v, masked), right, x, params, heads, allowed)
