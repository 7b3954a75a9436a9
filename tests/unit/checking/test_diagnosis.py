from collections.abc import Callable, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from autograder.checking import diagnosis
from autograder.checking.compare import expect_array
from autograder.checking.contract import expect_repeatable, expect_untouched
from autograder.checking.diagnosis import Findings, Replays, Sitting, explain
from autograder.checking.framework import Check, CheckSet
from autograder.checking.local import LocalStudent
from autograder.checking.mistakes import Mistake, MistakeSet
from autograder.checking.runner import run_check
from autograder.checking.seeds import rng

checks = CheckSet("toy")


def compared(student: Any, reference: Any, x: Any) -> None:
    expect_array(student.call("double", x).value, reference.double(x), "double(x)", ("a",))


@checks.value("double", weight=1)
def short(student: Any, reference: Any, rng: np.random.Generator) -> None:
    """Three numbers."""
    compared(student, reference, rng.standard_normal(3))


@checks.value("double", weight=1)
def long(student: Any, reference: Any, rng: np.random.Generator) -> None:
    """Five numbers."""
    compared(student, reference, rng.standard_normal(5))


@checks.value("double", weight=1)
def positive(student: Any, reference: Any, rng: np.random.Generator) -> None:
    """Positive numbers."""
    compared(student, reference, rng.random(4))


@checks.value("double", weight=1)
def again(student: Any, reference: Any, rng: np.random.Generator) -> None:
    """Three other numbers."""
    compared(student, reference, rng.standard_normal(3))


@checks.value("double", weight=1)
def once_more(student: Any, reference: Any, rng: np.random.Generator) -> None:
    """Three numbers for the last time."""
    compared(student, reference, rng.standard_normal(3))


@checks.contract("double", weight=1)
def untouched(student: Any, reference: Any, rng: np.random.Generator) -> None:
    """The argument stays."""
    expect_untouched(student, "double", {"x": rng.standard_normal(3)})


@checks.contract("double", weight=1)
def repeatable(student: Any, reference: Any, rng: np.random.Generator) -> None:
    """The same again."""
    expect_repeatable(student, "double", (rng.standard_normal(3),), (rng.standard_normal(3),))


mistakes = MistakeSet("double")


@mistakes.add(hint="How often?", seen="courses")
def tripled(right: ModuleType, x: Any) -> Any:
    """Two is three."""
    return 3 * x


@mistakes.add(hint="Which sign?", seen="courses")
def negated(right: ModuleType, x: Any) -> Any:
    """Doubling changes the sign."""
    return -2 * x


@mistakes.add(hint="And below zero?", seen="courses")
def rectified(right: ModuleType, x: Any) -> Any:
    """Negative numbers count as nothing."""
    return 2 * np.maximum(x, 0)


@mistakes.add(hint="Whose array?", seen="courses")
def in_place(right: ModuleType, x: Any) -> Any:
    """The argument may hold the answer."""
    x *= 2
    return x.copy()


@mistakes.add(stateful=True, hint="Twice?", seen="courses")
def first_kept(right: ModuleType) -> Any:
    """The first answer of a length serves all later calls."""
    kept: dict[int, Any] = {}
    return lambda x: kept.setdefault(len(x), 2 * x)


@mistakes.add(hint="What is it about?", seen="courses")
def raising(right: ModuleType, x: Any) -> Any:
    """Nobody wants this."""
    raise IndexError


@mistakes.add(slow=True, hint="How long?", seen="courses")
def slow(right: ModuleType, x: Any) -> Any:
    """Time does not matter."""
    raise AssertionError("it must not run")


@pytest.fixture
def reference() -> ModuleType:
    module = ModuleType("reference")
    vars(module).update(double=lambda x: 2 * x)
    return module


def sit(namespace: Mapping[str, object], *, attempt: int = 0, variant: int = 0, only: Any = None) -> Sitting:
    """What was recorded of a student, with the functions of ``checks``."""
    reference = ModuleType("reference")
    vars(reference).update(double=lambda x: 2 * x)
    student = LocalStudent(namespace)

    def draw(check: str, number: int) -> np.random.Generator:
        return rng(b"secret", "toy", "double", check, variant, number)

    def outcome(check: Check) -> Any:
        return replace(run_check(check, student, reference, draw(check.name, attempt)), attempt=attempt)

    chosen = [check for check in checks.of("double") if only is None or check.name in only]
    return Sitting(variant, draw, [(check, outcome(check)) for check in chosen])


def find(reference: ModuleType, *sittings: Sitting, known: Any = mistakes) -> Findings:
    return explain(known, sittings, Replays(reference))


def named(found: Findings) -> dict[str, tuple[str, ...]]:
    return {one.mistake.id: one.checks for one in found.explanations}


VALUES = ("short", "long", "positive", "again", "once_more")
ANEW: list[tuple[Callable[[Any], Any], str, tuple[str, ...]]] = [
    (lambda x: x + x + x, "tripled", VALUES),
    (lambda x: -x - x, "negated", VALUES),
    (lambda x: np.where(x > 0, x + x, 0.0), "rectified", ("short", "long", "again", "once_more")),
]


@pytest.mark.parametrize(("function", "name", "explained"), ANEW)
def test_the_mistake_with_the_same_answers_is_named(
    reference: ModuleType, function: Any, name: str, explained: tuple[str, ...]
) -> None:
    found = find(reference, sit({"double": function}))
    assert {name: explained} == named(found)
    (one,) = found.explanations
    assert (
        "Your answers are exactly those of a known mistake, made by those who believe: "
        f"“{mistakes[name].belief}”" == one.diagnosis.message
    )
    assert (name, mistakes[name].hint) == (one.diagnosis.id, one.diagnosis.hint)


def test_a_right_solution_has_no_diagnosis(reference: ModuleType) -> None:
    assert {} == named(find(reference, sit({"double": lambda x: x + x})))


def test_numbers_of_no_known_mistake_have_no_name(reference: ModuleType) -> None:
    assert {} == named(find(reference, sit({"double": lambda x: 2.5 * x})))


def test_one_input_is_not_enough_and_another_draw_makes_it_two(reference: ModuleType) -> None:
    namespace = {"double": lambda x: x * 2 if len(x) != 3 else x * 3}
    first = sit(namespace, only=["short"])
    assert {} == named(find(reference, first))
    assert {"tripled": ("short",)} == named(find(reference, first, sit(namespace, attempt=1, only=["short"])))


def test_a_mistake_that_is_wrong_where_the_student_is_right_is_not_named(reference: ModuleType) -> None:
    namespace = {"double": lambda x: x * 2 if len(x) == 4 else x * 3}
    assert {} == named(find(reference, sit(namespace)))
    only = ["short", "long"]
    assert {"tripled": ("short", "long")} == named(find(reference, sit(namespace, only=only)))


def test_likeness_in_one_draw_and_not_in_the_next_is_coincidence(reference: ModuleType) -> None:
    calls = [0]

    def double(x: Any) -> Any:
        calls[0] += 1
        return 3 * x if calls[0] <= 3 else 4 * x

    only = ["short", "long", "positive"]
    first, second = sit({"double": double}, only=only), sit({"double": double}, attempt=1, only=only)
    assert {"tripled": tuple(only)} == named(find(reference, first))
    assert {} == named(find(reference, first, second))


def test_two_mistakes_that_are_both_like_the_student_are_a_tie(reference: ModuleType) -> None:
    twins = MistakeSet("double")
    for name in ("one", "other"):

        def double(right: ModuleType, x: Any) -> Any:
            """It is so."""
            return 3 * x

        double.__name__ = name
        twins.add(hint="Why?", seen="courses")(double)
    found = find(reference, sit({"double": lambda x: 3 * x}), known=twins)
    assert ({}, True) == (named(found), found.tied)


def test_forms_of_one_mistake_are_no_rivals_and_explain_together(reference: ModuleType) -> None:
    known = MistakeSet("double")

    @known.add(hint="How often?", seen="courses")
    def tripled(right: ModuleType, x: Any) -> Any:
        """Two is three."""
        return 3 * x

    @known.form("tripled")
    def tripled_or_so(right: ModuleType, x: Any) -> Any:
        """Where there are three numbers they change their sign."""
        return -3 * x if len(x) == 3 else 3 * x

    only = ["long", "positive"]
    for factor in (3, -3):
        student = sit({"double": lambda x, factor=factor: factor * x if len(x) == 3 else 3 * x})
        assert {"tripled": VALUES} == named(find(reference, student, known=known.forms()))
    both = sit({"double": lambda x: 3 * x}, only=only)
    assert {"tripled": tuple(only)} == named(find(reference, both, known=known.forms()))


def test_the_same_exception_everywhere_says_nothing(reference: ModuleType) -> None:
    def double(x: Any) -> Any:
        raise IndexError

    assert {} == named(find(reference, sit({"double": double})))


def test_that_a_memory_makes_calls_fail_says_nothing_until_a_number_shows_it(reference: ModuleType) -> None:
    known = MistakeSet("double")

    @known.add(stateful=True, hint="Whose?", seen="courses")
    def first_added(right: ModuleType) -> Any:
        """What was asked first belongs to all answers."""
        first: list[Any] = []

        def double(x: Any) -> Any:
            first.append(x)
            return 2 * x + first[0] - (x if len(first) == 1 else 0)

        return double

    def student(added: float) -> Mapping[str, object]:
        first: list[Any] = []

        def double(x: Any) -> Any:
            first.append(x)
            return 2 * x if len(first) == 1 else 2 * x + added * first[0]

        return {"double": double}

    only = ["short", "long", "positive"]
    for added in (1.0, 0.5):
        found = find(reference, sit(student(added), only=only), known=known)
        assert {} == named(found)
    found = find(reference, sit(student(1.0)), known=known)
    assert {"first_added": ("long", "positive", "again", "once_more")} == {
        name: checks_[:4] for name, checks_ in named(found).items()
    }
    assert {} == named(find(reference, sit(student(0.5)), known=known))


def test_a_broken_contract_is_named_beside_wrong_values_or_alone(reference: ModuleType) -> None:
    def spoiling(factor: int) -> Callable[[Any], Any]:
        def double(x: Any) -> Any:
            answer = x * factor
            x[0] = 9
            return answer

        return double

    only = ["short", "long", "positive", "untouched"]
    alone = [sit({"double": spoiling(2)}, attempt=number, only=only) for number in (0, 1)]
    found = find(reference, *alone)
    assert {"in_place": ("untouched",)} == named(found)
    assert found.explanations[0].diagnosis.message.startswith("Your function behaves exactly as in a known")
    both = [sit({"double": spoiling(3)}, attempt=number, only=only) for number in (0, 1)]
    assert {"tripled": tuple(only[:3]), "in_place": ("untouched",)} == named(find(reference, *both))


def test_a_mistake_with_a_memory_sits_through_all_checks_before(reference: ModuleType) -> None:
    kept: dict[int, Any] = {}

    def double(x: Any) -> Any:
        return kept.setdefault(len(x), x + x)

    assert {"first_kept": ("again", "once_more")} == named(find(reference, sit({"double": double})))
    # Alone the same check would have passed.
    assert {} == named(find(reference, sit({"double": double}, only=["again", "long"])))


def test_what_mistakes_do_is_computed_once_for_all_students_of_a_variant(
    reference: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []
    real = diagnosis.run_check

    def counted(check: Check, *args: Any) -> Any:
        runs.append(check.name)
        return real(check, *args)

    monkeypatch.setattr(diagnosis, "run_check", counted)
    replays = Replays(reference)
    students = [sit({"double": lambda x: 3 * x}) for _ in range(3)]
    explain(mistakes, [students[0]], replays)
    once = len(runs)
    assert once > 0
    for student in students[1:]:
        assert {"tripled": VALUES} == named(explain(mistakes, [student], replays))
    assert once == len(runs)
    explain(mistakes, [sit({"double": lambda x: 3 * x}, variant=1)], replays)
    assert 2 * once == len(runs)


def test_the_memory_is_bounded_and_answers_are_computed_again(
    reference: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnosis, "CACHE_BYTES", 5000)
    replays = Replays(reference)
    for variant in range(20):
        found = explain(mistakes, [sit({"double": lambda x: 3 * x}, variant=variant)], replays)
        assert {"tripled": VALUES} == named(found)
    assert len(replays._known) < 10


def test_a_mistake_beside_another_one_in_the_function_before(reference: ModuleType) -> None:
    before = Mistake("plus", "single", "One is two.", "Is it?", "courses", lambda right, x: x + 1)
    namespace = {"single": lambda x: x + 1, "double": lambda x: 3 * x}
    sitting = sit(namespace)
    found = explain(mistakes, [sitting], Replays(reference), standing=before)
    assert {"tripled": VALUES} == named(found)
