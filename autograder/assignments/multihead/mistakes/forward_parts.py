"""What the mistakes of ``multihead`` are made of: the right layer around an attention of one's own."""

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograder.checking.mistakes import WrongFunction

Array = NDArray[Any]
Params = dict[str, Array]


def with_attention(
    attend: WrongFunction, right: ModuleType, x: Array, params: Params, heads: int, allowed: Array
) -> Any:
    """The right layer around ``attend(q, k, v, allowed)``."""
    if x.dtype.kind != "f":
        x = x.astype(np.float64)
    q, k, v = (right.split_heads(x @ params[name], heads) for name in ("wq", "wk", "wv"))
    out, inner = attend(q, k, v, allowed)
    joined = right.merge_heads(out)
    return joined @ params["wo"], {"x": x, "heads": heads, "attention": inner, "joined": joined}


def scaled(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array, ratio: float) -> Any:
    """The right layer but for its scores, which are ``ratio`` times as large."""
    return right.multihead(x, {**params, "wq": params["wq"] * ratio}, heads, allowed)
