"""What can be seen of a backward pass whose gradients are wrong: routes, factors, sequences.

Each analysis draws two cases and says only what holds of both. They presume a right forward pass, which those
that failed have had laid under them where that was possible; where y is wrong all the same they say nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any, TypeGuard

import numpy as np

from autograder.checking.analysis.factors import Named, is_close, name_of, parts_of
from autograder.checking.analysis.observing import observed
from autograder.checking.analysis.slices import Pattern, common_pattern
from autograder.checking.differences import follows, slope
from autograder.checking.student import Remote, Student
from autograder.model import Diagnosis

from . import backward_parts, draws
from .forward_analysis import lengths, named_for
from .layer import Layer
from .passes import is_right

MATRICES = ("dwq", "dwk", "dwv", "dwo")
#: By what gradients may be off, from the lengths of the axes.
FACTORS: Named = {
    "1/B": lambda n: 1 / n["B"],
    "1/T": lambda n: 1 / n["T"],
    "1/(B*T)": lambda n: 1 / (n["B"] * n["T"]),
    "1/H": lambda n: 1 / n["H"],
    "1/C": lambda n: 1 / n["C"],
    "sqrt(d)/sqrt(C)": lambda n: np.sqrt(n["d"] / n["C"]),
    "sqrt(d)": lambda n: np.sqrt(n["d"]),
    "1/sqrt(d)": lambda n: 1 / np.sqrt(n["d"]),
    "d": lambda n: n["d"],
    "1/d": lambda n: 1 / n["d"],
    "sqrt(C)": lambda n: np.sqrt(n["C"]),
    "1/sqrt(C)": lambda n: 1 / np.sqrt(n["C"]),
    "B": lambda n: n["B"],
    "T": lambda n: n["T"],
    "H": lambda n: n["H"],
    "B*T": lambda n: n["B"] * n["T"],
    "1/3": lambda n: 1 / 3,
    "1/2": lambda n: 0.5,
    "2": lambda n: 2.0,
    "3": lambda n: 3.0,
    "-1": lambda n: -1.0,
}
#: For differences of the student's own forward pass: few directions.
ROUTE_DIRECTIONS = 6
DIFFERENCE_TOLERANCE = 1e-6

_ROUTES_HINT = "x is used three times: what comes back through each of the three, and how often is it added?"


@dataclass(frozen=True)
class _Pass:
    """One case, the student's gradients, and what the right ones are made of."""

    case: draws.Case
    got: dict[str, Any]
    want: dict[str, np.ndarray]
    joined: np.ndarray
    parts: backward_parts.Parts

    @property
    def right(self) -> frozenset[str]:
        """The names of the gradients that are right."""
        return frozenset(name for name, want in self.want.items() if is_right(self.got.get(name), want))


_PLACES = {
    Pattern.FIRST_RIGHT: "the first of the {} only",
    Pattern.LAST_RIGHT: "the last of the {} only",
    Pattern.FIRST_WRONG: "all {} but the first",
    Pattern.LAST_WRONG: "all {} but the last",
}

#: Where to look, by the gradients that are wrong, if all the others are right.
_WHERE = {
    frozenset({"dx", "wq", "wk"}): "What do queries and keys go through that values do not?",
    frozenset({"dx", "wv"}): "What do values go through that queries and keys do not?",
    frozenset({"dx", "wq", "wk", "wv"}): "What lies between y and the heads, on the way back?",
    frozenset({"dx", "wq"}): "What do only queries go through?",
    frozenset({"dx", "wk"}): "What do only keys go through?",
    frozenset({"wq", "wk", "wv"}): "What do these three gradients have in common that that of wo has not?",
    frozenset({"wo"}): "What goes into the last product of the forward pass, and what comes out of it?",
    frozenset({"dx"}): "Which terms is dx the sum of?",
    frozenset({"wq", "wk", "wv", "wo"}): "How does the gradient of a matrix differ from that of x?",
}


class BackwardAnalysis:
    """What can be seen of one layer; each public method but the last is an analysis."""

    def __init__(self, layer: Layer):
        self.layer = layer
        #: By what gradients may be off, by the names of the factors.
        self.factors = named_for(layer, FACTORS)

    def routes(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> Diagnosis | None:
        """Which route into x is missing, counted twice, scaled, or goes through the wrong matrix."""
        found = self._passes(student, reference, rng)
        coefficients = [_route_coefficients(one) for one in found]
        if not found or any(one is None for one in coefficients):
            return None
        sizes = [lengths(one.case) for one in found]
        table = np.array([one for one in coefficients if one is not None])
        if all(np.allclose(row, [1, 1, 1, 0, 0, 0], atol=1e-6) for row in table):
            return None
        together = name_of(table[:, 0].tolist(), sizes, self.factors)
        if together is not None and np.allclose(table, table[:, :1] * [1, 1, 1, 0, 0, 0], atol=1e-6):
            return observed("routes", f"dx is {together} times the right one.", _ROUTES_HINT)
        words = [
            _route_words(name, table[:, place], table[:, place + 3], sizes, self.factors)
            for place, name in enumerate("QKV")
        ]
        if any(one is None for one in words):
            return None
        faults = [one for one in words if one]
        return observed(
            "routes",
            f"dx is made of the routes through Q, K and V, but {', and '.join(faults)}.",
            _ROUTES_HINT,
        )

    def matrices(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> Diagnosis | None:
        """Whether the gradients of the matrices are right but for a factor, transposed, or exchanged."""
        found = self._passes(student, reference, rng)
        said: dict[str, list[str]] = {}
        for name in draws.PARAMS:
            words = _matrix_words(name, found, self.factors)
            if words is not None:
                said.setdefault(words, []).append(f'grads["{name}"]')
        if not said:
            return None
        sentences = [f"{' and '.join(names)} {words}" for words, names in said.items()]
        return observed(
            "matrices",
            f"{'; '.join(sentences)}.",
            "Write down the gradient of one single entry of the matrix as a sum: "
            "what is added up, over what?",
        )

    def tokens(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> Diagnosis | None:
        """Whether only some sequences, or some time steps, count in the gradients of the matrices."""
        found = self._passes(student, reference, rng)
        for axis, words in ((0, "sequences of the batch"), (1, "time steps")):
            for name in draws.PARAMS:
                counts = [_counts(one, name, axis) for one in found]
                rights = [one for one in counts if one is not None]
                pattern = common_pattern(rights) if rights and len(rights) == len(counts) else None
                if pattern is not None:
                    return observed(
                        "tokens",
                        f'grads["{name}"] is summed over {_PLACES[pattern].format(words)}.',
                        "Which loop, or which sum, ends too early?",
                    )
        return None

    def where(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> Diagnosis | None:
        """Which gradients are wrong while the others are right."""
        found = self._passes(student, reference, rng)
        right = {one.right for one in found}
        names = {"dx", *draws.PARAMS}
        wrong = frozenset(names - right.pop()) if len(right) == 1 else frozenset()
        if wrong not in _WHERE:
            return None
        return observed(
            "wrong_gradients",
            f"{_gradients(wrong)} {'is' if len(wrong) == 1 else 'are'} wrong, {_gradients(names - wrong)} "
            f"{'is' if len(names - wrong) == 1 else 'are'} right.",
            _WHERE[wrong],
        )

    def fits_own_forward(
        self, student: Student, reference: ModuleType, rng: np.random.Generator
    ) -> bool | Diagnosis:
        """Whether all gradients agree with differences of the student's own forward pass, right or wrong.

        Where those of the matrices do, and dx does not, what is said is which route into x is to blame.
        """
        found: list[Diagnosis | None] = []
        for size in self.layer.fit_sizes:
            case = draws.case(rng, size)
            got = self._gradients_of(student, case)
            if not all(self._fits(name, got, student, case, rng) for name in draws.PARAMS):
                return False
            if not self._fits("dx", got, student, case, rng):
                found.append(self._own_routes(got.get("dx"), student, case, rng))
        if not found:
            return True
        same = len(found) == len(self.layer.fit_sizes) and all(one == found[0] for one in found)
        return found[0] if same and found[0] is not None else False

    def _fits(
        self, name: str, got: dict[str, Any], student: Student, case: draws.Case, rng: np.random.Generator
    ) -> bool:
        at = case.x if name == "dx" else case.params[name]
        gradient = got.get(name)
        loss = partial(self._moved_loss, student, case, name)
        return _is_plain(gradient, at) and follows(
            gradient, loss, at, rng, directions=1, tol=DIFFERENCE_TOLERANCE
        )

    def _own_routes(
        self, dx: Any, student: Student, case: draws.Case, rng: np.random.Generator
    ) -> Diagnosis | None:
        """How often each route of the student's own forward pass is in dx, by differences.

        There are fewer tokens than channels: for each step in x one in wq moves Q alone as x does.
        """
        if not _is_plain(dx, case.x):
            return None
        back = np.linalg.pinv(case.x.reshape(-1, case.x.shape[-1]))
        slopes, wanted = [], []
        for direction in rng.standard_normal((ROUTE_DIRECTIONS, *case.x.shape)):
            wanted.append(float(np.sum(dx * direction)))
            step = back @ direction.reshape(-1, direction.shape[-1])
            slopes.append(
                [
                    slope(partial(self._moved_loss, student, case, name), matrix, step @ matrix)
                    for name, matrix in case.params.items()
                    if name != "wo"
                ]
            )
        often, _, _, _ = np.linalg.lstsq(np.array(slopes), np.array(wanted), rcond=None)
        if not np.allclose(np.array(slopes) @ often, wanted, rtol=0, atol=DIFFERENCE_TOLERANCE * 10):
            return None
        words = [
            _route_words(name, often[[place]], np.zeros(1), [lengths(case)], self.factors, tolerance=1e-5)
            for place, name in enumerate("QKV")
        ]
        faults = [one for one in words if one]
        if not faults or None in words:
            return None
        return observed(
            "own_routes",
            f"{self.layer.backward} fits your own {self.layer.forward}, which is wrong itself, except for "
            f"dx: {', and '.join(faults)}.",
            f"Mend {self.layer.forward} first. {_ROUTES_HINT}",
        )

    def _moved_loss(self, student: Student, case: draws.Case, name: str, moved: draws.Array) -> float:
        """The sum of y * dy by the student's own forward pass, x or one matrix moved; NaN if y is no y."""
        one = replace(case, x=moved) if name == "dx" else case.with_params(**{name: moved})
        y, _ = self._forward(student, one)
        return float(np.sum(y * case.dy)) if _is_plain(y, case.dy) else np.nan

    def _passes(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> list[_Pass]:
        """Two cases; none where the forward pass is wrong, of which no gradient could be right."""
        found, right = [], self.layer.as_multihead(reference)
        for size in self.layer.look_sizes:
            case = draws.case(rng, size)
            right_y, cache = right.multihead(case.x, case.params, case.heads, case.allowed)
            y, _ = self._forward(student, case)
            if not is_right(y, right_y):
                return []
            dx, grads = right.multihead_backward(cache, case.params, case.dy)
            parts = backward_parts.parts_of(right, cache, case.params, case.dy)
            got = self._gradients_of(student, case)
            found.append(_Pass(case, got, {"dx": dx, **grads}, cache["joined"], parts))
        return found

    def _forward(self, student: Student, case: draws.Case) -> tuple[Any, Any]:
        value = student.call(self.layer.forward, *self.layer.arguments(case).values()).value
        return value if isinstance(value, tuple) and len(value) == 2 else (None, None)

    def _gradients_of(self, student: Student, case: draws.Case) -> dict[str, Any]:
        """The student's gradients by name, as far as there are any."""
        _, cache = self._forward(student, case)
        if not isinstance(cache, Remote):
            return {}
        value = student.call(self.layer.backward, cache, case.params, case.dy).value
        if not isinstance(value, tuple) or len(value) != 2 or not isinstance(value[1], Remote):
            return {}
        whole = value[1].fetch()
        return {"dx": value[0], **whole} if isinstance(whole, dict) else {}


def _route_coefficients(one: _Pass) -> np.ndarray | None:
    """By what each route into x was multiplied: three, and three more through matrices not transposed."""
    got, params = one.got.get("dx"), one.case.params
    if not _is_plain(got, one.case.x):
        return None
    parts = (one.parts.q, one.parts.k, one.parts.v)
    pairs = list(zip(parts, (params["wq"], params["wk"], params["wv"]), strict=True))
    return parts_of(got, [part @ w.T for part, w in pairs] + [part @ w for part, w in pairs])


def _route_words(
    name: str,
    straight: np.ndarray,
    turned: np.ndarray,
    sizes: Sequence[dict[str, int]],
    factors: Named,
    tolerance: float = 1e-6,
) -> str | None:
    """What is wrong with one route; an empty text if nothing is, None if there is no word for it."""
    matrix = f"w{name.lower()}"
    if np.allclose(turned, 1, atol=tolerance) and np.allclose(straight, 0, atol=tolerance):
        return f"the route through {name} takes {matrix} as it is where it must be transposed"
    if not np.allclose(turned, 0, atol=tolerance):
        return None
    if np.allclose(straight, 1, atol=tolerance):
        return ""
    if np.allclose(straight, 0, atol=tolerance):
        return f"the route through {name} is missing"
    factor = name_of(straight.tolist(), sizes, factors)
    return f"the route through {name} comes {factor} times" if factor is not None else None


def _matrix_words(name: str, found: Sequence[_Pass], factors: Named) -> str | None:
    """What the gradient of one matrix is instead of the right one, on all cases; None if there is no word."""
    if not found or any(not _is_plain(one.got.get(name), one.want[name]) for one in found):
        return None
    if any(name in one.right for one in found):
        return None
    if all(is_right(one.got[name], one.want[name].T) for one in found):
        return "is the right one, transposed"
    for other in draws.PARAMS:
        if other != name and all(is_right(one.got[name], one.want[other]) for one in found):
            return f'is what grads["{other}"] should be'
    shares = [parts_of(one.got[name], [one.want[name]]) for one in found]
    values = [float(one[0]) for one in shares if one is not None]
    if len(values) < len(shares):
        return None
    if all(is_close(value, 0.0) for value in values):
        return "is zero"
    factor = name_of(values, [lengths(one.case) for one in found], factors)
    return None if factor is None else f"is {factor} times the right one"


def _counts(one: _Pass, name: str, axis: int) -> np.ndarray | None:
    """For each place along batch or time, whether it counts in a matrix's gradient; None if in part."""
    got = one.got.get(name)
    if not _is_plain(got, one.want[name]):
        return None
    inputs = one.joined if name == "wo" else one.case.x
    gradient = one.case.dy if name == "wo" else getattr(one.parts, name[1])
    places = range(inputs.shape[axis])
    parts = [
        backward_parts.outer(inputs.take([place], axis), gradient.take([place], axis)) for place in places
    ]
    coefficients = parts_of(got, parts)
    if coefficients is None:
        return None
    counted = np.isclose(coefficients, 1, atol=1e-6)
    return counted if np.all(counted | np.isclose(coefficients, 0, atol=1e-6)) else None


def _gradients(names: frozenset[str] | set[str]) -> str:
    *most, last = sorted(names, key=("dx", *draws.PARAMS).index)
    return f"{', '.join(most)} and {last}" if most else last


def _is_plain(got: Any, like: np.ndarray) -> TypeGuard[np.ndarray]:
    """Whether an answer is a finite float64 array of that shape."""
    return (
        type(got) is np.ndarray
        and got.dtype == np.float64
        and got.shape == like.shape
        and bool(np.all(np.isfinite(got)))
    )
