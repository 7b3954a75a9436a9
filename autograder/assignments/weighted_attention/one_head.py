"""The layer with one head, shown as multi-head attention: what is known of that holds of this one, too."""

from typing import Any

from autograder.assignments.attention_layer.draws import Array

Cache = dict[str, Any]
Params = dict[str, Array]


class OneHead:
    """A reference of ``weighted_attention`` with the functions of ``multihead``, for one head alone."""

    def __init__(self, right: Any):
        self.attention = right.attention
        self.attention_backward = right.attention_backward
        self._right = right

    def split_heads(self, x: Array, heads: int) -> Array:
        """All channels for the one head."""
        return x.reshape(x.shape[0], x.shape[1], heads, -1).swapaxes(1, 2)

    def merge_heads(self, h: Array) -> Array:
        """All channels of the one head."""
        return h[:, 0]

    def multihead(self, x: Array, params: Params, heads: int, allowed: Array) -> tuple[Array, Cache]:
        """The layer's forward pass."""
        y, cache = self._right.weighted_attention(x, params, allowed)
        return y, with_heads(cache)

    def multihead_backward(self, cache: Cache, params: Params, dy: Array) -> tuple[Array, dict[str, Array]]:
        """The layer's backward pass."""
        dx, grads = self._right.weighted_attention_backward(without_heads(cache), params, dy)
        return dx, grads


def with_heads(cache: Cache) -> Cache:
    """A cache of ``weighted_attention`` in the form of one of ``multihead``; its arrays are the same."""
    inner = {name: array[:, None] for name, array in cache["attention"].items()}
    return {"x": cache["x"], "heads": 1, "attention": inner, "joined": cache["out"]}


def without_heads(cache: Cache) -> Cache:
    """A cache of ``multihead`` in one head in the form of one of ``weighted_attention``."""
    inner = {name: array[:, 0] for name, array in cache["attention"].items()}
    return {"x": cache["x"], "attention": inner, "out": cache["joined"]}
