"""The hidden checks of ``build_gpt``: 4 points."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.compare import describe, expect_array, repeated
from autograder.checking.contract import expect_each_refused
from autograder.checking.framework import CheckFailure, CheckSet, MalformedAnswer
from autograder.checking.student import Remote, Student, StudentRaised

from .tensors import Array, a_seed, answered, data_of, generator

NAME = "build_gpt"
AXES = ("batch", "seq", "vocabulary")
#: How many characters the lesson's text has, how many numbers its model may change, how far it reads.
VOCABULARY, PARAMETERS, CONTEXT = 65, 109_889, 32

checks = CheckSet("gpt")
checks.visible(NAME, weight=0.6)


@checks.value(NAME, weight=1.6)
def scores(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The model scores characters as the lesson's model does, in as many heads as it is told."""
    for heads in (2, 4):
        compare(student, reference, rng, heads, [(3, 9)])


@checks.contract(NAME, weight=0.4)
def first_numbers(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """All first numbers come from rng."""
    for seed in (a_seed(rng), a_seed(rng)):
        model = build(student, 11, 2, seed)
        wanted = reference.build_gpt(11, 2, np.random.default_rng(seed)).parameters()
        found = _asked(model, "parameters")
        for name in ("token.table", "blocks.steps.1.attention.key.weight", "output.weight"):
            got = _numbers(found, name)
            expect_array(got, wanted[name].data, f"What {name} begins with", ("input", "output"))


@checks.value(NAME, weight=0.6)
def lengths(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Texts may be shorter than the longest that the model can read, and as long as that."""
    compare(student, reference, rng, 8, [(2, 5), (3, 1), (1, CONTEXT)])


@checks.contract(NAME, weight=0.4)
def parameters(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The number of parameters is the lesson's for every number of heads, and all else has its sizes."""
    for heads in (1, 4):
        model = build(student, VOCABULARY, heads, 0)
        wanted = reference.build_gpt(VOCABULARY, heads, np.random.default_rng(0)).parameters()
        found = _asked(model, "parameters")
        names = found.fetch() if isinstance(found, Remote) and found.kind == "dict" else None
        count = _asked(model, "count")
        counted = isinstance(count, int) and count == PARAMETERS
        if not isinstance(names, dict) or set(names) != set(wanted) or not counted:
            raise CheckFailure(
                f"The model must have the lesson's {PARAMETERS} parameters, whatever the heads are.",
                hint="Which sizes does Model know by itself, and how many attention layers are there?",
            )


@checks.contract(NAME, weight=0.2)
def bad_heads(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Heads that do not divide the 64 channels of the model are refused with ValueError or TypeError."""
    tool = generator(student, 0)
    cases = [
        (words, (9, heads, tool)) for words, heads in (("a number that does not divide 64", 5), ("0", 0))
    ]
    expect_each_refused(student, NAME, cases, "heads is")


@checks.contract(NAME, weight=0.2)
def repeatable(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Two models share nothing, and the same seed makes the same model again."""
    text = rng.integers(0, 9, (2, 6))
    first = build(student, 9, 2, 1)
    before = data_of(answered(first, text, "The model"), "The model's answer")
    other = build(student, 9, 4, 2)
    data_of(answered(other, text, "The model"), "The model's answer")
    _expect_again(first, text, before)
    _expect_again(build(student, 9, 2, 1), text, before)


def build(student: Student, vocabulary: int, heads: int, seed: int) -> Remote:
    """A model of the student's; raises MalformedAnswer where it is none."""
    model = student.call(NAME, vocabulary, heads, generator(student, seed)).value
    if not isinstance(model, Remote) or model.kind not in ("object", "function"):
        raise MalformedAnswer(f"{NAME} must return a Model; it returned {describe(model)}.")
    try:
        model.attribute("attention_layers")
    except StudentRaised:  # an answer of another kind, not a call that broke down
        raise MalformedAnswer(f"{NAME} must return a Model; it returned something else.") from None
    return model


def compare(
    student: Student,
    reference: ModuleType,
    rng: np.random.Generator,
    heads: int,
    shapes: list[tuple[int, int]],
) -> None:
    """Build a model and the right one from one seed, and compare their scores for texts of these shapes."""
    vocabulary, seed = int(rng.integers(7, 13)), a_seed(rng)
    model = build(student, vocabulary, heads, seed)
    right = reference.build_gpt(vocabulary, heads, np.random.default_rng(seed))
    for shape in shapes:
        text = rng.integers(0, vocabulary, shape)
        got = data_of(answered(model, text, "The model"), "The model's answer")
        expect_array(got, right(text).data, "The array of scores", AXES)


def _numbers(found: Any, name: str) -> Any:
    """The numbers of one of a model's parameters; raises CheckFailure where there is none of that name."""
    try:
        return found[name].attribute("data") if isinstance(found, Remote) else None
    except (KeyError, AttributeError, StudentRaised) as failure:
        raise CheckFailure(f"The model has no parameter {name}.") from failure


def _asked(model: Remote, method: str) -> Any:
    try:
        return model.method(method).value
    except StudentRaised as failure:
        raise CheckFailure(f"{NAME} must return a Model: what it returned has no {method}().") from failure


def _expect_again(model: Remote, text: Array, before: Any) -> None:
    """Require the scores that the same text had before another model was built."""
    again = data_of(answered(model, text, "The model"), "The model's answer")
    if not repeated(before, again):
        raise CheckFailure(
            "When another model has been built, the same text and seed give other scores than before.",
            hint="What is made once, outside of build_gpt, or shared by all models?",
        )
