"""A right solution around the given attention: stacks, concatenations, unusual memory layouts.

Its answers are read-only, in Fortran order or views; arguments are looked at through keywords; and the
second result of ``multihead`` is an object that can be asked for keys like a dict.
"""

import operator

import numpy as np

from attention import attention, attention_backward


class Cache(dict):
    """A dict with attributes."""

    def __getattr__(self, name):
        return self[name]


def _count(heads):
    if isinstance(heads, bool):
        raise TypeError("a bool is no count")
    return operator.index(heads)


def split_heads(x, heads):
    if x.ndim != 3:
        raise ValueError("x needs three axes")
    count = _count(heads)
    if count <= 0 or x.shape[2] % count > 0:
        raise ValueError("channels cannot be dealt out")
    answer = np.stack(np.split(np.array(x, order="F"), count, axis=2), axis=1)
    answer.flags.writeable = False
    return answer


def merge_heads(h):
    if h.ndim != 4:
        raise ValueError("h needs four axes")
    return np.asfortranarray(np.concatenate([h[:, head] for head in range(h.shape[1])], axis=-1))


def _flat(a):
    return a.reshape(-1, a.shape[-1])


def multihead(x, params, heads, allowed):
    width = x.shape[-1]
    work = x if x.dtype in (np.float32, np.float64) else x.astype(float)
    together = _flat(work) @ np.hstack([params["wq"], params["wk"], params["wv"]])
    parts = np.split(together.reshape(*x.shape[:2], 3 * width), 3, axis=-1)
    out, inner = attention(*(split_heads(part, heads) for part in parts), allowed=allowed)
    joined = merge_heads(out)
    y = np.tensordot(joined, params["wo"], axes=([2], [0]))
    y.setflags(write=False)
    return y, Cache(x=work, heads=np.int64(heads), attention=inner, joined=joined, mask=allowed.copy())


def multihead_backward(cache, params, dy):
    into_heads = split_heads(np.dot(dy, np.transpose(params["wo"])), cache.heads)
    back = attention_backward(cache.attention, into_heads)
    together = np.concatenate([merge_heads(back[name]) for name in ("q", "k", "v")], axis=-1)
    inward = np.hstack([params["wq"], params["wk"], params["wv"]])
    dw = np.split(_flat(cache.x).T @ _flat(together), 3, axis=1)
    grads = dict(zip(("wq", "wk", "wv"), dw, strict=True), wo=_flat(cache.joined).T @ _flat(dy))
    return (_flat(together) @ inward.T).reshape(dy.shape), grads
