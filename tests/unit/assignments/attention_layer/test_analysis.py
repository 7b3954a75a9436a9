"""What analyses of layers rely on: factors that differ at the sizes tried, fewer tokens than channels."""

import itertools
from types import ModuleType

import numpy as np
import pytest

import multihead
from autograder.assignments.attention_layer import draws
from autograder.assignments.attention_layer.backward_analysis import BackwardAnalysis
from autograder.assignments.attention_layer.forward_analysis import ForwardAnalysis, lengths
from autograder.assignments.attention_layer.layer import Layer
from autograder.assignments.multihead.hidden.layer import LAYER as SEVERAL_HEADS
from autograder.checking.analysis.factors import is_close
from autograder.checking.local import LocalStudent

REFERENCES: list[tuple[Layer, ModuleType]] = [(SEVERAL_HEADS, multihead)]
EACH = pytest.mark.parametrize(("layer", "reference"), REFERENCES, ids=lambda one: one.__class__.__name__)


@EACH
@pytest.mark.parametrize("analysis", [ForwardAnalysis, BackwardAnalysis])
def test_no_two_factors_have_the_same_value_at_the_sizes_that_are_tried(
    layer: Layer, reference: ModuleType, analysis: type[ForwardAnalysis | BackwardAnalysis]
) -> None:
    sizes = [lengths(draws.case(np.random.default_rng(0), size)) for size in layer.look_sizes]
    names = analysis(layer).factors
    values = {name: [formula(one) for one in sizes] for name, formula in names.items()}
    values |= {"1": [1.0, 1.0]}
    same = [
        (one, other)
        for one, other in itertools.combinations(values, 2)
        if all(is_close(a, b) for a, b in zip(values[one], values[other], strict=True))
    ]
    assert [] == same


@EACH
def test_where_routes_are_told_by_differences_there_are_fewer_tokens_than_channels(
    layer: Layer, reference: ModuleType
) -> None:
    for batch, seq, heads, d_head in layer.fit_sizes:
        assert batch * seq <= heads * d_head


@EACH
def test_the_reference_fits_itself_and_a_wrong_backward_pass_does_not_fit_it(
    layer: Layer, reference: ModuleType
) -> None:
    fits = BackwardAnalysis(layer).fits_own_forward
    right = LocalStudent(vars(reference))
    assert fits(right, reference, np.random.default_rng(0)) is True

    def halved(cache: object, params: object, dy: np.ndarray) -> object:
        return getattr(reference, layer.backward)(cache, params, dy / 2)

    wrong = LocalStudent({**vars(reference), layer.backward: halved})
    assert fits(wrong, reference, np.random.default_rng(0)) is False
