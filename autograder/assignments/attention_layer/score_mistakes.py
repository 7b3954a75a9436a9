"""Mistakes seen in attention between the scores and what is gathered: scale, softmax, mask.

They are those of a function ``attention(q, k, v, allowed)``; a layer that does the same borrows them.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograder.checking.mistakes import MistakeSet

Array = NDArray[Any]
#: From scores to weights.
Weigh = Callable[[Array], Array]

#: Hides a key, whatever the other scores are; minus infinity would make NaN of rows that hide all.
HIDDEN = -1e300

mistakes = MistakeSet("attention")


def floats(*arrays: Array) -> list[Array]:
    """Integers as float64."""
    return [one if one.dtype.kind == "f" else one.astype(np.float64) for one in arrays]


def softmax(scores: Array, axis: int = -1) -> Any:
    """The softmax itself."""
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def weighed(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array, weigh: Weigh) -> Any:
    """The right attention, refusals included, around a softmax, and a mask, of one's own."""
    right.attention(q, k, v, allowed)
    return gathered(q, k, v, weigh)


def gathered(q: Array, k: Array, v: Array, weigh: Weigh) -> Any:
    """The right attention around a softmax, and a mask, of one's own; nothing is refused."""
    q, k, v = floats(q, k, v)
    weights = weigh(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))
    return weights @ v, {"q": q, "k": k, "v": v, "weights": weights}


def scaled(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array, ratio: float) -> Any:
    """The right attention but for its scores, which are ``ratio`` times as large."""
    (q,) = floats(q)
    out, cache = right.attention(q * ratio, k, v, allowed)
    return out, {**cache, "q": q}


@mistakes.add(
    hint="Does one score get larger when the sequence is longer?",
    seen="courses",
)
def scale_seq(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The scores are divided by the square root of the length of the sequence."""
    return scaled(right, q, k, v, allowed, np.sqrt(q.shape[-1] / q.shape[-2]))


@mistakes.add(
    hint="How large does a product of two random vectors get when they grow longer?",
    seen="mlc-ai/mlc-llm#3426",
)
def no_scale(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The scores need no scale."""
    return scaled(right, q, k, v, allowed, np.sqrt(q.shape[-1]))


@mistakes.add(
    hint="Is the scale there to make scores larger, or smaller?",
    seen="courses",
)
def scale_multiplied(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The scores are multiplied by the square root of d."""
    return scaled(right, q, k, v, allowed, q.shape[-1])


@mistakes.add(
    hint="To what do the weights of one query sum in the end?",
    seen="FrancescoSaverioZuppichini/ViT#2",
)
def scale_after_softmax(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The weights, not the scores, are divided by the square root of d."""
    root = np.sqrt(q.shape[-1])
    return weighed(right, q, k, v, allowed, lambda s: softmax(np.where(allowed, s * root, HIDDEN)) / root)


@mistakes.add(
    hint="Which weights must sum to one: those of one query, or those of one key?",
    seen="datawhalechina/llms-from-scratch-cn#54",
)
def softmax_over_queries(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The weights of each column sum to one."""
    return weighed(right, q, k, v, allowed, lambda s: softmax(np.where(allowed, s, HIDDEN), axis=-2))


@mistakes.add(
    hint="What is np.exp(1000.0)?",
    seen="pytorch/executorch#18407",
)
def no_maximum(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The exponentials can be taken of the scores as they are."""

    def weigh(scores: Array) -> Any:
        powers = np.where(allowed, np.exp(scores), 0)
        return powers / powers.sum(axis=-1, keepdims=True)

    return weighed(right, q, k, v, allowed, weigh)


@mistakes.add(
    hint="What is left of a row whose scores all lie far below the largest score of the whole table?",
    seen="courses",
)
def one_maximum(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The largest score of the whole array is subtracted, so that no exponential overflows."""

    def weigh(scores: Array) -> Any:
        powers = np.where(allowed, np.exp(scores - scores.max()), 0)
        return powers / powers.sum(axis=-1, keepdims=True)

    return weighed(right, q, k, v, allowed, weigh)


@mistakes.add(
    hint="To what do the weights of a row sum once some of them have been set to zero?",
    seen="huggingface/pytorch-image-models#2236",
)
def mask_after_softmax(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """Weights of keys that are not allowed are set to zero after the softmax."""
    return weighed(right, q, k, v, allowed, lambda s: np.where(allowed, softmax(s), 0))


@mistakes.add(
    hint="What weight does a key get whose score is zero?",
    seen="Shujun-He/RibonanzaNet#5",
)
def scores_times_mask(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """Multiplying the scores by the mask takes keys out; a fill of -1e-9 for -1e9 comes to the same."""
    return weighed(right, q, k, v, allowed, lambda s: softmax(s * allowed))


@mistakes.add(
    hint="By how much does adding a True change a score?",
    seen="harvard-edge/cs249r_book#1785",
)
def mask_added(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The mask is added to the scores, as masks are."""
    return weighed(right, q, k, v, allowed, lambda s: softmax(s + allowed))


@mistakes.add(
    hint="Which number is smaller than every score, however large the numbers in x are?",
    seen="courses",
)
def hidden_by_minus_hundred(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """A score of -100 is as good as minus infinity."""
    return weighed(right, q, k, v, allowed, lambda s: softmax(np.where(allowed, s, -100.0)))


@mistakes.add(
    hint="What does a True in allowed say?",
    seen="rasbt/LLMs-from-scratch#1061",
)
def mask_inverted(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """True marks the keys that are hidden."""
    return weighed(right, q, k, v, allowed, lambda s: softmax(np.where(allowed, -1e9, s)))


@mistakes.add(
    hint="Which axis of the scores belongs to the queries, and which axis of allowed?",
    seen="courses",
)
def mask_transposed(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The rows of the mask are the keys."""
    return right.attention(q, k, v, np.swapaxes(allowed, -1, -2))


@mistakes.add(
    hint="May all queries look at the same keys?",
    seen="courses",
)
def mask_of_first_query(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The mask says which keys there are, so its first row serves all queries."""
    return right.attention(q, k, v, np.broadcast_to(allowed[..., :1, :], allowed.shape))


@mistakes.add(
    hint="Change one value of allowed: what changes in the answer?",
    seen="stanford-cs336/assignment1-basics#51",
)
def mask_ignored(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """Every token may look at every other."""
    return right.attention(q, k, v, np.ones_like(allowed))


@mistakes.add(
    hint="Who decides which keys a query may look at: your function or its caller?",
    seen="courses",
)
def always_causal(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """Attention is causal, so the mask is the lower triangle."""
    return right.attention(q, k, v, np.tri(*allowed.shape[-2:], dtype=np.bool_))


@mistakes.add(
    hint="What does a mask say in which every entry is True?",
    seen="facebookresearch/xformers#103",
)
def causal_by_default(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """A mask that hides nothing is no mask, so the usual, causal one takes its place."""
    causal = np.tri(*allowed.shape[-2:], dtype=np.bool_)
    return right.attention(q, k, v, causal if allowed.all() else allowed)


@mistakes.add(
    hint="May a token look at itself?",
    seen="RVC-Boss/GPT-SoVITS#965",
)
def diagonal_hidden(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """A token looks at others, never at itself."""
    others = allowed & ~np.eye(*allowed.shape[-2:], dtype=np.bool_)
    return weighed(right, q, k, v, allowed, lambda s: softmax(np.where(others, s, -1e9)))
