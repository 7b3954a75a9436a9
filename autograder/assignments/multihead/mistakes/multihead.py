"""Mistakes seen in ``multihead``."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.mistakes import MistakeSet

from . import forward_contract, forward_scores
from .forward_parts import Array, Params

mistakes = MistakeSet("multihead")
mistakes.include(forward_scores.mistakes)
mistakes.include(forward_contract.mistakes)


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
    seen="courses",
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
    hint="Which of the four matrices does y not depend on?",
    seen="courses",
)
def values_by_wk(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """What a key holds is what it was compared by."""
    return right.multihead(x, {**params, "wv": params["wk"]}, heads, allowed)


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
    hint="Channel i of joined reaches channel j of y through one entry of wo: which one?",
    seen="courses",
)
def wo_transposed(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """On the way out the matrix is used the other way round."""
    return right.multihead(x, {**params, "wo": params["wo"].T}, heads, allowed)


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
    hint="What else than heads may decide how many heads there are?",
    seen="courses",
)
def two_heads(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """There are two heads, as in the lesson's example."""
    y, cache = right.multihead(x, params, 2, allowed)
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
    hint="That joining undoes splitting is not enough: what does one head hold in between?",
    seen="courses",
)
def split_and_joined_by_reshape(
    right: ModuleType, x: Array, params: Params, heads: int, allowed: Array
) -> Any:
    """A reshape to heads and a reshape back give x again, so both are right."""
    batch, seq, d_model = x.shape
    right.split_heads(x, heads)
    shape = (batch, heads, seq, d_model // heads)
    parts = ((1.0 * x) @ params[name] for name in ("wq", "wk", "wv"))
    out, inner = right.attention(*(part.reshape(shape) for part in parts), allowed)
    joined = out.reshape(x.shape)
    return joined @ params["wo"], {"x": x, "heads": heads, "attention": inner, "joined": joined}


@mistakes.add(
    hint="Which of your variables holds what the heads have gathered?",
    seen="ethen8181/machine-learning#13",
)
def values_joined(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Attention has been called, so that its values can be merged."""
    _, cache = right.multihead(x, params, heads, allowed)
    joined = right.merge_heads(cache["attention"]["v"])
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
    hint="After np.squeeze, how do you tell three sequences of one token from one sequence of three?",
    seen="courses",
)
def axes_of_one_dropped(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """An axis of length one carries nothing: np.squeeze(x), and what is left is a sequence."""
    flat = np.squeeze(x)
    y, cache = right.multihead(flat[None] if flat.ndim == 2 else x, params, heads, allowed)
    return y.reshape(x.shape), {**cache, "x": x, "joined": cache["joined"].reshape(x.shape)}
