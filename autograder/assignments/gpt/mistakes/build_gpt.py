"""Mistakes seen in ``build_gpt``."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.mistakes import MistakeSet

mistakes = MistakeSet("build_gpt")


def model(right: ModuleType, vocabulary: int, rng: Any, make_attention: Any, **sizes: Any) -> Any:
    """The lesson's model with these attention layers."""
    return right.Model(vocabulary, make_attention=make_attention, seed=rng, **sizes)


def attention(right: ModuleType, heads: int) -> Any:
    """What makes attention layers with so many heads."""
    return lambda d_model, rng: right.MultiHeadAttention(d_model, heads, rng)


@mistakes.add(hint="Which argument of Model says where the first numbers come from?", seen="courses")
def rng_not_used(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """The model has a seed of its own and needs no rng."""
    return right.Model(vocabulary, make_attention=attention(right, heads))


@mistakes.add(hint="Which rng does Model hand to make_attention, and which one do you use?", seen="courses")
def attention_from_another_rng(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """Attention layers draw their first numbers from a generator of their own."""

    def make_attention(d_model: int, rng: Any) -> Any:
        return right.MultiHeadAttention(d_model, heads, np.random.default_rng(42))

    return model(right, vocabulary, rng, make_attention)


@mistakes.add(hint="Can rng be handed on as it is?", seen="courses")
def seed_drawn_from_rng(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """Model wants a number as its seed, and rng draws one."""
    return model(right, vocabulary, int(rng.integers(2**31)), attention(right, heads))


@mistakes.add(hint="Where does the number of heads get into your attention layer?", seen="courses")
def always_two_heads(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """The lesson's model has two heads."""
    return model(right, vocabulary, rng, attention(right, 2))


@mistakes.add(hint="How many heads does a layer get that is made without a word on heads?", seen="courses")
def one_head(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """Heads are the model's affair, and a layer has one."""
    return model(right, vocabulary, rng, attention(right, 1))


@mistakes.add(
    hint="How often does Model call make_attention, and what must it get each time?", seen="courses"
)
def one_layer_in_all_blocks(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """One attention layer serves all blocks."""
    kept: list[Any] = []

    def make_attention(d_model: int, rng: Any) -> Any:
        kept.append(right.MultiHeadAttention(d_model, heads, rng))
        return kept[0]

    return model(right, vocabulary, rng, make_attention)


@mistakes.add(hint="Does a head have channels of its own, besides the 64?", seen="courses")
def channels_for_each_head(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """Every head brings 64 channels."""
    return model(right, vocabulary, rng, attention(right, heads), d_model=64 * heads)


@mistakes.add(hint="How many channels do the other layers of the model have?", seen="courses")
def narrow_model(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """The model is as wide as its context is long."""
    return model(right, vocabulary, rng, attention(right, heads), d_model=32)


@mistakes.add(
    hint="What do several heads in one layer do that layers one after the other cannot?", seen="courses"
)
def a_block_for_each_head(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """More heads are more attention layers, one after the other."""
    return model(right, vocabulary, rng, attention(right, 1), blocks=heads)


@mistakes.add(hint="How many blocks does the lesson's model have?", seen="courses")
def one_block(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """One block with several heads does what two blocks did."""
    return model(right, vocabulary, rng, attention(right, heads), blocks=1)


@mistakes.add(hint="How many places can the lesson's model read?", seen="courses")
def long_context(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """The model reads as many places as a token has channels."""
    return model(right, vocabulary, rng, attention(right, heads), context=64)


@mistakes.add(hint="What does Model ask of a text of 32 characters?", seen="courses")
def short_context(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """The heads share the places of the context."""
    return model(right, vocabulary, rng, attention(right, heads), context=32 // heads)


@mistakes.add(hint="How many different characters does this text have?", seen="courses")
def vocabulary_of_the_lesson(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """A text has 65 different characters."""
    return model(right, 65, rng, attention(right, heads))


@mistakes.add(hint="What does the last line of your function return?", seen="courses")
def nothing_returned(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """To build the model is enough."""
    model(right, vocabulary, rng, attention(right, heads))


@mistakes.add(hint="What reads characters and gives scores: the layer or the model?", seen="courses")
def layer_returned(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """The attention layer is what is asked for."""
    return right.MultiHeadAttention(64, heads, rng)


@mistakes.add(hint="What shall happen where 5 heads are asked for?", seen="vipshop/cache-dit#581")
def other_heads_where_they_do_not_divide(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """Where heads do not divide the channels, one head is taken."""
    fitting = heads if heads > 0 and 64 % heads == 0 else 1
    return model(right, vocabulary, rng, attention(right, fitting))


@mistakes.add(hint="Which blocks shall have several heads?", seen="courses")
def heads_in_the_first_block_only(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """The heads of the first block are enough."""
    counts = iter([heads])
    return model(
        right, vocabulary, rng, lambda d_model, rng: right.MultiHeadAttention(d_model, next(counts, 1), rng)
    )


@mistakes.add(hint="Where does a model look for its parameters?", seen="courses")
def layers_kept_twice(right: ModuleType, vocabulary: int, heads: int, rng: Any) -> Any:
    """A list of the attention layers in the model makes it easy to look at them."""
    made = model(right, vocabulary, rng, attention(right, heads))
    made.layers = made.attention_layers()
    return made


@mistakes.add(stateful=True, hint="Build two models: are they two?", seen="courses")
def model_built_once(right: ModuleType) -> Any:
    """A model that was built for so many characters and heads can be used again."""
    kept: dict[tuple[int, int], Any] = {}

    def build_gpt(vocabulary: int, heads: int, rng: Any) -> Any:
        if (vocabulary, heads) not in kept:
            kept[vocabulary, heads] = right.build_gpt(vocabulary, heads, rng)
        return kept[vocabulary, heads]

    return build_gpt


@mistakes.add(
    stateful=True, hint="Build a model with 2 heads, then one with 4, and use the first.", seen="courses"
)
def heads_kept_for_all_models(right: ModuleType) -> Any:
    """The number of heads is kept where all models find it."""
    kept: dict[str, int] = {}

    class Shared(right.MultiHeadAttention):  # type: ignore[misc, name-defined]
        """A layer that has the heads of the model that was built last."""

        def forward(self, x: Any) -> Any:
            self.heads = kept["heads"]
            return super().forward(x)

    def build_gpt(vocabulary: int, heads: int, rng: Any) -> Any:
        made = model(right, vocabulary, rng, lambda d_model, rng: Shared(d_model, heads, rng))
        kept["heads"] = heads
        return made

    return build_gpt
