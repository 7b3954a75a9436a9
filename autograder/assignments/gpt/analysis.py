"""What can be seen of ``MultiHeadAttention`` where no known mistake explains its numbers.

Each analysis draws two cases and says only what holds of both.
"""

from collections.abc import Collection
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer.forward_analysis import SCORE_FACTORS
from autograder.assignments.attention_layer.passes import is_right
from autograder.checking.analysis.observing import observed
from autograder.checking.framework import CheckSet
from autograder.checking.student import Remote, Student
from autograder.model import Diagnosis

from .hidden.cases import NAME, PARTS, Case, case, formula, layer_of, right
from .hidden.tensors import tensor

VALUES = ("one_head", "heads", "biases", "lengths")
GRADIENTS = ("dx", "dquery", "dkey", "dvalue", "doutput")
#: Two sizes at which no two factors have the same value.
SIZES = ((2, 5, 3, 4), (3, 4, 2, 7))

analyses = CheckSet("gpt")


@analyses.analysis(NAME, *VALUES)
def scale(student: Student, reference: ModuleType, rng: np.random.Generator) -> Diagnosis | None:
    """By which factor all scores are off."""
    cases = [case(rng, size, biases=False) for size in SIZES]
    answers = [_answer(student, one) for one in cases]
    for name, factor in SCORE_FACTORS.items():
        if all(is_right(y, formula(_scaled(one, factor))[0]) for y, one in zip(answers, cases, strict=True)):
            return observed(
                "score_factor",
                f"y is what comes out if all scores are {name} times as large as they should be.",
                "By what are the scores divided, where, and how often?",
            )
    return None


@analyses.analysis(NAME, *VALUES)
def ignored(student: Student, reference: ModuleType, rng: np.random.Generator) -> Diagnosis | None:
    """Which linear layer y does not depend on at all."""
    cases = [case(rng, size) for size in SIZES]
    before = [_answer(student, one) for one in cases]
    if not all(isinstance(one, np.ndarray) for one in before):
        return None
    for part in PARTS:
        changed = [_answer(student, _other(one, part, rng)) for one in cases]
        if all(is_right(one, other) for one, other in zip(before, changed, strict=True)):
            return observed(
                "ignored_layer",
                f"y stays the same, whatever the weight of self.{part} is.",
                f"In which line does self.{part} enter, and does that line's result reach y?",
            )
    return None


@analyses.analysis(NAME, *GRADIENTS)
def gradients(student: Student, reference: ModuleType, rng: np.random.Generator) -> Diagnosis | None:
    """Which gradients are wrong where y is right."""
    found = [_wrong_gradients(student, reference, case(rng, size)) for size in SIZES]
    wrong = found[0]
    if not wrong or any(one != wrong for one in found):
        return None
    names = ("x", *(f"self.{part}" for part in PARTS))
    rest = [name for name in names if name not in wrong]
    others = f", those at {_list(rest)} are right" if rest else ""
    return observed(
        "gradients",
        f"y is right; the gradients at {_list(wrong)} are wrong or missing{others}.",
        "Which step do the wrong ones have in common? Does it leave the graph, or has it a way back of its "
        "own?",
    )


def _wrong_gradients(student: Student, reference: ModuleType, one: Case) -> list[str] | None:
    """Where the gradients of a case are wrong; None where y is wrong already."""
    layer, y, answer, x = _passed(student, one)
    wanted = right(reference, one)
    if not is_right(y, wanted.y):
        return None
    answer.method("backward", one.dy)
    wrong = [] if is_right(x.attribute("grad"), wanted.grads["x"]) else ["x"]
    for part in PARTS:
        got = [layer.attribute(f"{part}.{kind}.grad") for kind in ("weight", "bias")]
        want = [wanted.grads[f"{part}.{kind}"] for kind in ("weight", "bias")]
        if not all(map(is_right, got, want)):
            wrong.append(f"self.{part}")
    return wrong


def _passed(student: Student, one: Case) -> tuple[Remote, Any, Any, Remote]:
    """A layer with the numbers of a case, its y, the tensor that holds it, and x."""
    layer = layer_of(student, one)
    x = tensor(student, one.x)
    answer = layer.call(x).value
    y = answer.attribute("data") if isinstance(answer, Remote) else None
    return layer, y, answer, x


def _answer(student: Student, one: Case) -> Any:
    """The student's y of a case."""
    return _passed(student, one)[1]


def _scaled(one: Case, factor: Any) -> Case:
    """The same case with scores that are larger by a factor of the sizes."""
    batch, seq, d_model = one.x.shape
    sizes = {"B": batch, "T": seq, "H": one.heads, "d": d_model // one.heads, "C": d_model}
    weight = one.params["query.weight"] * factor(sizes)
    return replace(one, params={**one.params, "query.weight": weight})


def _other(one: Case, part: str, rng: np.random.Generator) -> Case:
    """The same case with another weight in one of the linear layers."""
    weight = one.params[f"{part}.weight"]
    return replace(one, params={**one.params, f"{part}.weight": rng.standard_normal(weight.shape)})


def _list(names: Collection[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
