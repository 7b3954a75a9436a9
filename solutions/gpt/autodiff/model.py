"""A small language model: it reads characters and says, at each place, which one it expects next.

    characters -> token embedding + position embedding
               -> block -> block              each: attention, then feed-forward (d -> 4 d, GELU, -> d)
               -> linear layer                a score for every character of the vocabulary

There is no residual path and no normalisation: attention is the only way in which places hear of each other.
How they do is for the attention layer alone to say, and it is handed in from outside.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from autodiff.layers import GELU, Composite, Embedding, Layer, Linear
from autodiff.tensor import Tensor

#: Makes an attention layer, (batch, seq, d_model) -> the same shape, from d_model and a source of numbers.
MakeAttention: TypeAlias = Callable[[int, np.random.Generator], Layer]


class Block(Composite):
    """Attention among the places, then a feed-forward step at each place by itself."""

    def __init__(self, d_model: int, make_attention: MakeAttention, rng: np.random.Generator):
        super().__init__()
        self.attention = make_attention(d_model, rng)
        if not isinstance(self.attention, Layer):
            raise TypeError(
                f"The attention layer must be a Layer of autodiff, not {type(self.attention).__name__}: is "
                "its class made from Layer or Composite, and autodiff loaded only once?"
            )
        self.feed_forward = Composite(
            Linear(d_model, 4 * d_model, rng), GELU(), Linear(4 * d_model, d_model, rng)
        )

    def forward(self, x: Tensor) -> Tensor:
        """(batch, seq, d_model) -> (batch, seq, d_model)."""
        heard = self.attention(x)
        if heard.shape != x.shape:
            raise ValueError(
                f"{type(self.attention).__name__} was given shape {x.shape} and must answer in it, but its "
                f"answer has shape {heard.shape}."
            )
        return self.feed_forward(heard)


class Model(Composite):
    """The whole model.

    Args:
        vocabulary: how many different characters there are.
        context: how many places it can read at most.
        make_attention: makes the attention layer of a block.
        seed: where the first numbers of all parameters come from: a number, or a random generator.

    >>> from autodiff.layers import Linear
    >>> model = Model(65, make_attention=lambda d_model, rng: Linear(d_model, d_model, rng))
    >>> model(np.zeros((4, 32), dtype=int)).shape
    (4, 32, 65)
    """

    def __init__(
        self,
        vocabulary: int,
        *,
        make_attention: MakeAttention,
        context: int = 32,
        d_model: int = 64,
        blocks: int = 2,
        seed: int | np.random.Generator = 42,
    ):
        super().__init__()
        rng = np.random.default_rng(seed)
        self.context = context
        self.token = Embedding(vocabulary, d_model, rng)
        self.position = Embedding(context, d_model, rng)
        self.blocks = Composite(*(Block(d_model, make_attention, rng) for _ in range(blocks)))
        self.output = Linear(d_model, vocabulary, rng)

    def attention_layers(self) -> list[Layer]:
        """The attention layer of each block."""
        return [block.attention for block in self.blocks.steps if isinstance(block, Block)]

    def forward(self, x: NDArray[np.integer]) -> Tensor:
        """The numbers of characters, (batch, seq), -> scores of the next ones, (batch, seq, vocabulary).

        Raises ValueError where ``seq`` is longer than the context.
        """
        if x.ndim != 2 or not 0 < x.shape[1] <= self.context:
            raise ValueError(
                f"The model reads numbers of shape (batch, seq) with 1 to {self.context} places, "
                f"not {x.shape}."
            )
        places = self.position(np.arange(x.shape[1]))
        return self.output(self.blocks(self.token(x) + places))
