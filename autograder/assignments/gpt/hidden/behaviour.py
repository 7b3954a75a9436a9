"""The hidden checks of how ``MultiHeadAttention`` behaves: its parts, what it keeps and leaves alone."""

from types import ModuleType

import numpy as np

from autograder.checking.compare import expect_array, repeated, unchanged
from autograder.checking.contract import expect_each_refused
from autograder.checking.framework import CheckFailure, CheckSet
from autograder.checking.student import Remote, Student, StudentRaised

from .cases import (
    AXES,
    NAME,
    PARTS,
    answer_to,
    case,
    compare,
    drawn,
    formula,
    large_scores_case,
    layer_of,
    made,
    no_such_part,
    right,
)
from .tensors import a_seed, answered, data_of, expect_precision, generator, tensor, walk_back

checks = CheckSet("gpt")


@checks.contract(NAME, weight=0.3)
def single_precision(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Numbers of the type float32 stay of this type."""
    (one,) = (each.astype(np.float32) for each in drawn(rng))
    _, y = answer_to(student, layer_of(student, one), one)
    got = data_of(y, f"The answer of {NAME}")
    expect_array(got, formula(one.astype(np.float64))[0].astype(np.float32), "y", AXES)
    expect_precision(got, f"The answer of {NAME}")


@checks.contract(NAME, weight=0.3)
def large_scores(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Scores of 10000 and -10000 still give the right, finite answer."""
    one = large_scores_case(rng)
    compare(student, layer_of(student, one), one)


@checks.contract(NAME, weight=0.4)
def weights_kept(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The weights of each head are kept in self.weights, an array with a row for each query."""
    (one,) = drawn(rng)
    layer = layer_of(student, one)
    answer_to(student, layer, one)
    try:
        got = layer.attribute("weights")
    except StudentRaised as failure:
        raise CheckFailure(f"{NAME} keeps no self.weights.") from failure
    expect_array(got, right(reference, one).weights, "self.weights", ("batch", "heads", "query", "key"))


@checks.contract(NAME, weight=0.4)
def parameters(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The parameters are those of four linear layers, and as many whatever the number of heads is."""
    for heads in (1, 3, 6):
        layer = made(student, 12, heads)
        try:
            found, count = layer.method("parameters").value, layer.method("count").value
        except StudentRaised as failure:
            raise CheckFailure(
                f"{NAME} must be made from Composite: its parameters are not found."
            ) from failure
        names = found.fetch() if isinstance(found, Remote) and found.kind == "dict" else {}
        wanted = {f"{part}.{kind}" for part in PARTS for kind in ("weight", "bias")}
        counted = isinstance(count, int) and count == 4 * (12 * 12 + 12)
        if not isinstance(names, dict) or set(names) != wanted or not counted:
            raise CheckFailure(
                f"{NAME} must have the parameters of its four linear layers and no others, in one head and "
                "in many.",
                hint="Which sizes do the four linear layers have, and what else looks like a parameter?",
            )


@checks.contract(NAME, weight=0.2)
def first_numbers(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The linear layers draw their first numbers from rng: query, key, value, output."""
    seed = a_seed(rng)
    layer = made(student, 12, 3, seed)
    for name, wanted in reference.MultiHeadAttention(12, 3, np.random.default_rng(seed)).parameters().items():
        try:
            got = layer.attribute(f"{name}.data")
        except StudentRaised as failure:
            raise no_such_part(name.partition(".")[0]) from failure
        axes = ("input", "output")[2 - wanted.ndim :]
        expect_array(got, wanted.data, f"What self.{name} begins with", axes)


@checks.contract(NAME, weight=0.5)
def bad_heads(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Heads that do not divide d_model, or are not positive, are refused with ValueError or TypeError."""
    tool = generator(student, 0)
    wrong = (("a number that does not divide d_model", 5), ("0", 0), ("a negative number", -3))
    more = ("a number larger than d_model", 24)
    cases = [(words, (12, heads, tool)) for words, heads in (*wrong, more)]
    expect_each_refused(student, NAME, cases, "heads is")


@checks.contract(NAME, weight=0.3)
def untouched(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """x, the gradient that arrives, and the parameters are left as they were."""
    (one,) = drawn(rng)
    layer = layer_of(student, one)
    given, arriving = student.send(one.x), student.send(one.dy)
    y = answered(layer, tensor(student, given), NAME)
    walk_back(y, arriving, NAME)
    for what, before, now in (("x", one.x, given), ("the gradient that arrives", one.dy, arriving)):
        if not unchanged(before, now.reread()):
            raise CheckFailure(f"{NAME} changes {what}.", hint="Which line writes into an array?")
    for name, before in one.params.items():
        if not unchanged(before, layer.attribute(f"{name}.data")):
            raise CheckFailure(f"Calling {NAME} changes its self.{name}.")


@checks.contract(NAME, weight=0.4)
def repeatable(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Layers know nothing of each other, nor of earlier calls, and leave earlier answers as they were."""
    one, other = case(rng, (2, 3, 3, 4)), case(rng, (2, 3, 2, 6))
    layer, second = layer_of(student, one), layer_of(student, other)
    compare(student, second, other)
    _, y = answer_to(student, layer, one)
    first = data_of(y, f"The answer of {NAME}")
    expect_array(first, formula(one)[0], "y", AXES)
    layer.call(tensor(student, one.dy))
    if not unchanged(first, data_of(y, f"The answer of {NAME}")):
        raise CheckFailure(f"A later call of {NAME} changes an answer that it gave before.")
    _, again = answer_to(student, layer, one)
    if not repeated(first, data_of(again, f"The answer of {NAME}")):
        raise CheckFailure(f"Called again with the same x, {NAME} gives another answer.")
