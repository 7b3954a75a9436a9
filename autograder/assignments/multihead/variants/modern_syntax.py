"""Pattern matching, walrus, dataclasses, star expressions, and a match on the type of heads."""

from dataclasses import dataclass, field

import numpy as np

from attention import attention, attention_backward


@dataclass(slots=True)
class Inner:
    """What attention leaves behind."""

    kept: dict = field(default_factory=dict)


def split_heads(x, heads):
    match heads:
        case bool():
            raise TypeError("a truth value counts nothing")
        case int() | np.integer() if heads > 0:
            pass
        case int() | np.integer():
            raise ValueError("heads must be positive")
        case _:
            raise TypeError(f"{heads!r} is no integer")
    match x.shape:
        case (batch, seq, channels) if (rest := channels % heads) == 0:
            return x.reshape(batch, seq, heads, channels // heads).transpose(0, 2, 1, 3)
        case (_, _, _):
            raise ValueError(f"{rest} channels would be left over")
        case shape:
            raise ValueError(f"{len(shape)} axes")


def merge_heads(h):
    match h.shape:
        case (batch, heads, seq, width):
            return h.transpose(0, 2, 1, 3).reshape(batch, seq, heads * width)
        case shape:
            raise ValueError(f"{len(shape)} axes")


def multihead(x, params, heads, allowed):
    match x.dtype.kind:
        case "f":
            pass
        case _:
            x = x.astype(np.float64)
    *parts, wo = (params[name] for name in ("wq", "wk", "wv", "wo"))
    out, kept = attention(*[split_heads(x @ w, heads) for w in parts], allowed)
    y = (joined := merge_heads(out)) @ wo
    return y, {"x": x, "heads": heads, "attention": Inner(kept), "joined": joined}


def multihead_backward(cache, params, dy):
    match cache:
        case {"x": x, "heads": heads, "attention": Inner(kept=kept), "joined": joined}:
            inner = attention_backward(kept, split_heads(dy @ params["wo"].T, heads))
    dx, grads = np.zeros_like(x), {"wo": np.einsum("bti,btj->ij", joined, dy)}
    for letter, grad in inner.items():
        dx += (part := merge_heads(grad)) @ params[name := f"w{letter}"].T
        grads[name] = np.einsum("bti,btj->ij", x, part)
    return dx, grads
