"""The layer by tensors and by the given functions is one and the same, with any projection left out."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from attention_layer import ROLES, Functions, WeightedAttention
from autodiff.tensor import Tensor

GIVEN = Path(__file__).parents[4] / "source/multihead/attention.py"


def given_functions() -> Functions:
    spec = importlib.util.spec_from_file_location("given_attention", GIVEN)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Functions(module.attention, module.attention_backward)


def layer(replaced: str | None, functions: Functions | None = None) -> WeightedAttention:
    made = WeightedAttention(8, np.random.default_rng(2), replaced=replaced, functions=functions)
    for parameter in made.parameters().values():
        parameter.data = parameter.data.astype(np.float64)
    return made


@pytest.mark.parametrize("replaced", [None, *ROLES])
def test_tensors_and_functions_give_the_same_numbers(replaced: str | None) -> None:
    rng = np.random.default_rng(1)
    numbers, dy = rng.standard_normal((2, 5, 8)), rng.standard_normal((2, 5, 8))
    answers = []
    for one in (layer(replaced), layer(replaced, given_functions())):
        x = Tensor(numbers, requires_grad=True)
        y = one(x)
        y.backward(dy)
        answers.append([y.data, x.grad, *(parameter.grad for parameter in one.parameters().values())])
    assert len(answers[0]) == (10 if replaced is None else 8)
    for ours, theirs in zip(*answers, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("replaced", ROLES)
def test_what_is_left_out_changes_no_other_parameter(replaced: str) -> None:
    whole, without = layer(None).parameters(), layer(replaced).parameters()
    assert {f"{replaced}.weight", f"{replaced}.bias"} == set(whole) - set(without)
    assert all(np.array_equal(whole[name].data, one.data) for name, one in without.items())


@pytest.mark.parametrize("functions", [None, given_functions()], ids=["by tensors", "by functions"])
def test_weights_are_kept_to_be_looked_at(functions: Functions | None) -> None:
    one = layer(None, functions)
    one(Tensor(np.random.default_rng(1).standard_normal((2, 5, 8))))
    assert one.weights is not None
    assert (2, 5, 5) == one.weights.shape
    assert np.sum(one.weights, axis=-1) == pytest.approx(np.ones((2, 5)))
    assert not np.triu(one.weights, 1).any()


def test_a_role_that_does_not_exist_is_named() -> None:
    with pytest.raises(
        ValueError, match="There is no role 'scale' to replace: it is one of query, key, value"
    ):
        layer("scale")
