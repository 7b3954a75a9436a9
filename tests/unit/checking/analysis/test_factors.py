import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from autograder.checking.analysis.factors import constant_factor, is_close, name_of, parts_of

FACTORS = st.floats(-100, 100).map(lambda x: round(x, 3))


def parts(count: int, seed: int = 0) -> list[np.ndarray]:
    return list(np.random.default_rng(seed).standard_normal((count, 3, 4)))


@given(FACTORS)
def test_a_constant_factor_is_found(factor: float) -> None:
    (want,) = parts(1)
    found = constant_factor(factor * want, want)
    assert found is not None
    assert is_close(found, factor)


@given(FACTORS, st.floats(1e-3, 10))
def test_what_is_no_multiple_has_no_factor(factor: float, by: float) -> None:
    (want,) = parts(1)
    got = factor * want
    got[0, 0] += by * max(1.0, float(np.max(np.abs(got))))
    assert constant_factor(got, want) is None


@given(st.lists(FACTORS, min_size=1, max_size=6))
def test_the_factors_of_a_sum_are_found(factors: list[float]) -> None:
    terms = parts(len(factors))
    got = sum((factor * term for factor, term in zip(factors, terms, strict=True)), np.zeros((3, 4)))
    found = parts_of(got, terms)
    assert found is not None
    assert np.allclose(found, factors, atol=1e-6)


def test_what_more_than_one_sum_could_make_is_not_told() -> None:
    one, other = parts(2)
    assert parts_of(one + other, [one, other, one + other]) is None
    assert constant_factor(one, np.zeros((3, 4))) is None


def test_other_shapes_and_infinite_numbers_have_no_factor() -> None:
    (want,) = parts(1)
    assert constant_factor(want.T, want) is None
    assert constant_factor(np.full((3, 4), np.nan), want) is None


def test_a_factor_has_a_name_if_that_is_right_at_all_sizes() -> None:
    names = {"1/B": lambda n: 1 / n["B"], "1/T": lambda n: 1 / n["T"]}
    sizes = [{"B": 2, "T": 3}, {"B": 4, "T": 2}]
    assert "1/B" == name_of([0.5, 0.25], sizes, names)
    assert "1/T" == name_of([1 / 3, 0.5], sizes, names)
    assert name_of([0.5, 0.5], sizes, names) is None
