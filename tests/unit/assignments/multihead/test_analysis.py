import itertools

import numpy as np
import pytest

from autograder.assignments.multihead.analysis_backward import FACTORS, FIT_SIZES, fits_own_forward
from autograder.assignments.multihead.analysis_forward import LOOK_SIZES, SCORE_FACTORS, lengths
from autograder.assignments.multihead.hidden import draws
from autograder.checking.analysis.factors import Named, is_close
from autograder.checking.local import LocalStudent


@pytest.mark.parametrize("names", [FACTORS, SCORE_FACTORS])
def test_no_two_factors_have_the_same_value_at_the_sizes_that_are_tried(names: Named) -> None:
    sizes = [lengths(draws.case(np.random.default_rng(0), size)) for size in LOOK_SIZES]
    values = {name: [formula(one) for one in sizes] for name, formula in names.items()}
    values |= {"1": [1.0, 1.0]}
    same = [
        (one, other)
        for one, other in itertools.combinations(values, 2)
        if all(is_close(a, b) for a, b in zip(values[one], values[other], strict=True))
    ]
    assert [] == same


def test_where_routes_are_told_by_differences_there_are_fewer_tokens_than_channels() -> None:
    for batch, seq, heads, d_head in FIT_SIZES:
        assert batch * seq <= heads * d_head


def test_the_reference_fits_itself_and_a_wrong_backward_pass_does_not_fit_it(grading: object) -> None:
    reference = grading.reference  # type: ignore[attr-defined]
    right = LocalStudent(vars(reference))
    assert fits_own_forward(right, reference, np.random.default_rng(0)) is True

    def halved(cache: object, params: object, dy: np.ndarray) -> object:
        return reference.multihead_backward(cache, params, dy / 2)

    wrong = LocalStudent({**vars(reference), "multihead_backward": halved})
    assert fits_own_forward(wrong, reference, np.random.default_rng(0)) is False
