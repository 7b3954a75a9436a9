"""Windows of text: where they begin, how they are dealt into batches, what the lesson's text gives."""

import numpy as np
import pytest

from autodiff.data import Characters, Vocabulary, Windows


def test_a_character_that_was_never_seen_is_named() -> None:
    with pytest.raises(ValueError, match="The character 'x' does not occur in the training text"):
        Vocabulary("banana").encode("nax")


def test_text_comes_back_from_its_numbers() -> None:
    vocabulary = Vocabulary("to be or not to be\n")
    assert "be\not" == vocabulary.decode(vocabulary.encode("be\not"))
    assert sorted(vocabulary.characters) == list(vocabulary.characters)


def test_a_text_as_long_as_the_lessons_gives_its_batches() -> None:
    text = ("".join(map(chr, range(65, 130))) * 17160)[:1_115_394]
    characters = Characters(text)
    assert (65, 15684, 1742) == (len(characters.vocabulary), len(characters.training), len(characters.test))
    inputs, targets = characters.test[1741]
    assert ((4, 32), (4, 32)) == (inputs.shape, targets.shape)
    assert np.array_equal(inputs[:, 1:], targets[:, :-1])


def test_the_last_batch_is_left_out_where_windows_are_lacking() -> None:
    assert [1, 1, 2] == [len(Windows(np.arange(n), context=8, stride=4, batch=3)) for n in (17, 28, 29)]
    with pytest.raises(ValueError, match=r"16 characters are too few: .* takes 17"):
        Windows(np.arange(16), context=8, stride=4, batch=3)


@pytest.mark.parametrize("number", [-1, 7])
def test_a_batch_that_does_not_exist_is_refused(number: int) -> None:
    with pytest.raises(IndexError, match=f"There is no batch {number}: they have the numbers 0 to 6"):
        Windows(np.arange(100), context=8, stride=4, batch=3)[number]


def test_shuffling_deals_every_window_once_and_the_same_way_for_the_same_seed() -> None:
    def dealt(*seed: int) -> list[int]:
        windows = Windows(np.arange(100), context=8, stride=4, batch=3)
        windows.shuffle(*seed)
        return [int(first) for number in range(len(windows)) for first in windows[number][0][:, 0]]

    assert dealt(42, 0) == dealt(42, 0)
    assert dealt(42, 0) != dealt(42, 1)
    assert 21 == len(set(dealt(42, 0)))
