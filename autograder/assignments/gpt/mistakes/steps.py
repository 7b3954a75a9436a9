"""``MultiHeadAttention`` in steps, so that a mistake can be made in one of them."""

import functools
import math
from types import ModuleType
from typing import Any


@functools.lru_cache(maxsize=8)
def steps(right: ModuleType) -> type:
    """The right layer, with a method for each step of the way forward."""

    class Steps(right.MultiHeadAttention):  # type: ignore[misc, name-defined]
        """The layer in steps."""

        def forward(self, x: Any) -> Any:
            q, k, v = self.project(x)
            shares = self.shares(self.scores(q, k))
            self.keep(shares)
            return self.answer(self.merge(self.gather(shares, v), x), x)

        def project(self, x: Any) -> Any:
            return self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))

        def split(self, x: Any) -> Any:
            return self._split(x)

        def scores(self, q: Any, k: Any) -> Any:
            return (q * (1 / math.sqrt(q.shape[-1]))) @ k.swapaxes(-1, -2)

        def shares(self, scores: Any) -> Any:
            return self.softmax(self.mask(scores))

        def keep(self, shares: Any) -> None:
            self.weights = shares.data

        def gather(self, shares: Any, v: Any) -> Any:
            return shares @ v

        def merge(self, gathered: Any, x: Any) -> Any:
            return gathered.transpose(0, 2, 1, 3).reshape(*x.shape)

        def answer(self, joined: Any, x: Any) -> Any:
            return self.output(joined)

    return Steps


def layer(right: ModuleType, size: tuple[Any, ...], **changed: Any) -> Any:
    """The layer of that size with some steps changed, each a function with ``self`` in front."""
    return type("MultiHeadAttention", (steps(right),), changed)(*size)


def scaled(right: ModuleType, size: tuple[Any, ...], by: Any) -> Any:
    """The layer whose products of queries and keys are multiplied by ``by(self, q)``."""
    return layer(right, size, scores=lambda self, q, k: (q * by(self, q)) @ k.swapaxes(-1, -2))
