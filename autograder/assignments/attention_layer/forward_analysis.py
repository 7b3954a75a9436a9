"""What can be seen of a forward pass whose y is wrong: scale, mask, heads, and what y depends on.

Each analysis draws two cases and says only what holds of both.
"""

from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.analysis.factors import Named
from autograder.checking.analysis.observing import observe, observed
from autograder.checking.analysis.order import same_numbers
from autograder.checking.compare import TOLERANCE
from autograder.checking.framework import Comparison
from autograder.checking.student import Student
from autograder.model import Diagnosis

from . import draws
from .layer import Layer

X_AXES = ("batch", "seq", "d_model")
HEAD_AXES = ("batch", "heads", "seq", "d_head")

#: By what scores may be off, from the lengths of the axes: B, T, H, d, and C = H*d.
SCORE_FACTORS: Named = {
    "sqrt(d)/sqrt(C)": lambda n: np.sqrt(n["d"] / n["C"]),
    "sqrt(d)": lambda n: np.sqrt(n["d"]),
    "1/sqrt(d)": lambda n: 1 / np.sqrt(n["d"]),
    "d": lambda n: n["d"],
    "sqrt(d)/sqrt(H)": lambda n: np.sqrt(n["d"] / n["H"]),
    "sqrt(d)/sqrt(T)": lambda n: np.sqrt(n["d"] / n["T"]),
    "sqrt(d)/C": lambda n: np.sqrt(n["d"]) / n["C"],
    "sqrt(d)/H": lambda n: np.sqrt(n["d"]) / n["H"],
    "sqrt(d)/T": lambda n: np.sqrt(n["d"]) / n["T"],
    "sqrt(d)*sqrt(C)": lambda n: np.sqrt(n["d"] * n["C"]),
    "sqrt(d)*sqrt(H)": lambda n: np.sqrt(n["d"] * n["H"]),
    "sqrt(d)*C": lambda n: np.sqrt(n["d"]) * n["C"],
    "C": lambda n: n["C"],
    "H": lambda n: n["H"],
    "T": lambda n: n["T"],
    "1/C": lambda n: 1 / n["C"],
    "1/H": lambda n: 1 / n["H"],
    "1/T": lambda n: 1 / n["T"],
    "1/d": lambda n: 1 / n["d"],
    "-1": lambda n: -1.0,
    "2": lambda n: 2.0,
    "1/2": lambda n: 0.5,
    "0": lambda n: 0.0,
}


def lengths(case: draws.Case) -> dict[str, int]:
    """The lengths of a case's axes by their letters."""
    batch, seq, d_model = case.x.shape
    heads = int(case.heads)
    return {"B": batch, "T": seq, "H": heads, "d": d_model // heads, "C": d_model}


def named_for(layer: Layer, factors: Named) -> Named:
    """Factors by the letters that the layer's lesson uses: in a single head, d is C, and H says nothing."""
    if layer.has_heads:
        return factors
    return {name.replace("d", "C"): one for name, one in factors.items() if not {"H", "C"}.intersection(name)}


class ForwardAnalysis:
    """What can be seen of one layer; each public method is an analysis."""

    def __init__(self, layer: Layer):
        self.layer = layer
        #: By what scores may be off, by the names of the factors.
        self.factors = named_for(layer, SCORE_FACTORS)

    def digits(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> Diagnosis | None:
        """Whether y does not notice a change of x that float64 can hold, and float32 cannot."""
        for case in self._cases(rng):
            moved = replace(case, x=case.x * (1 + 1e-13))
            before, after = self._y(student, case), self._y(student, moved)
            if not isinstance(before, np.ndarray) or not np.array_equal(before, after):
                return None
        return observed(
            "digits",
            "y stays the same, to the last digit, when the thirteenth digit of x changes.",
            "Which of your lines rounds, or makes float32 out of float64?",
        )

    def scale(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> Diagnosis | None:
        """By which factor all scores are off."""
        cases = self._cases(rng)
        answers = [self._y(student, case) for case in cases]
        for name, factor in self.factors.items():
            if all(
                _equal(y, self._y_of(reference, _scaled(case, factor(lengths(case)))))
                for y, case in zip(answers, cases, strict=True)
            ):
                return observed(
                    "score_factor",
                    f"y is what comes out if all scores are {name} times as large as they should be.",
                    "By what are the scores divided, where, and how often?",
                )
        return None

    def ignored(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> Diagnosis | None:
        """Which argument y does not depend on at all."""
        cases = self._cases(rng)
        before = [self._y(student, case) for case in cases]
        for name in (*draws.PARAMS, "allowed"):
            changed = [self._y(student, _other(case, name, rng)) for case in cases]
            if all(_equal(one, other) for one, other in zip(before, changed, strict=True)):
                what = "allowed" if name == "allowed" else f'params["{name}"]'
                return observed(
                    "ignored_argument",
                    f"y stays the same, whatever {what} is.",
                    f"In which line does {what} enter, and does that line's result reach y?",
                )
        return None

    def mask(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> Diagnosis | None:
        """Whether y is right as long as nothing is hidden."""
        for case in self._cases(rng):
            seq = case.x.shape[1]
            free = replace(case, allowed=np.ones((seq, seq), bool))
            if not _equal(self._y(student, free), self._y_of(reference, free)):
                return None
            if _equal(self._y(student, case), self._y_of(reference, case)):
                return None
        return observed(
            "mask",
            "y is right where every time step may attend to every other, and wrong under a mask.",
            "What does a False in allowed do to a score, when, and in which row and column?",
        )

    def heads(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> Diagnosis | None:
        """What is wrong with joined, recovered from y: which heads, time steps, sequences, or their order."""
        comparisons = [self._joined(student, reference, case) for case in self._cases(rng)]
        if any(one is None for one in comparisons):
            return None
        found = [one for one in comparisons if one is not None]
        seen = observe(found)
        if seen is not None:
            return seen
        if self.layer.has_heads and all(_same_for_all_heads(one.got) for one in found):
            return observed(
                "equal_heads",
                "all heads bring the same numbers.",
                "What should differ from head to head, and does it in your code?",
            )
        if all(same_numbers(one.got, one.want) for one in found):
            sentence = f"{self.layer.joined} holds the right numbers, but not at their places."
            return observed("order", sentence, "Follow one of them.")
        return None

    def _joined(self, student: Student, reference: ModuleType, case: draws.Case) -> Comparison | None:
        """The joined that y was made of, y @ inv(wo), beside the right one; None if y has another shape."""
        y = self._y(student, case)
        if not isinstance(y, np.ndarray) or y.shape != case.x.shape or y.dtype != np.float64:
            return None
        if not np.all(np.isfinite(y)):
            return None
        got = np.linalg.solve(case.params["wo"].T, y.reshape(-1, y.shape[-1]).T).T.reshape(y.shape)
        name = self.layer.joined
        joined = (got, self.layer.forward_of(reference, case)[1][name])
        what = f"{name}, as far as y shows it,"
        if not self.layer.has_heads:
            return Comparison(what, X_AXES, *joined)
        return Comparison(what, HEAD_AXES, *(reference.split_heads(one, case.heads) for one in joined))

    def _cases(self, rng: np.random.Generator) -> list[draws.Case]:
        return [draws.case(rng, size) for size in self.layer.look_sizes]

    def _y(self, student: Student, case: draws.Case) -> Any:
        """The student's y, whatever that is."""
        value = student.call(self.layer.forward, *self.layer.arguments(case).values()).value
        return value[0] if isinstance(value, tuple) and value else value

    def _y_of(self, reference: ModuleType, case: draws.Case) -> draws.Array:
        y: draws.Array = self.layer.forward_of(reference, case)[0]
        return y


def _same_for_all_heads(joined: np.ndarray) -> bool:
    return all(_equal(joined[:, 0], joined[:, head]) for head in range(1, joined.shape[1]))


def _scaled(case: draws.Case, factor: float) -> draws.Case:
    return case.with_params(wq=case.params["wq"] * factor)


def _other(case: draws.Case, name: str, rng: np.random.Generator) -> draws.Case:
    """The same case with another matrix, or another mask."""
    if name != "allowed":
        matrix = case.params[name]
        return case.with_params(**{name: rng.standard_normal(matrix.shape) / np.sqrt(len(matrix))})
    changed = case.allowed.copy()
    while np.array_equal(changed, case.allowed):
        changed = draws.mask(rng, len(changed))
    return replace(case, allowed=changed)


def _equal(one: Any, other: Any) -> bool:
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray) or one.shape != other.shape:
        return False
    if one.dtype != other.dtype or one.dtype.kind != "f" or not np.all(np.isfinite(one)):
        return False
    scale = max(1.0, float(np.max(np.abs(other), initial=0.0)))
    return bool(np.all(np.abs(one - other) <= TOLERANCE * scale))
