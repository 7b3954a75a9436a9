"""The hidden checks of ``compute_attention``: 6 points."""

from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.compare import expect_array
from autograder.checking.contract import expect_kept
from autograder.checking.framework import CheckFailure, CheckSet
from autograder.checking.student import Remote, Student

from . import formula
from .draws import CROSS, SELF, SHAPES, Heads, heads, mask
from .modules import OF_HEADS, array_of, backward, build, expect_tensor, gradient_of, tensor, turned

checks = CheckSet("torch_multihead")
checks.visible("compute_attention", weight=0.9)
WHAT = "compute_attention(query, key, value, mask)"
NAMES = ("query", "key", "value")


@checks.value("compute_attention", weight=1.3)
def unmasked(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Without a mask every query gathers the right values."""
    compare(student, heads(rng, SELF))


@checks.value("compute_attention", weight=0.5)
def lengths(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """There may be more keys than queries, fewer, or a single one."""
    for sizes in (CROSS, (2, 3, 4, 7, 5), (3, 2, 5, 4, 1), (2, 3, 1, 1, 4)):
        compare(student, heads(rng, sizes))


@checks.value("compute_attention", weight=0.8)
def masked(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A mask (T, S) hides keys (columns) from queries (rows), in all heads alike."""
    for sizes in (SELF, CROSS):
        compare(student, heads(rng, sizes, mask(rng, sizes)))


@checks.value("compute_attention", weight=0.5)
def masks_of_each(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A mask may differ from sequence to sequence, (B, 1, T, S), and from head to head, (B, H, T, S)."""
    for shape in SHAPES[1:]:
        compare(student, heads(rng, CROSS, mask(rng, CROSS, shape)))


@checks.value("compute_attention", weight=0.4)
def kinds_of_masks(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A mask of ones and zeros, as integers or floats, says the same as one of booleans."""
    for dtype in (np.int64, np.float32, np.float64, np.uint8):
        compare(student, heads(rng, CROSS, mask(rng, CROSS).astype(dtype)))


@checks.value("compute_attention", weight=0.7)
def gradients(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradients that autograd finds for query, key and value are right."""
    for one in (heads(rng, SELF), heads(rng, CROSS, mask(rng, CROSS))):
        tensors = [tensor(student, array, grad=True) for array in one.arrays]
        backward(student, _call(student, one, tensors), one.dout, WHAT, OF_HEADS)
        wanted = formula.attention_gradients(*one.arrays, one.mask, one.dout)
        for name, given, want in zip(NAMES, tensors, wanted, strict=True):
            got = gradient_of(given, "", name)
            expect_array(got, want, f"The gradient of {name}", OF_HEADS)


@checks.contract("compute_attention", weight=0.3)
def large_scores(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Scores of 10000 and -10000 still give the right, finite answer."""
    one = heads(rng, CROSS, mask(rng, CROSS))
    compare(student, replace(one, query=one.query * 4000))
    keys = one.key + 4000 * np.sign(one.query.sum(axis=2, keepdims=True))
    compare(student, replace(one, query=np.abs(one.query) + 1, key=keys))


@checks.contract("compute_attention", weight=0.2)
def float32(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """float32 stays float32, and comes out right."""
    exact = heads(rng, CROSS, mask(rng, CROSS))
    rounded = [array.astype(np.float32) for array in exact.arrays]
    got = _call(student, exact, [tensor(student, array) for array in rounded])
    query, key, value = (array.astype(np.float64) for array in rounded)
    want = formula.attention(query, key, value, exact.mask)
    numbers = array_of(got, WHAT)
    expect_array(numbers, want.astype(np.float32), WHAT, OF_HEADS)
    if numbers.dtype != np.float32:
        raise CheckFailure(f"{WHAT} of float32 must be float32.", hint="Which of your steps makes float64?")


@checks.contract("compute_attention", weight=0.1)
def views(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """query, key and value may lie in memory in any order."""
    one = heads(rng, CROSS)
    axes = ((1, 2), (2, 3), (0, 3))
    given = [turned(student, array, two) for array, two in zip(one.arrays, axes, strict=True)]
    expect_tensor(_call(student, one, given), _right(one), WHAT, OF_HEADS)


@checks.contract("compute_attention", weight=0.15)
def untouched(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """query, key, value and mask are left as they were."""
    one = heads(rng, CROSS)
    arrays = (*one.arrays, mask(rng, CROSS).astype(np.int64))
    given = [tensor(student, array) for array in arrays]
    array_of(module_of(student, one).method("compute_attention", *given).value, WHAT)
    for name, before, sent in zip((*NAMES, "mask"), arrays, given, strict=True):
        if not np.array_equal(before, array_of(sent, name)):
            raise CheckFailure(
                f"compute_attention changes its argument {name}.",
                hint="Methods whose names end with an underscore, and operators such as /=, write in place.",
            )


@checks.contract("compute_attention", weight=0.15)
def repeatable(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A module answers each call as if it were the first, with another mask and without; answers stay."""
    one, other = (heads(rng, CROSS, mask(rng, CROSS)) for _ in range(2))
    module = module_of(student, one)
    first = ask(student, module, one)
    before = array_of(first, WHAT)
    for later in (other, replace(other, mask=None), one):
        expect_tensor(ask(student, module, later), _right(later), f"{WHAT}, called again,", OF_HEADS)
    expect_kept(before, array_of(first, WHAT), "compute_attention")


def compare(student: Student, one: Heads) -> None:
    """Call ``compute_attention`` once, by a new module, and compare."""
    answer = ask(student, module_of(student, one), one)
    expect_tensor(answer, _right(one), WHAT, OF_HEADS)


def module_of(student: Student, one: Heads) -> Remote:
    """A new module of the right sizes."""
    _, count, _, width = one.query.shape
    return build(student, count * width, count)


def ask(student: Student, module: Remote, one: Heads) -> Any:
    """What a module answers to tensors of these numbers."""
    return _asked(student, module, one, [tensor(student, array) for array in one.arrays])


def _call(student: Student, one: Heads, tensors: list[Remote]) -> Any:
    return _asked(student, module_of(student, one), one, tensors)


def _asked(student: Student, module: Remote, one: Heads, tensors: list[Remote]) -> Any:
    masks = [] if one.mask is None else [tensor(student, one.mask)]
    return module.method("compute_attention", *tensors, *masks).value


def _right(one: Heads) -> np.ndarray:
    return formula.attention(*one.arrays, one.mask)
