"""The hidden checks of ``attention_backward``: 6 points.

Each backward pass follows a forward pass by the student's own ``attention``, whose cache is handed on.
"""

from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer.draws import Array
from autograder.assignments.attention_layer.passes import (
    LARGE_SCORES_TOLERANCE,
    confirm,
    expect_gradient,
    expect_one_right,
    forward_pass,
    is_right,
    too_expensive,
)
from autograder.checking.compare import expect_array, expect_dict, expect_items
from autograder.checking.contract import expect_repeatable_with_caches, expect_untouched_with_cache
from autograder.checking.framework import CheckFailure, CheckSet
from autograder.checking.student import (
    Answer,
    Remote,
    Student,
    StudentMemoryExceeded,
    StudentTimedOut,
)

from .attention import axes_of, wanted_out
from .inputs import NAMES, Inputs, drawn, inputs, integers, large_scores

#: Leading axis, time steps and width of what only formulas finish in time. Each product stays below what the
#: libraries under NumPy share among threads, which would wait for each other on a busy machine.
LONG = ((2,), 64, 60)

checks = CheckSet("weighted_attention")
checks.visible("attention_backward", weight=0.9)


@checks.value("attention_backward", weight=0.8)
def dq(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradient "q" for the queries is right."""
    _check_gradient("q", student, reference, rng)


@checks.value("attention_backward", weight=0.8)
def dk(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradient "k" for the keys is right."""
    _check_gradient("k", student, reference, rng)


@checks.value("attention_backward", weight=0.8)
def dv(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradient "v" for the values is right."""
    _check_gradient("v", student, reference, rng)


@checks.value("attention_backward", weight=0.1)
def single(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradients of a single sequence, without any leading axis, are right, too."""
    _compare_all(student, reference, inputs(rng, (), 3, 5))
    _compare_all(student, reference, inputs(rng, (), 5, 4))


@checks.value("attention_backward", weight=0.2)
def batch(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradients of a batch of sequences, with one leading axis, are right, too."""
    _compare_all(student, reference, inputs(rng, (3,), 4, 2))
    _compare_all(student, reference, inputs(rng, (2,), 5, 3))


@checks.value("attention_backward", weight=0.2)
def lengths(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """There may be more keys than queries, or fewer."""
    _compare_all(student, reference, inputs(rng, (2, 5), 3, 6, keys=4))
    _compare_all(student, reference, inputs(rng, (2, 4), 5, 6, keys=3))


@checks.value("attention_backward", weight=0.3)
def dtypes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradients of integers are computed in float64, and those of float32 come out right."""
    whole = integers(rng)
    _compare_all(student, reference, replace(whole, dout=rng.integers(-3, 4, whole.dout.shape)))
    (one,) = drawn(rng)
    _compare_all(student, reference, one.astype(np.float32))


@checks.contract("attention_backward", weight=0.4)
def hidden_keys(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A key that no query may look at gets gradients of exactly zero, whatever lies there."""
    one = inputs(rng, (2, 3), 5, 4)
    hidden = int(rng.integers(5))
    one.allowed[:, hidden] = False
    one.allowed[np.arange(5), (hidden + rng.integers(1, 5, 5)) % 5] = True
    one.k[..., hidden, :] *= 10
    one.v[..., hidden, :] *= 1e12
    got = _gradients(_backward(student, one, _forward(student, one)[1]))
    for name in ("k", "v"):
        expect_array(got[name], _wanted(reference, one)[name], _name(name), axes_of(one.q))
        if np.any(got[name][..., hidden, :]):
            raise CheckFailure(
                f"{_name(name)} is not exactly zero at a key that no query may look at.",
                hint="Which factor of the gradient of a hidden score is exactly zero?",
            )


@checks.contract("attention_backward", weight=0.3)
def large_numbers(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Scores of 10000 and -10000 still give right, finite gradients."""
    _compare_all(student, reference, large_scores(rng), tol=LARGE_SCORES_TOLERANCE)


@checks.contract("attention_backward", weight=0.3)
def extremes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Queries with a single key, a single time step and vectors of one number are right, too."""
    single = np.eye(5, dtype=bool)[rng.permutation(5)]
    _compare_all(student, reference, inputs(rng, (3, 2), 5, 4, allowed=single))
    _compare_all(student, reference, inputs(rng, (2, 1), 1, 3, allowed=np.array([[True]])))
    _compare_all(student, reference, inputs(rng, (1, 3), 4, 1))


@checks.contract("attention_backward", weight=0.1)
def untouched(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The cache and dout are left as they were."""
    (one,) = drawn(rng)
    _, cache = _forward(student, one)
    expect_untouched_with_cache(student, "attention_backward", cache, {"dout": one.dout})


@checks.contract("attention_backward", weight=0.2)
def repeatable(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A second backward pass with one cache gives the same gradients, whatever came in between."""
    one, other = (inputs(rng, (2, 3), 5, 4) for _ in range(2))
    expect_repeatable_with_caches(
        lambda case: _forward(student, case)[1],
        lambda case, cache: _backward(student, case, cache),
        lambda answer: expect_dict(answer.value, "what attention_backward returns"),
        (one, other),
        "attention_backward",
    )


@checks.contract("attention_backward", weight=0.6)
def cost(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """One backward pass is enough: with 64 time steps it ends in time, and some gradient is right."""
    one = inputs(rng, *LONG, allowed=np.tri(LONG[1], dtype=bool))
    try:
        got = _gradients(_backward(student, one, _forward(student, one)[1]))
    except (StudentTimedOut, StudentMemoryExceeded) as failure:
        size = "two sequences of 64 time steps of 60 numbers"
        raise too_expensive(failure, size, "attention_backward", "23,040 numbers") from failure
    wanted = _wanted(reference, one)
    expect_one_right(
        partial(expect_array, got[name], want, _name(name), axes_of(want)) for name, want in wanted.items()
    )


def _check_gradient(name: str, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Compare one gradient at two draws, after the reference's own has been confirmed by differences."""
    for one in drawn(rng, 2):
        wanted = _wanted(reference, one)[name]
        _confirm(name, wanted, reference, one, rng)
        out, cache = _forward(student, one)
        got = _gradients(_backward(student, one, cache))
        _expect_gradient(name, got[name], wanted, out, reference, one)


def _compare_all(student: Student, reference: ModuleType, one: Inputs, *, tol: float | None = None) -> None:
    """Compare all three gradients."""
    out, cache = _forward(student, one)
    got = _gradients(_backward(student, one, cache))
    for name, wanted in _wanted(reference, one).items():
        _expect_gradient(name, got[name], wanted, out, reference, one, tol=tol)


def _forward(student: Student, one: Inputs) -> tuple[Any, Remote]:
    """The answer and the cache of the student's own ``attention``."""
    return forward_pass(student, "attention", one.arguments, "out", "attention_backward")


def _backward(student: Student, one: Inputs, cache: Remote) -> Answer:
    return student.call("attention_backward", cache, one.dout)


def _gradients(answer: Answer) -> dict[str, Any]:
    return expect_items(answer.value, NAMES, "what attention_backward returns")


def _expect_gradient(
    name: str,
    got: Any,
    wanted: Array,
    out: Any,
    reference: ModuleType,
    one: Inputs,
    *,
    tol: float | None = None,
) -> None:
    forward = ("attention", lambda: is_right(out, wanted_out(reference, one)))
    expect_gradient(got, wanted, (_name(name), axes_of(wanted)), forward, tol)


def _wanted(reference: ModuleType, one: Inputs) -> dict[str, Array]:
    """The right gradients by name: of float32 those of the same numbers in float64, rounded."""
    exact = one.astype(np.float64) if one.dout.dtype == np.float32 else one
    _, cache = reference.attention(*exact.arguments)
    gradients = reference.attention_backward(cache, exact.dout)
    dtype = np.float32 if one.dout.dtype == np.float32 else np.float64
    return {name: gradients[name].astype(dtype) for name in NAMES}


def _confirm(
    name: str, gradient: Array, reference: ModuleType, one: Inputs, rng: np.random.Generator
) -> None:
    def loss(moved: Array) -> float:
        out: Array = reference.attention(*replace(one, **{name: moved}).arguments)[0]
        return float(np.sum(out * one.dout))

    confirm(name, gradient, loss, getattr(one, name), rng)


def _name(name: str) -> str:
    return f'the gradient "{name}"'
