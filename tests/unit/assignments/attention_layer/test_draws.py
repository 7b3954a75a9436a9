from collections import Counter

import numpy as np
import pytest

from autograder.assignments.attention_layer import draws

SEEDS = range(50)


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_no_two_axes_have_one_length() -> None:
    for batch, seq, heads, d_head in draws.SIZES:
        assert len({batch, seq, heads, d_head, heads * d_head}) == 5
        assert 1 < min(batch, seq, heads, d_head)
        assert batch * seq != heads * d_head


def test_several_sizes_share_the_shape_of_the_matrices() -> None:
    widths = Counter(heads * d_head for _, _, heads, d_head in draws.SIZES)
    assert len(widths) > 1
    assert min(widths.values()) > 1


def test_the_sizes_of_a_check_differ() -> None:
    for seed in SEEDS:
        assert len(set(draws.sizes(rng(seed), 3))) == 3


@pytest.mark.parametrize("seq", [3, 4, 5, 7, 62, 63, 64, 100])
def test_a_mask_is_neither_symmetric_nor_causal_and_leaves_choices(seq: int) -> None:
    for seed in SEEDS:
        mask = draws.mask(rng(seed), seq)
        assert mask.shape == (seq, seq)
        assert mask.dtype == np.bool_
        for axis in (0, 1):
            assert np.all(mask.any(axis=axis))
            assert not np.any(mask.all(axis=axis))
        assert not np.array_equal(mask, mask.T)
        assert np.any(np.triu(mask, 1))
        assert np.any(np.tril(mask, -1))
        assert np.count_nonzero(mask.sum(axis=1) > 1) >= 2


def test_there_is_no_such_mask_for_two_time_steps() -> None:
    with pytest.raises(ValueError, match="2 time steps"):
        draws.mask(rng(0), 2)


@pytest.mark.parametrize("layout", ["F", "strided"])
def test_another_layout_holds_the_same_numbers(layout: str) -> None:
    array = rng(0).standard_normal((2, 3, 4))
    arranged = draws.arranged(array, layout)
    assert np.array_equal(arranged, array)
    assert not arranged.flags.c_contiguous
    assert arranged.flags.f_contiguous == (layout == "F")


def test_large_scores_are_as_large_as_they_say_in_one_sequence_alone() -> None:
    for seed in SEEDS:
        scores = scores_of(draws.large_scores_case(rng(seed), (2, 3, 4, 5)))
        small, large = sorted(scores, key=lambda one: float(np.max(np.abs(one))))
        assert np.max(np.abs(large)) == pytest.approx(1e4)
        assert np.min(large) < -1e3
        assert np.max(large) > 700
        assert np.max(np.abs(small)) < 10


def test_a_query_with_low_scores_only_has_a_hidden_key() -> None:
    for seed in SEEDS:
        case = draws.large_scores_case(rng(seed), (2, 3, 4, 5))
        best = np.where(case.allowed, scores_of(case), -np.inf).max(axis=-1)
        with_hidden_keys = ~np.all(case.allowed, axis=1)
        assert np.min(best[..., with_hidden_keys]) < -1e3


def scores_of(case: draws.Case) -> np.ndarray:
    batch, seq, d_model = case.x.shape
    shape = batch, seq, int(case.heads), d_model // int(case.heads)
    q, k = ((case.x @ case.params[name]).reshape(shape).transpose(0, 2, 1, 3) for name in ("wq", "wk"))
    return np.asarray(q @ k.swapaxes(-1, -2) / np.sqrt(shape[-1]))


def test_no_bad_count_divides_the_channels() -> None:
    for size in draws.SIZES:
        for _, heads in draws.bad_head_counts(size):
            is_count = type(heads) is int and heads > 0
            assert not (is_count and (size[2] * size[3]) % heads == 0)


def test_integers_and_precisions_are_as_wanted() -> None:
    integers = draws.integer_case(rng(0), (2, 3, 4, 5))
    assert {integers.x.dtype.kind, *(matrix.dtype.kind for matrix in integers.params.values())} == {"i"}
    single = draws.case(rng(0), (2, 3, 4, 5)).astype(np.float32)
    assert {single.x.dtype, single.dy.dtype, *(one.dtype for one in single.params.values())} == {
        np.dtype(np.float32)
    }


def test_a_wide_case_has_many_parameters_and_numbers_as_large_as_those_of_other_cases() -> None:
    wide = draws.wide_case(rng(0))
    assert wide.x.shape == wide.dy.shape == (1, 2, 256)
    assert sum(matrix.size for matrix in wide.params.values()) == 262_144
    for matrix in wide.params.values():
        assert np.std(matrix) == pytest.approx(1 / 16, rel=0.01)
