"""Mistakes seen in ``multihead``."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograder.checking.mistakes import MistakeSet

Array = NDArray[Any]
Params = dict[str, Array]
#: From scores of shape (B, H, T, T) to weights.
Softmax = Callable[[Array], Array]

mistakes = MistakeSet("multihead")


def _with_softmax(right: ModuleType, x: Array, params: Params, heads: int, softmax: Softmax) -> Any:
    """The right layer around a softmax, and a mask, of one's own."""
    if x.dtype.kind != "f":
        x = x.astype(np.float64)
    q, k, v = (right.split_heads(x @ params[name], heads) for name in ("wq", "wk", "wv"))
    weights = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))
    joined = right.merge_heads(weights @ v)
    cache = {"q": q, "k": k, "v": v, "weights": weights}
    return joined @ params["wo"], {"x": x, "heads": heads, "attention": cache, "joined": joined}


def _scaled(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array, ratio: float) -> Any:
    """The right layer but for its scores, which are ``ratio`` times as large."""
    return right.multihead(x, {**params, "wq": params["wq"] * ratio}, heads, allowed)


def _softmax(scores: Array, axis: int = -1) -> Any:
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


@mistakes.add(
    hint="How many products are added up in one score of one head?",
    seen="Graylab/DL4Proteins-notebooks#12",
)
def scale_d_model(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The scores are divided by the square root of d_model, the width of the layer."""
    return _scaled(right, x, params, heads, allowed, 1 / np.sqrt(heads))


@mistakes.add(
    hint="Does a score get larger when there are more heads, or when a head is wider?",
    seen="tenstorrent/tt-metal#56789",
)
def scale_heads(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The scores are divided by the square root of the number of heads."""
    return _scaled(right, x, params, heads, allowed, np.sqrt(x.shape[2] / heads) / np.sqrt(heads))


@mistakes.add(
    hint="Does one score get larger when the sequence is longer?",
    seen="courses",
)
def scale_seq(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The scores are divided by the square root of the length of the sequence."""
    return _scaled(right, x, params, heads, allowed, np.sqrt(x.shape[2] / heads / x.shape[1]))


@mistakes.add(
    hint="How large does a product of two random vectors get when they grow longer?",
    seen="mlc-ai/mlc-llm#3426",
)
def no_scale(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The scores need no scale."""
    return _scaled(right, x, params, heads, allowed, np.sqrt(x.shape[2] / heads))


@mistakes.add(
    hint="Does attention() scale already?",
    seen="huggingface/transformers#38290",
)
def scale_twice(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The queries are divided by the square root of d before attention divides the scores; in all, by d."""
    return _scaled(right, x, params, heads, allowed, 1 / np.sqrt(x.shape[2] / heads))


@mistakes.add(
    hint="Is the scale there to make scores larger, or smaller?",
    seen="courses",
)
def scale_multiplied(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The scores are multiplied by the square root of d."""
    return _scaled(right, x, params, heads, allowed, x.shape[2] / heads)


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
    return _with_softmax(right, x, params, heads, lambda s: _softmax(np.where(allowed, s, -1e300), axis=-2))


@mistakes.add(
    hint="What is np.exp(1000.0)?",
    seen="pytorch/executorch#18407",
)
def no_maximum(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The exponentials can be taken of the scores as they are."""

    def softmax(scores: Array) -> Any:
        powers = np.where(allowed, np.exp(scores), 0)
        return powers / powers.sum(axis=-1, keepdims=True)

    return _with_softmax(right, x, params, heads, softmax)


@mistakes.add(
    hint="What is left of a row whose scores all lie far below the largest score of the whole table?",
    seen="courses",
)
def one_maximum(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The largest score of the whole array is subtracted, so that no exponential overflows."""

    def softmax(scores: Array) -> Any:
        powers = np.where(allowed, np.exp(scores - scores.max()), 0)
        return powers / powers.sum(axis=-1, keepdims=True)

    return _with_softmax(right, x, params, heads, softmax)


@mistakes.add(
    hint="To what do the weights of a row sum once some of them have been set to zero?",
    seen="huggingface/pytorch-image-models#2236",
)
def mask_after_softmax(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Weights of keys that are not allowed are set to zero after the softmax."""
    return _with_softmax(right, x, params, heads, lambda s: np.where(allowed, _softmax(s), 0))


@mistakes.add(
    hint="What weight does a key get whose score is zero?",
    seen="courses",
)
def scores_times_mask(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Multiplying the scores by the mask takes keys out."""
    return _with_softmax(right, x, params, heads, lambda s: _softmax(s * allowed))


@mistakes.add(
    hint="What does a True in allowed say?",
    seen="rasbt/LLMs-from-scratch#1061",
)
def mask_inverted(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """True marks the keys that are hidden."""
    return _with_softmax(right, x, params, heads, lambda s: _softmax(np.where(allowed, -1e9, s)))


@mistakes.add(
    hint="Which axis of the scores belongs to the queries, and which axis of allowed?",
    seen="courses",
)
def mask_transposed(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The rows of the mask are the keys."""
    return right.multihead(x, params, heads, allowed.T)


@mistakes.add(
    hint="Change one value of allowed: what changes in y?",
    seen="stanford-cs336/assignment1-basics#51",
)
def mask_ignored(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Every token may look at every other; a mask of -1e-9 where -1e9 was meant comes to the same."""
    return right.multihead(x, params, heads, np.ones_like(allowed))


@mistakes.add(
    hint="Who decides which keys a query may look at: your function or its caller?",
    seen="facebookresearch/xformers#103",
)
def always_causal(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Attention is causal, so the mask is the lower triangle."""
    return right.multihead(x, params, heads, np.tri(len(allowed), dtype=bool))


@mistakes.add(
    hint="May a token look at itself?",
    seen="RVC-Boss/GPT-SoVITS#965",
)
def diagonal_hidden(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """A token looks at others, never at itself."""
    others = allowed & ~np.eye(len(allowed), dtype=bool)
    return _with_softmax(right, x, params, heads, lambda s: _softmax(np.where(others, s, -1e9)))


@mistakes.add(
    hint="Which of the four matrices does y not depend on?",
    seen="Kyubyong/transformer#117",
)
def no_output_projection(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The merged heads are the answer."""
    _, cache = right.multihead(x, params, heads, allowed)
    return cache["joined"], cache


@mistakes.add(
    hint="Which of the four matrices does y not depend on?",
    seen="ethen8181/machine-learning#13",
)
def values_not_projected(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """What is gathered is x itself."""
    return right.multihead(x, {**params, "wv": np.eye(x.shape[-1])}, heads, allowed)


@mistakes.add(
    hint="Compare the lines for queries and keys letter by letter.",
    seen="apple/ml-cvnets#81",
)
def keys_by_wq(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Queries and keys come from one matrix."""
    return right.multihead(x, {**params, "wk": params["wq"]}, heads, allowed)


@mistakes.add(
    hint="In which order does attention() take queries and keys, and which of them is the row of the scores?",
    seen="courses",
)
def queries_and_keys_exchanged(
    right: ModuleType, x: Array, params: Params, heads: int, allowed: Array
) -> Any:
    """It does not matter which of the two asks and which answers."""
    exchanged = {**params, "wq": params["wk"], "wk": params["wq"]}
    return right.multihead(x, exchanged, heads, allowed)


@mistakes.add(
    hint="Which is gathered in the end: what keys hold, or what values hold?",
    seen="courses",
)
def keys_and_values_exchanged(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Keys are gathered, and values compared with the queries."""
    return right.multihead(x, {**params, "wk": params["wv"], "wv": params["wk"]}, heads, allowed)


@mistakes.add(
    hint="Are rows or columns of a matrix the inputs in x @ w?",
    seen="courses",
)
def weights_transposed(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """A linear layer computes x @ w.T."""
    return right.multihead(x, {name: matrix.T for name, matrix in params.items()}, heads, allowed)


@mistakes.add(
    hint="Which of the input channels can reach the queries of head 0?",
    seen="courses",
)
def split_before_projection(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Each head projects its own channels with its own block of the matrices."""
    block = np.kron(np.eye(heads), np.ones((x.shape[-1] // heads, x.shape[-1] // heads)))
    blocks = {name: params[name] * block for name in ("wq", "wk", "wv")}
    return right.multihead(x, {**params, **blocks}, heads, allowed)


@mistakes.add(
    hint="Does y depend on heads at all?",
    seen="feevos/ceecnet#6",
)
def one_head(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """All channels form one head."""
    y, cache = right.multihead(x, params, 1, allowed)
    return y, {**cache, "heads": heads}


@mistakes.add(
    hint="Follow one token's numbers from the heads back to its row.",
    seen="jsbaan/transformer-from-scratch#6",
)
def joined_by_reshape(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """One reshape brings the heads together again."""
    _, cache = right.multihead(x, params, heads, allowed)
    joined = right.split_heads(cache["joined"], heads).reshape(x.shape)
    return joined @ params["wo"], {**cache, "joined": joined}


@mistakes.add(
    hint="Is a residual path part of this layer?",
    seen="courses",
)
def residual_added(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The layer adds its input to its output."""
    y, cache = right.multihead(x, params, heads, allowed)
    return x + y, cache


@mistakes.add(
    hint="Print the dtype of x and that of y.",
    seen="courses",
)
def made_float32(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Networks compute in float32, and the last digits do not matter."""
    params = {name: matrix.astype(np.float32) for name, matrix in params.items()}
    y, cache = right.multihead(x.astype(np.float32), params, heads, allowed)
    return y.astype(np.float64), cache


@mistakes.add(
    hint="What is the dtype of np.zeros_like of an array of integers?",
    seen="courses",
)
def like_x(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The answer is filled into np.empty_like(x), which has the right shape."""
    exact, cache = right.multihead(x, params, heads, allowed)
    y = np.empty_like(x)
    y[...] = exact
    return y, cache


@mistakes.add(
    hint="How many results does the task name, and in which order?",
    seen="courses",
)
def y_alone(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The answer is y; who needs a cache can make one."""
    return right.multihead(x, params, heads, allowed)[0]


@mistakes.add(
    hint="Which of the two does dwo need: what goes into the last product, or what comes out of it?",
    seen="courses",
)
def joined_is_y(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The cache keeps the last result as joined."""
    y, cache = right.multihead(x, params, heads, allowed)
    return y, {**cache, "joined": y}


@mistakes.add(
    hint="Whose arrays does an operator such as /= change?",
    seen="linkedin/Liger-Kernel#254",
)
def x_centred_in_place(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The input may serve as a scratch pad once the projections are done."""
    y, cache = right.multihead(x.copy(), params, heads, allowed)
    x -= x
    return y, cache


@mistakes.add(
    stateful=True,
    hint="Call multihead twice with different params: does the second y differ?",
    seen="courses",
)
def first_params_kept(right: ModuleType) -> Any:
    """The parameters are kept in a global variable since the first call."""
    kept: dict[tuple[int, ...], Params] = {}

    def multihead(x: Array, params: Params, heads: int, allowed: Array) -> Any:
        first = kept.setdefault(params["wq"].shape, params)
        return right.multihead(x, first, heads, allowed)

    return multihead


@mistakes.add(
    stateful=True,
    hint="Call multihead twice and look at the first cache again.",
    seen="courses",
)
def one_cache(right: ModuleType) -> Any:
    """One dict in a global variable can serve as the cache of all calls."""
    cache: dict[str, Any] = {}

    def multihead(x: Array, params: Params, heads: int, allowed: Array) -> Any:
        y, fresh = right.multihead(x, params, heads, allowed)
        cache.update(fresh)
        return y, cache

    return multihead
