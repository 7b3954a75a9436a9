"""The hidden checks of ``MultiHeadAttention``, the class with its ``__init__``: 3 points."""

import math
from types import ModuleType

import numpy as np

from autograder.checking.compare import describe, expect_array
from autograder.checking.framework import CheckFailure, CheckSet, MalformedAnswer
from autograder.checking.student import Remote, Student, StudentRaised

from .formula import PROJECTIONS
from .modules import CLASS, LAYERS, WEIGHTS, build, fill, shape_of

checks = CheckSet("torch_multihead")
checks.visible(CLASS, weight=0.45)


def drawn_sizes(rng: np.random.Generator) -> list[tuple[int, int]]:
    """Pairs of d_model and num_heads: some heads, one head, and heads of one channel."""
    heads, width = (int(one) for one in rng.permutation([2, 3, 4, 5])[:2])
    return [(heads * width, heads), (width + 1, 1), (heads, heads)]


@checks.value(CLASS, weight=0.6)
def sizes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The module knows d_model, num_heads and head_dim, as whole numbers."""
    for d_model, heads in drawn_sizes(rng):
        module = build(student, d_model, heads)
        wanted = {"d_model": d_model, "num_heads": heads, "head_dim": d_model // heads}
        for name, number in wanted.items():
            got = module.attribute(name)
            if isinstance(got, bool) or not isinstance(got, int | np.integer):
                hint = "Whole numbers are divided by //." if isinstance(got, float) else None
                raise MalformedAnswer(f"{name} must be an integer; it is {describe(got)}.", hint=hint)
            if got != number:
                raise CheckFailure(f"{name} is not what it should be.", detail=f"{got}, expected {number}")


@checks.value(CLASS, weight=0.6)
def shapes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """query, key, value and output lead from d_model numbers to d_model numbers."""
    for d_model, heads in drawn_sizes(rng):
        module = build(student, d_model, heads)
        for name in LAYERS:
            got = shape_of(module.attribute(f"{name}.weight.shape"))
            if got != (d_model, d_model):
                raise CheckFailure(
                    f"The weight of {name} must have the shape (d_model, d_model).", detail=f"it is {got}"
                )


@checks.value(CLASS, weight=0.5)
def biases(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """query, key and value have no bias, output has one."""
    (d_model, heads), *_ = drawn_sizes(rng)
    module = build(student, d_model, heads)
    for name in PROJECTIONS:
        if module.attribute(f"{name}.bias") is not None:
            raise CheckFailure(f"{name} must have no bias.", hint="What are nn.Linear's arguments?")
    if module.attribute("output.bias") is None:
        raise CheckFailure("output must have a bias.", hint="What does nn.Linear do if nothing is said?")


@checks.value(CLASS, weight=0.4)
def parameters(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Four weights and one bias are registered under their names, and nothing else: 4 C² + C numbers."""
    for d_model, heads in drawn_sizes(rng)[:2]:
        state = build(student, d_model, heads).method("state_dict").value
        names = state.fetch() if isinstance(state, Remote) else None
        if not isinstance(names, dict):
            raise MalformedAnswer(f"state_dict() of the module must be a dict; it is {describe(state)}.")
        if set(names) != set(WEIGHTS):
            more = "more than" if set(names) > set(WEIGHTS) else "others than"
            raise CheckFailure(
                f"The module has registered {more} {', '.join(WEIGHTS)}.",
                hint="Is nn.Module's own __init__ called, and which attributes are layers?",
                detail=f"{sorted(names)}",
            )
        shapes = [shape_of(one.attribute("shape")) for one in names.values() if isinstance(one, Remote)]
        if sum(math.prod(shape) for shape in shapes) != 4 * d_model**2 + d_model:
            raise CheckFailure("The module has another number of parameters than 4 C² + C.")


@checks.contract(CLASS, weight=0.2)
def refused(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """num_heads that do not divide d_model are refused with AssertionError or ValueError."""
    faults: list[CheckFailure] = []
    for d_model, heads in ((10, 4), (7, 2), (3, 6), (9, 6)):
        try:
            _expect_refused(student, d_model, heads)
        except CheckFailure as fault:
            faults.append(fault)
    if faults:
        raise faults[0]


@checks.contract(CLASS, weight=0.15)
def separate(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The four layers have weights of their own, and so has every module."""
    (d_model, heads), *_ = drawn_sizes(rng)
    one, other = build(student, d_model, heads), build(student, d_model, heads)
    numbers = [{name: rng.standard_normal((d_model, d_model)) for name in WEIGHTS[:-1]} for _ in range(2)]
    for module, own in zip((one, other), numbers, strict=True):
        module.method("double")
        fill(student, module, own)
    for name in WEIGHTS[:-1]:
        for module, own in zip((one, other), numbers, strict=True):
            got = module.method(f"{name}.numpy", force=True).value
            what = f"{name}, after new numbers were put into other layers,"
            expect_array(got, own[name], what, ("output", "input"))


@checks.contract(CLASS, weight=0.1)
def trainable(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """All parameters can learn, and train() and eval() are followed."""
    (d_model, heads), *_ = drawn_sizes(rng)
    module = build(student, d_model, heads)
    for name in WEIGHTS:
        if module.attribute(f"{name}.requires_grad") is not True:
            raise CheckFailure(f"{name} cannot learn: it does not require a gradient.")
    for switch, state in (("eval", False), ("train", True)):
        module.method(switch)
        if module.attribute("training") is not state:
            raise CheckFailure(f"{switch}() of the module does not do what nn.Module's does.")


def _expect_refused(student: Student, d_model: int, heads: int) -> None:
    wanted = f"Where num_heads does not divide d_model, {CLASS} must raise AssertionError or ValueError"
    try:
        student.call(CLASS, d_model, heads)
    except StudentRaised as failure:
        if failure.exception == "NotImplementedError":
            raise
        if failure.exception not in ("AssertionError", "ValueError"):
            raise CheckFailure(f"{wanted}; it raised something else.") from failure
    else:
        raise CheckFailure(f"{wanted}; it made a module.")
