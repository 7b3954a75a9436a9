from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from autograder.checking.compare import expect_array
from autograder.checking.framework import Check, CheckSet
from autograder.checking.local import LocalStudent
from autograder.checking.mistakes import Mistake, MistakeSet
from autograder.checking.runner import run_check
from autograder.checking.seeds import rng
from autograder.checking.student import StudentCrashed
from autograder.model import Diagnosis
from autograder.usecases.diagnosing import REDRAWS, Diagnosed, Diagnoser, Patient

Make = Callable[[], dict[str, object]]
SEEN = Diagnosis("observed_it", "It was seen.", "Look.")

checks = CheckSet("toy")


def compared(student: Any, reference: Any, x: np.ndarray) -> None:
    got = student.call("double", student.call("single", x).value).value
    expect_array(got, reference.double(reference.single(x)), "double(x)", ("a",))


@checks.value("double", weight=1)
def floats(student: Any, reference: Any, rng: np.random.Generator) -> None:
    """Floats."""
    compared(student, reference, rng.standard_normal(5))


@checks.value("double", weight=1)
def more_floats(student: Any, reference: Any, rng: np.random.Generator) -> None:
    """More floats."""
    compared(student, reference, rng.standard_normal(4))


@checks.value("double", weight=1)
def integers(student: Any, reference: Any, rng: np.random.Generator) -> None:
    """Integers."""
    compared(student, reference, rng.integers(1, 99, 7))


mistakes = MistakeSet("double")


@mistakes.add(hint="How often?", seen="courses")
def tripled(right: ModuleType, x: Any) -> Any:
    """Two is three."""
    return 3 * x


REFERENCE = ModuleType("reference")
vars(REFERENCE).update(single=lambda x: x, double=lambda x: 2 * x)
PLUS = Mistake("plus", "single", "One is two.", "Is it?", "courses", lambda right, x: x + 1)


class Clinic:
    """A student whose forks are namespaces made anew, and how often more of them were asked for."""

    def __init__(self, make: Make, *, broken: bool = False):
        self._make = make
        self._broken = broken
        self.again = 0
        self.forks = 0

    def draw(self, check: str, attempt: int) -> np.random.Generator:
        return rng(b"secret", "toy", "double", check, 0, attempt)

    def run(self, which: Sequence[Check], attempt: int) -> list[tuple[Check, Any]]:
        student = LocalStudent(self._make())
        return [
            (one, replace(run_check(one, student, REFERENCE, self.draw(one.name, attempt)), attempt=attempt))
            for one in which
        ]

    def run_again(self, which: Sequence[Check], number: int) -> list[tuple[Check, Any]]:
        self.again += 1
        return self.run(which, 6 + number)

    @contextmanager
    def fork(self) -> Iterator[LocalStudent]:
        self.forks += 1
        if self._broken:
            raise StudentCrashed
        yield LocalStudent(self._make())

    def patient(self, **more: Any) -> Patient:
        outcomes = self.run(checks.of("double"), 0)
        return Patient("double", 0, self.draw, outcomes, outcomes, self.run_again, self.fork, 12, **more)


@pytest.fixture
def diagnoser() -> Diagnoser:
    return Diagnoser(checks, {"double": mistakes}, REFERENCE)


def functions(double: Callable[[Any], Any], single: Callable[[Any], Any] = lambda x: x) -> Make:
    return lambda: {"single": single, "double": double}


def said(diagnosed: Diagnosed) -> dict[str, str]:
    return {check: one.id for check, one in diagnosed.said.items()}


def test_what_a_known_mistake_explains_costs_the_student_nothing_more(diagnoser: Diagnoser) -> None:
    clinic = Clinic(functions(lambda x: x + x + x))
    diagnosed = diagnoser.diagnose(clinic.patient())
    assert {"floats": "tripled"} == said(diagnosed)
    assert mistakes["tripled"] is diagnosed.mistake
    assert (0, 0) == (clinic.again, clinic.forks)


def test_a_right_solution_is_left_alone(diagnoser: Diagnoser) -> None:
    clinic = Clinic(functions(lambda x: 2 * x))
    assert {} == said(diagnoser.diagnose(clinic.patient()))
    assert (0, 0) == (clinic.again, clinic.forks)


def test_what_nothing_explains_runs_once_more_and_is_observed(diagnoser: Diagnoser) -> None:
    clinic = Clinic(functions(lambda x: 2 * x[::-1]))
    diagnosed = diagnoser.diagnose(clinic.patient())
    assert {"floats": "observed_order"} == said(diagnosed)
    assert "backward along the axis a" in diagnosed.said["floats"].message
    assert (None, 1) == (diagnosed.mistake, clinic.again)


def test_an_explanation_that_leaves_numbers_over_is_confirmed_on_further_inputs(diagnoser: Diagnoser) -> None:
    clinic = Clinic(functions(lambda x: 3 * x if x.dtype.kind == "f" else 5 * x))
    assert "tripled" == said(diagnoser.diagnose(clinic.patient()))["floats"]
    assert REDRAWS == clinic.again


def test_what_fails_on_some_inputs_only_is_tried_on_further_ones(diagnoser: Diagnoser) -> None:
    factors = iter([7, 2])

    def make() -> dict[str, object]:
        factor = next(factors, 7)
        return {"single": lambda x: x, "double": lambda x: factor * x}

    clinic = Clinic(make)
    diagnoser.diagnose(clinic.patient())
    assert REDRAWS == clinic.again


def test_integers_alone_are_seen(diagnoser: Diagnoser) -> None:
    clinic = Clinic(functions(lambda x: 2 * x if x.dtype.kind == "f" else x // 2))
    assert {"integers": "observed_integers"} == said(diagnoser.diagnose(clinic.patient()))


def test_that_only_the_first_call_is_right_is_seen(diagnoser: Diagnoser) -> None:
    def make() -> dict[str, object]:
        calls: list[int] = []

        def double(x: Any) -> Any:
            calls.append(1)
            return x * (2 if len(calls) == 1 else 7)

        return {"single": lambda x: x, "double": double}

    assert "observed_state" in said(diagnoser.diagnose(Clinic(make).patient())).values()


def test_a_mistake_is_found_beside_the_one_in_the_function_before(diagnoser: Diagnoser) -> None:
    clinic = Clinic(functions(lambda x: 3 * x, lambda x: x + 1))
    assert "tripled" not in said(diagnoser.diagnose(clinic.patient())).values()
    diagnosed = diagnoser.diagnose(clinic.patient(standing=PLUS))
    assert {"floats": "tripled"} == said(diagnosed)


def test_what_fits_a_wrong_function_before_it_needs_no_closer_look(diagnoser: Diagnoser) -> None:
    clinic = Clinic(functions(lambda x: 2 * x[::-1]))
    assert {} == said(diagnoser.diagnose(clinic.patient(fits=True)))
    assert {} == said(diagnoser.diagnose(clinic.patient(mixed=True)))
    assert {"floats": "observed_it"} == said(diagnoser.diagnose(clinic.patient(fits=SEEN)))


@pytest.fixture
def looking() -> CheckSet:
    mine = CheckSet("toy")
    mine.include(checks)
    return mine


def test_an_analysis_of_the_assignments_own_comes_first_where_it_concerns_what_failed(
    looking: CheckSet,
) -> None:
    asked: list[str] = []

    @looking.analysis("double", "integers")
    def elsewhere(student: Any, reference: Any, rng: Any) -> None:
        asked.append("elsewhere")

    @looking.analysis("double", "floats")
    def nothing(student: Any, reference: Any, rng: Any) -> None:
        asked.append("nothing")

    @looking.analysis("double", "floats")
    def something(student: Any, reference: Any, rng: Any) -> Diagnosis:
        assert 4 == student.call("double", 4.0).value
        return SEEN

    @looking.analysis("double", "floats")
    def too_late(student: Any, reference: Any, rng: Any) -> None:
        asked.append("too late")

    def double(x: Any) -> Any:
        return x if np.ndim(x) == 0 or x.dtype.kind == "f" else 2 * x

    diagnoser = Diagnoser(looking, {"double": mistakes}, REFERENCE)
    diagnosed = diagnoser.diagnose(Clinic(functions(double)).patient())
    assert {"floats": "observed_it"} == {
        name: one for name, one in said(diagnosed).items() if name == "floats"
    }
    assert ["nothing"] == asked


def test_where_no_fork_can_be_had_nothing_is_seen(looking: CheckSet) -> None:
    @looking.analysis("double", "floats")
    def never(student: Any, reference: Any, rng: Any) -> Diagnosis:
        return SEEN

    diagnoser = Diagnoser(looking, {}, REFERENCE)
    clinic = Clinic(functions(np.sin), broken=True)
    assert {} == said(diagnoser.diagnose(clinic.patient()))
    assert clinic.forks >= 1
