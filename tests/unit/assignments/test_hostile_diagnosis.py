"""Whatever a student's functions return, diagnosis and follow-through end without a fault of ours."""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from autograder.assignments.catalog import KIT, gradable_names, load_assignment
from autograder.model import Verdict
from autograder.usecases.assessing import Assessor
from autograder.usecases.local_run import LocalRun

#: How often each assignment is tried.
SEEDS = {"multihead": 30, "weighted_attention": 15, "gpt": 15, "torch_multihead": 15}


@cache
def assessor_of(name: str) -> Assessor:
    return Assessor(load_assignment(KIT.parent, name), b"secret")


class Odd:
    """Answers any key."""

    def __getitem__(self, key: Any) -> Any:
        return [key]


def junk(rng: np.random.Generator, right: Any, depth: int = 0) -> Any:
    """Something else than the right answer, though often like it."""
    if isinstance(right, np.ndarray) and rng.random() < 0.8:
        kinds: list[Callable[[], Any]] = [
            lambda: right,
            lambda: right * 2,
            lambda: right.T,
            lambda: right[:1],
            lambda: right.astype(complex) * 1j,
            lambda: right.astype(np.float32),
            lambda: right.astype(int),
            lambda: np.where(rng.random(right.shape) < 0.1, np.nan, right),
            lambda: np.full(right.shape, np.inf),
            lambda: np.zeros((0, *right.shape)),
            lambda: right.astype(object),
            lambda: right.astype(str),
            lambda: np.ma.masked_array(right),
            lambda: right[::-1],
            lambda: np.float64(1),
        ]
        return kinds[int(rng.integers(len(kinds)))]()
    if hasattr(right, "requires_grad"):
        return spoiled_tensor(rng, right, depth)
    if hasattr(right, "forward") and rng.random() < 0.8:
        return spoiled_layer(rng, right)
    if isinstance(right, tuple) and rng.random() < 0.9:
        return tuple(junk(rng, one, depth + 1) for one in right)
    if isinstance(right, dict) and rng.random() < 0.9:
        return {key: junk(rng, one, depth + 1) for key, one in right.items() if rng.random() < 0.9}
    others = [None, 1, "text", [1, [2]], {}, {1: 2}, (), (1, 2, 3), Odd(), len, float("nan"), np.array(3)]
    return others[int(rng.integers(len(others)))]


def spoiled_tensor(rng: np.random.Generator, right: Any, depth: int) -> Any:
    """A tensor of PyTorch that is not the right one, or none at all."""
    kinds: list[Callable[[], Any]] = [
        lambda: right,
        lambda: right * 2,
        right.detach,
        right.float,
        right.int,
        lambda: right[:1],
        lambda: right.transpose(-1, -2),
        lambda: right * np.nan,
        lambda: right.to("meta"),
        right.to_sparse,
        right.bfloat16,
        lambda: junk(rng, right.detach().numpy(), depth + 1),
    ]
    return kinds[int(rng.integers(len(kinds)))]()


def spoiled_layer(rng: np.random.Generator, layer: Any) -> Any:
    """A layer that answers with junk, or with a tensor of junk, now and then."""
    forward = layer.forward

    def answer(x: Any, *others: Any) -> Any:
        y = forward(x, *others)
        if rng.random() < 0.3:
            return y
        if rng.random() < 0.3:
            return junk(rng, y.data)
        y.data = junk(rng, y.data)
        return y

    layer.forward = answer
    return layer


def functions(grading: Any, seed: int) -> dict[str, object]:
    """The reference's functions, of which some return junk and some raise."""
    rng = np.random.default_rng(seed)
    names = list(grading.points)
    spoiled = {name: float(rng.choice([0.0, 0.3, 1.0])) for name in names}

    def spoil(name: str) -> Callable[..., Any]:
        right = getattr(grading.reference, name)

        def function(*args: Any) -> Any:
            if rng.random() >= spoiled[name]:
                return right(*args)
            if rng.random() < 0.05:
                raise KeyError(name)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return junk(rng, right(*args))

        return function

    methods = grading.assignment.checks.methods
    # What makes objects whose methods are exercises stays a class.
    return dict(grading.with_own({name: spoil(name) for name in names if name not in methods.values()}))


@pytest.mark.parametrize(
    ("name", "seed"),
    [(name, seed) for name in gradable_names(KIT.parent) for seed in range(SEEDS[name])],
)
def test_no_answer_is_a_fault_of_ours(grading_of: Callable[[str], Any], name: str, seed: int) -> None:
    grading, assessor = grading_of(name), assessor_of(name)
    exercises = grading.assignment.exercises
    run = LocalRun([one.name for one in exercises], lambda: functions(grading, seed), call_seconds=2)
    assessed = assessor.assess("student", exercises, run)
    assert assessed.fault is None
    verdicts = {check.verdict for one in assessed.exercises for check in one.checks}
    assert Verdict.JUDGE_ERROR not in verdicts
