"""Mistakes seen in ``multihead`` between Q, K, V and joined: scale, softmax, mask."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.mistakes import MistakeSet

from .forward_parts import Array, Params, scaled, softmax, with_softmax

mistakes = MistakeSet("multihead")


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
    hint="Does one score get larger when the sequence is longer?",
    seen="courses",
)
def scale_seq(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The scores are divided by the square root of the length of the sequence."""
    return scaled(right, x, params, heads, allowed, np.sqrt(x.shape[2] / heads / x.shape[1]))


@mistakes.add(
    hint="How large does a product of two random vectors get when they grow longer?",
    seen="mlc-ai/mlc-llm#3426",
)
def no_scale(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The scores need no scale."""
    return scaled(right, x, params, heads, allowed, np.sqrt(x.shape[2] / heads))


@mistakes.add(
    hint="Does attention() scale already?",
    seen="huggingface/transformers#38290",
)
def scale_twice(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The queries are divided by the square root of d before attention divides the scores; in all, by d."""
    return scaled(right, x, params, heads, allowed, 1 / np.sqrt(x.shape[2] / heads))


@mistakes.add(
    hint="Is the scale there to make scores larger, or smaller?",
    seen="courses",
)
def scale_multiplied(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The scores are multiplied by the square root of d."""
    return scaled(right, x, params, heads, allowed, x.shape[2] / heads)


@mistakes.add(
    hint="To what do the weights of one query sum in the end?",
    seen="FrancescoSaverioZuppichini/ViT#2",
)
def scale_after_softmax(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The weights, not the scores, are divided by the square root of d."""
    root = np.sqrt(x.shape[2] / heads)
    return right.multihead(
        x, {**params, "wq": params["wq"] * root, "wv": params["wv"] / root}, heads, allowed
    )


@mistakes.add(
    hint="Which weights must sum to one: those of one query, or those of one key?",
    seen="datawhalechina/llms-from-scratch-cn#54",
)
def softmax_over_queries(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The weights of each column sum to one."""
    return with_softmax(right, x, params, heads, lambda s: softmax(np.where(allowed, s, -1e300), axis=-2))


@mistakes.add(
    hint="Which axis of the scores counts the keys?",
    seen="courses",
)
def softmax_over_heads(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The weights of the heads, at one query and one key, sum to one: the softmax runs over axis 1."""
    return with_softmax(right, x, params, heads, lambda s: softmax(np.where(allowed, s, -1e300), axis=1))


@mistakes.add(
    hint="What is np.exp(1000.0)?",
    seen="pytorch/executorch#18407",
)
def no_maximum(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The exponentials can be taken of the scores as they are."""

    def weigh(scores: Array) -> Any:
        powers = np.where(allowed, np.exp(scores), 0)
        return powers / powers.sum(axis=-1, keepdims=True)

    return with_softmax(right, x, params, heads, weigh)


@mistakes.add(
    hint="What is left of a row whose scores all lie far below the largest score of the whole table?",
    seen="courses",
)
def one_maximum(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The largest score of the whole array is subtracted, so that no exponential overflows."""

    def weigh(scores: Array) -> Any:
        powers = np.where(allowed, np.exp(scores - scores.max()), 0)
        return powers / powers.sum(axis=-1, keepdims=True)

    return with_softmax(right, x, params, heads, weigh)


@mistakes.add(
    hint="To what do the weights of a row sum once some of them have been set to zero?",
    seen="huggingface/pytorch-image-models#2236",
)
def mask_after_softmax(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Weights of keys that are not allowed are set to zero after the softmax."""
    return with_softmax(right, x, params, heads, lambda s: np.where(allowed, softmax(s), 0))


@mistakes.add(
    hint="What weight does a key get whose score is zero?",
    seen="Shujun-He/RibonanzaNet#5",
)
def scores_times_mask(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Multiplying the scores by the mask takes keys out; a fill of -1e-9 for -1e9 comes to the same."""
    return with_softmax(right, x, params, heads, lambda s: softmax(s * allowed))


@mistakes.add(
    hint="By how much does adding a True change a score?",
    seen="harvard-edge/cs249r_book#1785",
)
def mask_added(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The mask is added to the scores, as masks are."""
    return with_softmax(right, x, params, heads, lambda s: softmax(s + allowed))


@mistakes.add(
    hint="Which number is smaller than every score, however large the numbers in x are?",
    seen="courses",
)
def hidden_by_minus_hundred(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """A score of -100 is as good as minus infinity."""
    return with_softmax(right, x, params, heads, lambda s: softmax(np.where(allowed, s, -100.0)))


@mistakes.add(
    hint="What does a True in allowed say?",
    seen="rasbt/LLMs-from-scratch#1061",
)
def mask_inverted(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """True marks the keys that are hidden."""
    return with_softmax(right, x, params, heads, lambda s: softmax(np.where(allowed, -1e9, s)))


@mistakes.form("mask_inverted")
def mask_inverted_for_attention(
    right: ModuleType, x: Array, params: Params, heads: int, allowed: Array
) -> Any:
    """The given attention() gets the inverted mask, and refuses one in which a query has no key."""
    return right.multihead(x, params, heads, ~allowed)


@mistakes.add(
    hint="Which axis of the scores belongs to the queries, and which axis of allowed?",
    seen="courses",
)
def mask_transposed(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The rows of the mask are the keys."""
    return right.multihead(x, params, heads, allowed.T)


@mistakes.add(
    hint="May all queries look at the same keys?",
    seen="courses",
)
def mask_of_first_query(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The mask says which keys there are, so its first row serves all queries."""
    return right.multihead(x, params, heads, np.broadcast_to(allowed[0], allowed.shape))


@mistakes.add(
    hint="Which entries of an array of shape (B, H, T, T) does scores[:, 0] hold?",
    seen="courses",
)
def mask_of_first_head(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Assigning to scores[:, 0][:, ~allowed] hides the keys from every head."""

    def masked(scores: Array) -> Any:
        scores[:, 0][:, ~allowed] = -1e300
        return softmax(scores)

    return with_softmax(right, x, params, heads, masked)


@mistakes.add(
    hint="Change one value of allowed: what changes in y?",
    seen="stanford-cs336/assignment1-basics#51",
)
def mask_ignored(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Every token may look at every other."""
    return right.multihead(x, params, heads, np.ones_like(allowed))


@mistakes.add(
    hint="Who decides which keys a query may look at: your function or its caller?",
    seen="courses",
)
def always_causal(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Attention is causal, so the mask is the lower triangle."""
    return right.multihead(x, params, heads, np.tri(len(allowed), dtype=bool))


@mistakes.add(
    hint="What does a mask say in which every entry is True?",
    seen="facebookresearch/xformers#103",
)
def causal_by_default(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """A mask that hides nothing is no mask, so the usual, causal one takes its place."""
    return right.multihead(x, params, heads, np.tri(len(allowed), dtype=bool) if allowed.all() else allowed)


@mistakes.add(
    hint="May a token look at itself?",
    seen="RVC-Boss/GPT-SoVITS#965",
)
def diagonal_hidden(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """A token looks at others, never at itself."""
    others = allowed & ~np.eye(len(allowed), dtype=bool)
    return with_softmax(right, x, params, heads, lambda s: softmax(np.where(others, s, -1e9)))
