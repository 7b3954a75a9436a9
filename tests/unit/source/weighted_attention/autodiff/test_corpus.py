"""The embedded text is the same everywhere, about 1 MB, and its nouns mean different things in company."""

import hashlib
from collections import Counter

import numpy as np

from autodiff.corpus import MEANINGS, PEOPLE, make_corpus


def test_it_is_the_same_text_on_every_machine() -> None:
    corpus = make_corpus()
    assert (1_000_000, 1_000_000, 44) == (len(corpus.text), len(corpus.is_sense), len(set(corpus.text)))
    assert corpus.text.isascii()
    digest = "00d33d71d4fd5a292f4fdb5426e79828cb3040573ef493fcc6305c4f238781f2"
    assert digest == hashlib.sha256(corpus.text.encode()).hexdigest()


def test_a_shorter_one_is_the_beginning_of_a_longer_one_and_another_seed_another_text() -> None:
    longer = make_corpus(2000)
    assert longer.text[:500] == make_corpus(500).text
    assert np.array_equal(longer.is_sense[:500], make_corpus(500).is_sense)
    assert longer.text != make_corpus(2000, seed=2).text


def test_the_marks_lie_on_the_words_that_show_a_meaning() -> None:
    corpus = make_corpus(20_000)
    words = "".join(letter if mark else " " for letter, mark in zip(*corpus, strict=True)).split()
    known = {word for senses in MEANINGS.values() for told in senses.values() for word in told}
    assert set(words[:-1]) <= known  # the last one may be cut short
    assert 0.14 < corpus.is_sense.mean() < 0.18


def test_neither_the_noun_nor_the_person_alone_decides_the_meaning() -> None:
    for noun, senses in MEANINGS.items():
        assert len(senses) == 2, noun
        first, second = senses.values()
        assert not set(first) & set(second), noun
        assert set(senses) <= set(PEOPLE), noun
    met = Counter(where for senses in MEANINGS.values() for where in senses)
    assert set(PEOPLE) == set(met)
    assert min(met.values()) >= 2
