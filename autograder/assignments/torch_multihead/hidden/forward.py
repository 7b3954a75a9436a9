"""The hidden checks of ``forward``, the whole module: 8 points."""

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.compare import expect_array
from autograder.checking.contract import expect_kept
from autograder.checking.framework import CheckFailure, CheckSet
from autograder.checking.student import Remote, Student

from . import formula
from .draws import CROSS, SELF, SHAPES, Layer, layer, mask
from .formula import PROJECTIONS
from .modules import OF_TOKENS, array_of, backward, expect_tensor, fill, filled, gradient_of, tensor, turned

checks = CheckSet("torch_multihead")
checks.visible("forward", weight=1.2)
WHAT = "The module's answer"
#: The NumPy lesson's numbers, to the last digits.
EXACT = 1e-12
#: By which road deep copies of modules are made: the copy module, as PyTorch itself has imported it.
DEEPCOPY = "torch.nn.modules.transformer.copy.deepcopy"


@checks.value("forward", weight=1.2)
def self_attention(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Self-attention is right, for weights and a bias of any numbers."""
    compare(student, layer(rng, SELF, is_self=True))


@checks.value("forward", weight=0.9)
def cross_attention(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """query, key and value may be three different tensors, with as many keys as queries, more or fewer."""
    for sizes in (SELF, CROSS, (2, 3, 4, 7, 5)):
        compare(student, layer(rng, sizes))


@checks.value("forward", weight=0.8)
def masked(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The mask is handed on, in all three shapes, as booleans and as zeros and ones."""
    for shape in SHAPES:
        compare(student, layer(rng, CROSS, mask(rng, CROSS, shape)))
    compare(student, layer(rng, SELF, mask(rng, SELF).astype(np.float32), is_self=True))


@checks.value("forward", weight=0.5)
def as_in_numpy(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """With the weights of the NumPy lesson it gives that lesson's numbers, to twelve digits."""
    one = layer(rng, SELF, mask(rng, SELF), is_self=True)
    without_bias = {**one.weights, "output.bias": np.zeros(one.d_model)}
    compare(student, replace(one, weights=without_bias), tol=EXACT)


@checks.value("forward", weight=0.6)
def gradients_of_weights(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradients that autograd finds for all five parameters are right."""
    for one in (layer(rng, CROSS, mask(rng, CROSS)), layer(rng, SELF, is_self=True)):
        module, _, wanted = _with_gradients(student, one)
        for name in one.weights:
            axes = ("output",) if name.endswith("bias") else ("output", "input")
            got = gradient_of(module, name, name)
            expect_array(got, wanted[name], f"The gradient of {name}", axes)


@checks.value("forward", weight=0.6)
def gradients_of_inputs(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Gradients that autograd finds for query, key and value are right, and add up where these are one."""
    one = layer(rng, CROSS, mask(rng, CROSS))
    _, given, wanted = _with_gradients(student, one)
    for name, sent in zip(PROJECTIONS, given, strict=True):
        expect_array(gradient_of(sent, "", name), wanted[name], f"The gradient of {name}", OF_TOKENS)
    one = layer(rng, SELF, is_self=True)
    _, (x, *_), wanted = _with_gradients(student, one)
    total = wanted["query"] + wanted["key"] + wanted["value"]
    what = "The gradient of x, which is query, key and value,"
    expect_array(gradient_of(x, "", "x"), total, what, OF_TOKENS)


@checks.contract("forward", weight=0.3)
def extremes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """One head, heads of one channel, and one key are no exceptions."""
    for sizes in ((2, 1, 4, 3, 5), (2, 4, 1, 5, 3), (3, 2, 5, 3, 1)):
        compare(student, layer(rng, sizes))


@checks.contract("forward", weight=0.3)
def float32(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A module in float32 answers in float32, and right."""
    one = _rounded(layer(rng, CROSS, mask(rng, CROSS)))
    exact = {name: array.astype(np.float64) for name, array in {**one.weights, **one.inputs}.items()}
    numbers = array_of(ask(student, filled(student, one), one), WHAT)
    want = formula.forward(exact, one.heads, exact, one.mask)
    expect_array(numbers, want.astype(np.float32), WHAT, OF_TOKENS)
    if numbers.dtype != np.float32:
        raise CheckFailure(f"{WHAT} must be float32 where everything is.", hint="Which step makes float64?")


@checks.contract("forward", weight=0.2)
def views(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """query, key and value may lie in memory in any order."""
    one = layer(rng, CROSS)
    axes = ((0, 1), (1, 2), (0, 2))
    given = [turned(student, one.inputs[name], two) for name, two in zip(PROJECTIONS, axes, strict=True)]
    expect_tensor(filled(student, one).call(*given).value, _right(one), WHAT, OF_TOKENS)


@checks.contract("forward", weight=0.3)
def batch(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Each sequence of a batch is answered as if it were alone, and so is each query."""
    table = mask(rng, CROSS)
    one = layer(rng, CROSS, table)
    module = filled(student, one)
    expect_tensor(ask(student, module, one), _right(one), WHAT, OF_TOKENS)
    for number in range(one.dy.shape[0]):
        alone = {name: array[number : number + 1] for name, array in one.inputs.items()}
        single = replace(one, inputs=alone)
        what = "The answer to a sequence alone"
        expect_tensor(ask(student, module, single), _right(single), what, OF_TOKENS)
    first = {**one.inputs, "query": one.inputs["query"][:, :1]}
    single = replace(one, inputs=first, mask=table[:1])
    expect_tensor(ask(student, module, single), _right(single), "The answer to a query alone", OF_TOKENS)


@checks.contract("forward", weight=0.3)
def modes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """train() and eval() make no difference: there is nothing random in this module."""
    one = layer(rng, CROSS)
    module = filled(student, one)
    for mode in ("eval", "train"):
        module.method(mode)
        expect_tensor(ask(student, module, one), _right(one), f"{WHAT} after {mode}()", OF_TOKENS)


@checks.contract("forward", weight=0.4)
def saved(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """What state_dict saves makes another module the same, and a deep copy goes its own way."""
    one, other = layer(rng, CROSS), layer(rng, CROSS)
    module = filled(student, one)
    array_of(ask(student, module, one), WHAT)
    second = filled(student, other)
    array_of(ask(student, second, other), WHAT)
    second.method("load_state_dict", module.method("state_dict").value)
    expect_tensor(ask(student, second, one), _right(one), f"{WHAT} with loaded weights", OF_TOKENS)
    copy = student.call(DEEPCOPY, module).value
    if not isinstance(copy, Remote):
        raise CheckFailure("A deep copy of the module is none.")
    fill(student, module, other.weights)
    expect_tensor(ask(student, copy, one), _right(one), "The answer of a deep copy", OF_TOKENS)


@checks.contract("forward", weight=0.2)
def untouched(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """query, key, value, mask and all parameters are left as they were."""
    one = layer(rng, CROSS)
    module = filled(student, one)
    before = {**one.inputs, "mask": mask(rng, CROSS).astype(np.int64)}
    given = {name: tensor(student, array) for name, array in before.items()}
    array_of(module.call(*given.values()).value, WHAT)
    now = {name: array_of(sent, name) for name, sent in given.items()}
    now |= {name: array_of(module.attribute(name), name) for name in one.weights}
    before |= one.weights
    changed = [name for name in before if not np.array_equal(before[name], now[name])]
    if changed:
        raise CheckFailure(
            f"A call of the module changes {changed[0]}.",
            hint="Methods whose names end with an underscore, and operators such as /=, write in place.",
        )


@checks.contract("forward", weight=0.2)
def repeatable(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A module answers each call as if it were the first, of other sizes and masks, too; answers stay."""
    one = layer(rng, CROSS, mask(rng, CROSS))
    others = (replace(layer(rng, sizes), weights=one.weights) for sizes in (CROSS, (4, *CROSS[1:])))
    module = filled(student, one)
    first = ask(student, module, one)
    before = array_of(first, WHAT)
    for later in (*others, one):
        expect_tensor(ask(student, module, later), _right(later), f"{WHAT}, called again,", OF_TOKENS)
    expect_kept(before, array_of(first, WHAT), "forward")


def compare(student: Student, one: Layer, *, tol: float | None = None) -> None:
    """Fill a new module, call it once, and compare."""
    expect_tensor(ask(student, filled(student, one), one), _right(one), WHAT, OF_TOKENS, tol=tol)


def ask(student: Student, module: Remote, one: Layer) -> Any:
    """What a module answers to tensors of these numbers."""
    return _call(student, module, one, _tensors(student, one))


def _call(student: Student, module: Remote, one: Layer, tensors: Sequence[Remote]) -> Any:
    masks = [] if one.mask is None else [tensor(student, one.mask)]
    return module.call(*tensors, *masks).value


def _tensors(student: Student, one: Layer, *, grad: bool = False) -> list[Remote]:
    """One tensor for each argument, or one and the same."""
    if one.is_self:
        return [tensor(student, one.inputs["query"], grad=grad)] * 3
    return [tensor(student, one.inputs[name], grad=grad) for name in PROJECTIONS]


def _with_gradients(student: Student, one: Layer) -> tuple[Remote, list[Remote], dict[str, np.ndarray]]:
    """A module after its backward pass, its inputs, and the right gradients."""
    module = filled(student, one)
    given = _tensors(student, one, grad=True)
    backward(student, _call(student, module, one, given), one.dy, WHAT, OF_TOKENS)
    return module, given, formula.gradients(one.weights, one.heads, one.inputs, one.mask, one.dy)


def _right(one: Layer) -> np.ndarray:
    return formula.forward(one.weights, one.heads, one.inputs, one.mask)


def _rounded(one: Layer) -> Layer:
    weights = {name: array.astype(np.float32) for name, array in one.weights.items()}
    inputs = {name: array.astype(np.float32) for name, array in one.inputs.items()}
    return replace(one, weights=weights, inputs=inputs, dy=one.dy.astype(np.float32))
