"""The hidden checks of ``attention``: 6 points."""

from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer.draws import Array
from autograder.checking.compare import expect_array, expect_dict, expect_items, expect_tuple, repeated
from autograder.checking.contract import expect_kept, expect_refused, expect_untouched
from autograder.checking.framework import CheckFailure, CheckSet
from autograder.checking.student import Student

from .inputs import NAMES, Inputs, drawn, inputs, integers, large_scores

KEYS = (*NAMES, "weights")

checks = CheckSet("weighted_attention")
checks.visible("attention", weight=0.9)


@checks.value("attention", weight=1.2)
def all_allowed(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """What is gathered is right where every query may look at every key."""
    (one,) = drawn(rng)
    compare(student, reference, replace(one, allowed=np.ones_like(one.allowed)))


@checks.value("attention", weight=1.3)
def masked(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """What is gathered is right under a mask of any form: rows are queries, columns are keys."""
    for one in drawn(rng, 2):
        compare(student, reference, one)


@checks.value("attention", weight=0.2)
def single(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A single sequence, without any leading axis, is right, too."""
    compare(student, reference, inputs(rng, (), 3, 5))
    compare(student, reference, inputs(rng, (), 5, 4))


@checks.value("attention", weight=0.2)
def batch(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A batch of sequences, with one leading axis, is right, too."""
    compare(student, reference, inputs(rng, (3,), 4, 2))
    compare(student, reference, inputs(rng, (2,), 5, 3))


@checks.value("attention", weight=0.3)
def lengths(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """There may be more keys than queries, or fewer."""
    compare(student, reference, inputs(rng, (2, 5), 3, 6, keys=4))
    compare(student, reference, inputs(rng, (2, 4), 5, 6, keys=3))


@checks.value("attention", weight=0.4)
def dtypes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Integers are computed in float64, and float32 comes out right."""
    compare(student, reference, integers(rng))
    (one,) = drawn(rng)
    compare(student, reference, one.astype(np.float32))


@checks.contract("attention", weight=0.2)
def masks(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The mask may differ from sequence to sequence, and may leave a query a single key."""
    tables = np.stack([inputs(rng, (), 4, 2).allowed for _ in range(2)])
    compare(student, reference, inputs(rng, (2, 3), 4, 5, allowed=tables[:, None]))
    single = np.eye(5, dtype=bool)[rng.permutation(5)]
    compare(student, reference, inputs(rng, (3, 2), 5, 4, allowed=single))


@checks.contract("attention", weight=0.4)
def large_numbers(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Scores of 10000 and -10000 still give the right, finite answer."""
    compare(student, reference, large_scores(rng))


@checks.contract("attention", weight=0.4)
def cache(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The cache holds q, k, v and the weights, each under its name."""
    (one,) = drawn(rng)
    _, wanted = reference.attention(*one.arguments)
    _, kept = expect_tuple(_call(student, one).value, ("out", "cache"), "attention")
    items = expect_items(kept, KEYS, "cache")
    for name in NAMES:
        expect_array(items[name], wanted[name], f'cache["{name}"]', axes_of(wanted[name]))
    axes = (*axes_of(wanted["q"])[:-2], "query", "key")
    expect_array(items["weights"], wanted["weights"], 'cache["weights"]', axes)


@checks.contract("attention", weight=0.2)
def bad_masks(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A mask that does not fit, or leaves a query without a key, is refused with ValueError or TypeError."""
    one = inputs(rng, (2, 3), 4, 5)
    without = one.allowed.copy()
    without[rng.integers(4)] = False
    expect_refused(student, "attention", (one.q, one.k, one.v, without), "a row of allowed has no True")
    longer = np.ones((4, 6), bool)
    expect_refused(
        student, "attention", (one.q, one.k, one.v, longer), "allowed has more columns than there are keys"
    )


@checks.contract("attention", weight=0.1)
def untouched(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """q, k, v and allowed are left as they were."""
    (one,) = drawn(rng)
    arguments = dict(zip((*NAMES, "allowed"), one.arguments, strict=True))
    expect_untouched(student, "attention", arguments)


@checks.contract("attention", weight=0.2)
def repeatable(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The same call gives the same answer again; earlier answers and caches stay as they were."""
    one, other = (inputs(rng, (2, 3), 5, 4) for _ in range(2))
    first = _call(student, one)
    _, kept = expect_tuple(first.value, ("out", "cache"), "attention")
    before = expect_dict(kept, "cache").fetch()
    _call(student, other)
    expect_kept(first.value, first.reread(), "attention")
    expect_kept(before, kept.fetch(), "attention")
    if not repeated(first.value, _call(student, one).value):
        raise CheckFailure("Called again with the same arguments, attention gives another answer.")


def compare(student: Student, reference: ModuleType, one: Inputs) -> None:
    """Call ``attention`` once and compare what is gathered."""
    out, _ = expect_tuple(_call(student, one).value, ("out", "cache"), "attention")
    wanted = wanted_out(reference, one)
    expect_array(out, wanted, "out", axes_of(wanted))


def wanted_out(reference: ModuleType, one: Inputs) -> Array:
    """The right answer: of float32 that of the same numbers in float64, rounded."""
    exact = one.astype(np.float64) if one.q.dtype == np.float32 else one
    out: Array = reference.attention(*exact.arguments)[0]
    return out.astype(one.dout.dtype)


def axes_of(array: Array) -> tuple[str, ...]:
    """The names of the axes of an array of vectors, one for each time step."""
    return (*("batch", "heads")[: array.ndim - 2], "seq", "d")


def _call(student: Student, one: Inputs) -> Any:
    return student.call("attention", *one.arguments)
