"""Mistakes seen in ``multihead`` in what surrounds the numbers: dtypes, results, arguments, memory."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.mistakes import MistakeSet

from .forward_parts import Array, Params

mistakes = MistakeSet("multihead")


@mistakes.add(
    hint="Print the dtype of x and that of y.",
    seen="courses",
)
def made_float32(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Networks compute in float32, and the last digits do not matter."""
    params = {name: matrix.astype(np.float32) for name, matrix in params.items()}
    y, cache = right.multihead(x.astype(np.float32), params, heads, allowed)
    return y.astype(np.float64), cache


@mistakes.form("made_float32")
def made_float32_throughout(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """What is computed in float32 is returned as float32."""
    params = {name: matrix.astype(np.float32) for name, matrix in params.items()}
    return right.multihead(x.astype(np.float32), params, heads, allowed)


@mistakes.form("made_float32")
def made_float32_at_the_end(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Only y becomes float32."""
    y, cache = right.multihead(x, params, heads, allowed)
    return y.astype(np.float32), cache


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
    hint="Print the cache's x beside the x of the call.",
    seen="courses",
)
def queries_kept_as_x(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """Once keys and values are there, x may hold the queries, and the cache takes x as it is then."""
    y, cache = right.multihead(x, params, heads, allowed)
    return y, {**cache, "x": x @ params["wq"]}


@mistakes.add(
    hint="Whose array is it that a line such as x[...] = 0 or x -= 1 changes?",
    seen="linkedin/Liger-Kernel#254",
)
def x_overwritten(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The input may serve as a scratch pad once the projections are done."""
    y, cache = right.multihead(x.copy(), params, heads, allowed)
    x -= x
    return y, cache


@mistakes.add(
    hint="Whose matrix is it that your function scales?",
    seen="linkedin/Liger-Kernel#254",
)
def scale_put_into_wq(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    """The scale can be put into the matrix wq once and for all."""
    result = right.multihead(x, dict(params), heads, allowed)
    params["wq"] = params["wq"] / np.sqrt(x.shape[-1] / heads)
    return result


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


@mistakes.form("first_params_kept", stateful=True)
def very_first_params_kept(right: ModuleType) -> Any:
    """They are kept whatever shapes come later."""
    kept: list[Params] = []

    def multihead(x: Array, params: Params, heads: int, allowed: Array) -> Any:
        kept.append(params)
        return right.multihead(x, kept[0], heads, allowed)

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
