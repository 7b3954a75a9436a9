"""Generated text follows the prompt, is repeatable, and refuses what it cannot begin with."""

import numpy as np
import pytest

from attention_layer import WeightedAttention
from autodiff.data import Vocabulary
from autodiff.generation import generate
from autodiff.model import Model

VOCABULARY = Vocabulary("abc :ROMEO")


def model() -> Model:
    return Model(len(VOCABULARY), make_attention=WeightedAttention, d_model=8)


def test_the_prompt_is_followed_by_so_many_characters() -> None:
    text = generate(model(), VOCABULARY)
    assert text.startswith("ROMEO:")
    assert 6 + 256 == len(text)
    assert text == generate(model(), VOCABULARY)
    assert text != generate(model(), VOCABULARY, seed=1)


def test_characters_are_drawn_by_their_shares() -> None:
    network = model()
    network.output.weight.data[:] = 0
    network.output.bias.data[:] = np.where(np.array(list(VOCABULARY.characters)) == "b", 50, 0)
    assert "a" + "b" * 40 == generate(network, VOCABULARY, "a", 40)


def test_a_prompt_that_is_empty_or_has_a_foreign_character_is_refused() -> None:
    with pytest.raises(ValueError, match="The prompt is empty"):
        generate(model(), VOCABULARY, "")
    with pytest.raises(ValueError, match="The character 'J' does not occur"):
        generate(model(), VOCABULARY, "J")
