import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from autograder.checking.seeds import VARIANTS, rng, variant_of

words = st.text(max_size=8)
keys = st.tuples(st.binary(max_size=8), words, words, words, st.integers(0, 15), st.integers(0, 3))


def first(key: tuple[bytes, str, str, str, int, int]) -> list[int]:
    return rng(*key).integers(0, 2**63, 4).tolist()


@given(keys)
def test_the_same_key_gives_the_same_numbers(key: tuple[bytes, str, str, str, int, int]) -> None:
    assert first(key) == first(key)


@given(keys, keys)
def test_different_keys_give_different_numbers(
    one: tuple[bytes, str, str, str, int, int], other: tuple[bytes, str, str, str, int, int]
) -> None:
    # HMAC fills a short key up with zero bytes: such secrets are one secret.
    same = (one[0].rstrip(b"\0"), *one[1:]) == (other[0].rstrip(b"\0"), *other[1:])
    assert (first(one) == first(other)) == same


def test_words_cannot_be_moved_from_one_place_to_the_next() -> None:
    assert first((b"k", "ab", "c", "d", 1, 11)) != first((b"k", "a", "bc", "d", 1, 11))
    assert first((b"k", "a", "b", "c", 1, 11)) != first((b"k", "a", "b", "c", 11, 1))


def test_numbers_stay_the_same_from_release_to_release() -> None:
    generator = rng(b"secret", "multihead", "split_heads", "values", 3)
    assert generator.integers(0, 1000, 5).tolist() == [685, 320, 142, 858, 442]
    assert variant_of(b"secret", "s01") == 6


@given(st.binary(max_size=8), st.text() | st.text(st.characters(categories=["Cs"])))
def test_every_student_has_a_variant(secret: bytes, student: str) -> None:
    assert 0 <= variant_of(secret, student) < VARIANTS
    assert variant_of(secret, student) == variant_of(secret, student)


def test_variants_are_dealt_out_evenly_and_depend_on_the_secret() -> None:
    students = [f"student{i}" for i in range(1600)]
    dealt = np.bincount([variant_of(b"a", one) for one in students], minlength=VARIANTS)
    assert dealt.min() > 60
    assert any(variant_of(b"a", one) != variant_of(b"b", one) for one in students[:20])
