"""What can be seen of ``attention`` and ``attention_backward`` where no known mistake explains their numbers.

Each analysis draws two inputs and says only what holds of both.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer.draws import Array
from autograder.assignments.attention_layer.passes import DIFFERENCE_TOLERANCE, is_right
from autograder.checking.analysis.factors import Named, constant_factor, name_of
from autograder.checking.analysis.observing import observed
from autograder.checking.differences import follows
from autograder.checking.framework import CheckSet
from autograder.checking.student import Remote, Student
from autograder.model import Diagnosis

from .hidden.inputs import NAMES, Inputs, inputs

VALUES = ("all_allowed", "masked", "single", "batch", "lengths", "dtypes")
GRADIENTS = ("dq", "dk", "dv")
#: Leading axes, time steps and width of two inputs at which no two factors have the same value.
SIZES = (((2, 3), 5, 4), ((3, 2), 4, 7))
#: By what scores or gradients may be off, from the lengths of the axes.
FACTORS: Named = {
    "sqrt(d)": lambda n: np.sqrt(n["d"]),
    "1/sqrt(d)": lambda n: 1 / np.sqrt(n["d"]),
    "d": lambda n: n["d"],
    "1/d": lambda n: 1 / n["d"],
    "sqrt(d)/sqrt(T)": lambda n: np.sqrt(n["d"] / n["T"]),
    "sqrt(d)/T": lambda n: np.sqrt(n["d"]) / n["T"],
    "T": lambda n: n["T"],
    "1/T": lambda n: 1 / n["T"],
    "1/B": lambda n: 1 / n["B"],
    "1/(B*T)": lambda n: 1 / (n["B"] * n["T"]),
    "-1": lambda n: -1.0,
    "2": lambda n: 2.0,
    "3": lambda n: 3.0,
    "1/2": lambda n: 0.5,
    "0": lambda n: 0.0,
}

analyses = CheckSet("weighted_attention")


def lengths(one: Inputs) -> dict[str, int]:
    """The lengths of the axes by their letters."""
    batch, _, seq, width = one.q.shape
    return {"B": batch, "T": seq, "d": width}


@analyses.analysis("attention", *VALUES)
def scale(student: Student, reference: ModuleType, rng: np.random.Generator) -> Diagnosis | None:
    """By which factor all scores are off."""
    cases = _cases(rng)
    answers = [_out(student, one) for one in cases]
    for name, factor in FACTORS.items():
        scaled = [replace(one, q=one.q * factor(lengths(one))) for one in cases]
        wanted = [reference.attention(*one.arguments)[0] for one in scaled]
        if all(map(is_right, answers, wanted)):
            return observed(
                "score_factor",
                f"the answer is what comes out if all scores are {name} times as large as they should be.",
                "By what are the scores divided, where, and how often?",
            )
    return None


@analyses.analysis("attention", *VALUES)
def ignored(student: Student, reference: ModuleType, rng: np.random.Generator) -> Diagnosis | None:
    """Which argument the answer does not depend on at all."""
    cases = _cases(rng)
    others = [inputs(rng, *size) for size in SIZES]
    before = [_out(student, one) for one in cases]
    if not all(isinstance(one, np.ndarray) for one in before):
        return None
    for name in (*NAMES, "allowed"):
        changed = [
            replace(one, **{name: getattr(other, name)}) for one, other in zip(cases, others, strict=True)
        ]
        if all(is_right(_out(student, one), was) for one, was in zip(changed, before, strict=True)):
            return observed(
                "ignored_argument",
                f"the answer stays the same, whatever {name} is.",
                f"In which line does {name} enter, and does that line's result reach the answer?",
            )
    return None


@analyses.analysis("attention", "masked", "lengths")
def mask(student: Student, reference: ModuleType, rng: np.random.Generator) -> Diagnosis | None:
    """Whether the answer is right as long as nothing is hidden."""
    for one in _cases(rng):
        free = replace(one, allowed=np.ones_like(one.allowed))
        if not is_right(_out(student, free), reference.attention(*free.arguments)[0]):
            return None
        if is_right(_out(student, one), reference.attention(*one.arguments)[0]):
            return None
    return observed(
        "mask",
        "the answer is right where every query may look at every key, and wrong under a mask.",
        "What does a False in allowed do to a score, when, and in which row and column?",
    )


@analyses.analysis("attention_backward", *GRADIENTS)
def factors(student: Student, reference: ModuleType, rng: np.random.Generator) -> Diagnosis | None:
    """Whether gradients are right but for a factor, or are those of something else."""
    cases = _cases(rng)
    got = [_gradients_of(student, one) for one in cases]
    want = [_gradients(reference, one) for one in cases]
    said = {name: _words(name, got, want, [lengths(one) for one in cases]) for name in NAMES}
    sentences = [f'the gradient "{name}" {words}' for name, words in said.items() if words]
    if not sentences:
        return None
    return observed(
        "factors",
        f"{'; '.join(sentences)}.",
        "Follow the scale, and the names of the gradients, through your lines from the last to the first.",
    )


#: Where to look, by the gradients that are wrong, if all the others are right.
_WHERE = {
    ("q", "k"): "What do queries and keys go through that values do not?",
    ("v",): "What is multiplied with the values on the way forward, and what stands there on the way back?",
    ("q",): "What is a query multiplied with in its scores?",
    ("k",): "Which axis of the scores belongs to the keys?",
}


@analyses.analysis("attention_backward", *GRADIENTS)
def where(student: Student, reference: ModuleType, rng: np.random.Generator) -> Diagnosis | None:
    """Which gradients are wrong while the others are right."""
    seen = set()
    for one in _cases(rng):
        got, want = _gradients_of(student, one), _gradients(reference, one)
        seen.add(tuple(name for name in NAMES if not is_right(got.get(name), want[name])))
    wrong = seen.pop() if len(seen) == 1 else ()
    if wrong not in _WHERE:
        return None
    right = [name for name in NAMES if name not in wrong]
    return observed(
        "wrong_gradients",
        f"the gradients {' and '.join(wrong)} are wrong, {' and '.join(right)} right."
        if len(wrong) > 1
        else f"the gradient {wrong[0]} is wrong, {' and '.join(right)} are right.",
        _WHERE[wrong],
    )


def fits_own_attention(student: Student, reference: ModuleType, rng: np.random.Generator) -> bool:
    """Whether all gradients agree with differences of the student's own ``attention``, right or wrong."""
    for one in _cases(rng):
        got = _gradients_of(student, one)
        for name in NAMES:
            at, gradient = getattr(one, name), got.get(name)
            loss = partial(_moved_loss, student, one, name)
            if not isinstance(gradient, np.ndarray) or not _is_plain(gradient, at):
                return False
            if not follows(gradient, loss, at, rng, directions=1, tol=DIFFERENCE_TOLERANCE):
                return False
    return True


def _moved_loss(student: Student, one: Inputs, name: str, moved: Array) -> float:
    out = _out(student, replace(one, **{name: moved}))
    return float(np.sum(out * one.dout)) if _is_plain(out, one.dout) else np.nan


def _cases(rng: np.random.Generator) -> list[Inputs]:
    return [inputs(rng, *size) for size in SIZES]


def _out(student: Student, one: Inputs) -> Any:
    """What the student's attention gathers, whatever that is."""
    value = student.call("attention", *one.arguments).value
    return value[0] if isinstance(value, tuple) and value else value


def _gradients_of(student: Student, one: Inputs) -> dict[str, Any]:
    """The student's gradients by name, as far as there are any."""
    value = student.call("attention", *one.arguments).value
    if not isinstance(value, tuple) or len(value) != 2 or not isinstance(value[1], Remote):
        return {}
    gradients = student.call("attention_backward", value[1], one.dout).value
    whole = gradients.fetch() if isinstance(gradients, Remote) else None
    return whole if isinstance(whole, dict) else {}


def _gradients(reference: ModuleType, one: Inputs) -> dict[str, Array]:
    _, cache = reference.attention(*one.arguments)
    found: dict[str, Array] = reference.attention_backward(cache, one.dout)
    return found


def _words(
    name: str,
    got: Sequence[dict[str, Any]],
    want: Sequence[dict[str, Array]],
    sizes: Sequence[dict[str, int]],
) -> str | None:
    """What a gradient is instead of the right one, on all inputs; None if there is no word."""
    pairs = [(one.get(name), other) for one, other in zip(got, want, strict=True)]
    if any(not _is_plain(mine, right[name]) or is_right(mine, right[name]) for mine, right in pairs):
        return None
    for other in NAMES:
        if other != name and all(is_right(mine, right[other]) for mine, right in pairs):
            return f'is what "{other}" should be'
    shares = [constant_factor(np.asarray(mine), right[name]) for mine, right in pairs]
    if any(one is None for one in shares):
        return None
    factor = name_of([one for one in shares if one is not None], sizes, FACTORS)
    return {None: None, "0": "is zero"}.get(factor, f"is {factor} times the right one")


def _is_plain(got: Any, like: Array) -> bool:
    """Whether an answer is a finite float64 array of that shape."""
    return (
        type(got) is np.ndarray
        and got.dtype == np.float64
        and got.shape == like.shape
        and bool(np.all(np.isfinite(got)))
    )
