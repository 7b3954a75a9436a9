"""Mistakes seen in ``attention`` in what surrounds the numbers: dtypes, results, masks, arguments, memory."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer.score_mistakes import Array, gathered
from autograder.checking.mistakes import MistakeSet

mistakes = MistakeSet("attention")


@mistakes.add(hint="Print the dtype of q and that of the answer.", seen="courses")
def made_float32(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """Networks compute in float32, and the last digits do not matter."""
    out, cache = right.attention(*(one.astype(np.float32) for one in (q, k, v)), allowed)
    return out.astype(np.float64), cache


@mistakes.add(hint="What is the dtype of np.zeros_like of an array of integers?", seen="courses")
def like_v(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The answer is filled into np.empty of the dtype of v."""
    exact, cache = right.attention(q, k, v, allowed)
    return exact.astype(v.dtype), cache


@mistakes.add(hint="How many results does the task name, and in which order?", seen="courses")
def out_alone(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The answer is out; who needs a cache can make one."""
    return right.attention(q, k, v, allowed)[0]


@mistakes.add(
    hint="Which one needs the backward pass: scores, or what the softmax makes of them?", seen="courses"
)
def scores_kept_as_weights(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The cache keeps the table of scores as weights."""
    out, cache = right.attention(q, k, v, allowed)
    scores = cache["q"] @ cache["k"].swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    return out, {**cache, "weights": scores}


@mistakes.add(hint="Print the cache's q beside the q of the call.", seen="courses")
def scaled_queries_kept(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The queries are divided by the root of d at first, and the cache takes them as they are then."""
    out, cache = right.attention(q, k, v, allowed)
    return out, {**cache, "q": cache["q"] / np.sqrt(q.shape[-1])}


@mistakes.add(hint="Whose weights does the cache hold, when there is a batch of two?", seen="courses")
def weights_of_first_kept(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The cache keeps the weights of the first sequence, as an example."""
    out, cache = right.attention(q, k, v, allowed)
    return out, {**cache, "weights": cache["weights"][:1] if q.ndim > 2 else cache["weights"]}


@mistakes.add(hint="Which keys does the task name?", seen="courses")
def weights_not_kept(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The backward pass can compute the weights anew from q and k."""
    out, cache = right.attention(q, k, v, allowed)
    return out, {**{name: cache[name] for name in "qkv"}, "allowed": allowed}


@mistakes.add(hint="Where do all weights go when no key is allowed?", seen="pytorch/pytorch#41508")
def without_keys_answered(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """A query without any key gets an answer like all others, whatever comes out."""

    def weigh(scores: Array) -> Any:
        with np.errstate(invalid="ignore"):
            masked = np.where(allowed, scores, -np.inf)
            powers = np.exp(masked - masked.max(axis=-1, keepdims=True))
            return powers / powers.sum(axis=-1, keepdims=True)

    return gathered(q, k, v, weigh)


@mistakes.add(hint="Who notices a mask with a column too many?", seen="courses")
def mask_cut_to_fit(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """A mask that is larger than the scores is cut to their size, as from a buffer."""
    return right.attention(q, k, v, allowed[..., : q.shape[-2], : k.shape[-2]])


@mistakes.add(hint="What is the softmax of one single score?", seen="courses")
def single_key_ignored(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """A query with one single key has nothing to choose from, so it gets zeros."""
    out, cache = right.attention(q, k, v, allowed)
    alone = np.broadcast_to(allowed, cache["weights"].shape).sum(axis=-1) == 1
    return np.where(alone[..., None], 0.0, out), cache


@mistakes.add(hint="Whose array does an operator such as /= change?", seen="linkedin/Liger-Kernel#254")
def scaled_in_place(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The queries are not needed any more once they have been scaled in place."""
    result = right.attention(q.copy(), k, v, allowed)
    if q.dtype.kind == "f":
        q /= np.sqrt(q.shape[-1])
    return result


@mistakes.add(hint="Whose mask is it that you turn around?", seen="courses")
def mask_inverted_in_place(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The mask of hidden keys is made of that of allowed ones in place."""
    result = right.attention(q, k, v, allowed.copy())
    np.logical_not(allowed, out=allowed)
    return result


@mistakes.add(
    stateful=True,
    hint="Call attention twice with different masks: does the second one count?",
    seen="courses",
)
def first_mask_kept(right: ModuleType) -> Any:
    """The mask of a shape is kept since the first call."""
    kept: dict[tuple[int, ...], Array] = {}

    def attention(q: Array, k: Array, v: Array, allowed: Array) -> Any:
        return right.attention(q, k, v, kept.setdefault(allowed.shape, allowed))

    return attention


@mistakes.add(stateful=True, hint="Call attention twice and look at the first cache again.", seen="courses")
def one_cache(right: ModuleType) -> Any:
    """One dict in a global variable can serve as the cache of all calls."""
    cache: dict[str, Any] = {}

    def attention(q: Array, k: Array, v: Array, allowed: Array) -> Any:
        out, fresh = right.attention(q, k, v, allowed)
        cache.update(fresh)
        return out, cache

    return attention
