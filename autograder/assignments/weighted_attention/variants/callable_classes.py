"""Classes with __call__: each function is an object that looks like one."""

import numpy as np


class CausalMask:
    def __call__(self, seq):
        if isinstance(seq, bool) or not isinstance(seq, (int, np.integer)):
            raise TypeError("seq must be an integer")
        if seq < 1:
            raise ValueError("seq must be positive")
        return np.tri(N=seq, M=seq, k=0, dtype=bool)


class Attention:
    def __call__(self, q, k, v, allowed):
        q, k, v = map(self.float, (q, k, v))
        scores = self.hide(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), allowed)
        weights = self.softmax(scores)
        return weights @ v, {"q": q, "k": k, "v": v, "weights": weights}

    @staticmethod
    def float(a):
        return a if np.issubdtype(a.dtype, np.floating) else a.astype(np.float64)

    @staticmethod
    def hide(scores, allowed):
        table = np.broadcast_to(allowed, scores.shape)
        if (table.sum(axis=-1) == 0).any():
            raise ValueError("no key is allowed")
        return np.where(table, scores, -np.inf)

    @staticmethod
    def softmax(scores):
        powers = np.exp(scores - np.amax(scores, axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)


class AttentionBackward:
    def __call__(self, cache, dout):
        w, t = cache["weights"], lambda a: a.swapaxes(-1, -2)
        g = dout @ t(cache["v"])
        s = (w * g - w * np.sum(w * g, axis=-1, keepdims=True)) / np.sqrt(dout.shape[-1])
        return {"q": s @ cache["k"], "k": t(s) @ cache["q"], "v": t(w) @ dout}


class Layer:
    def __call__(self, x, params, allowed):
        x = attention.float(x)
        out, inner = attention(x @ params["wq"], x @ params["wk"], x @ params["wv"], allowed)
        return out @ params["wo"], {"x": x, "attention": inner, "out": out}


class LayerBackward:
    def __call__(self, cache, params, dy):
        d = attention_backward(cache["attention"], dy @ params["wo"].T)
        pairs = [("wo", cache["out"], dy), *(("w" + name, cache["x"], d[name]) for name in "qkv")]
        grads = {name: np.tensordot(a, b, axes=([0, 1], [0, 1])) for name, a, b in pairs}
        return sum(d[name] @ params["w" + name].T for name in "qkv"), grads


causal_mask = CausalMask()
attention = Attention()
attention_backward = AttentionBackward()
weighted_attention = Layer()
weighted_attention_backward = LayerBackward()
