import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.checking.framework import Check, Kind
from autograder.checking.runner import Outcome
from autograder.checking.scoring import NOT_YET, score_exercise
from autograder.errors import CourseError
from autograder.model import ExerciseResult, Verdict

PASSED = Outcome(Verdict.PASSED, "Fine.")
FAILED = Outcome(Verdict.FAILED, "Wrong.", "Think.", "3 for 4")


def check(kind: Kind, weight: float, name: str = "one") -> Check:
    return Check(name, "double", kind, weight, lambda student, reference, rng: None)


def score(*outcomes: tuple[Kind, float, Outcome], points: float = 3.0) -> ExerciseResult:
    return score_exercise("double", [(check(kind, weight), one) for kind, weight, one in outcomes], points)


def test_weights_are_scaled_to_the_points_of_the_exercise() -> None:
    result = score((Kind.VALUE, 3, PASSED), (Kind.VALUE, 1, FAILED), points=2.0)
    assert (result.name, result.score, result.max_score) == ("double", 1.5, 2.0)
    assert [(one.points, one.max_points) for one in result.checks] == [(1.5, 1.5), (0.0, 0.5)]


def test_what_a_check_said_is_passed_on() -> None:
    one = score((Kind.VALUE, 1, FAILED)).checks[0]
    assert (one.name, one.verdict, one.message, one.hint, one.detail) == (
        "one", Verdict.FAILED, "Wrong.", "Think.", "3 for 4",
    )  # fmt: skip


def test_contract_checks_earn_once_a_value_check_passes() -> None:
    result = score((Kind.VALUE, 1, FAILED), (Kind.VALUE, 1, PASSED), (Kind.CONTRACT, 1, PASSED))
    assert result.score == 2.0
    assert result.checks[2].message == "Fine."


def test_without_a_passed_value_check_contract_checks_earn_nothing_and_say_why() -> None:
    result = score((Kind.VALUE, 1, FAILED), (Kind.VISIBLE, 1, PASSED), (Kind.CONTRACT, 1, PASSED))
    assert result.score == 1.0
    assert (result.checks[2].verdict, result.checks[2].points) == (Verdict.PASSED, 0.0)
    assert result.checks[2].message == f"Fine. {NOT_YET}"


def test_a_failed_contract_check_says_its_own_words_only() -> None:
    assert score((Kind.VALUE, 1, FAILED), (Kind.CONTRACT, 1, FAILED)).checks[1].message == "Wrong."


def test_a_check_without_weight_is_reported_without_points() -> None:
    result = score((Kind.VALUE, 1, PASSED), (Kind.CONTRACT, 0, PASSED))
    assert result.score == 3.0
    assert result.checks[1].max_points == 0.0


def test_a_fault_of_ours_leaves_no_score() -> None:
    result = score((Kind.VALUE, 1, PASSED), (Kind.VALUE, 1, Outcome(Verdict.JUDGE_ERROR, "Ours.")))
    assert result.score is None
    assert result.checks[0].points == 1.5


def test_an_exercise_without_points_can_be_graded() -> None:
    assert score((Kind.VALUE, 1, PASSED), points=0.0).score == 0.0
    assert score((Kind.VALUE, 0, PASSED), points=0.0).score == 0.0
    assert score_exercise("double", [], 0.0).score == 0.0


@pytest.mark.parametrize("points", [-1.0, math.nan, math.inf])
def test_points_that_are_no_number_are_the_courses_fault(points: float) -> None:
    with pytest.raises(CourseError, match="points must be a number"):
        score((Kind.VALUE, 1, PASSED), points=points)


def test_points_that_nobody_can_earn_are_the_courses_fault() -> None:
    with pytest.raises(CourseError, match="without a value check"):
        score((Kind.CONTRACT, 1, PASSED))
    with pytest.raises(CourseError, match="nobody can earn"):
        score((Kind.VALUE, 0, PASSED))
    with pytest.raises(CourseError, match="nobody can earn"):
        score_exercise("double", [], 1.0)


def test_points_are_whole_hundredths_by_the_running_total() -> None:
    result = score(*[(Kind.VALUE, 1, PASSED)] * 3, points=2.0)
    assert [one.max_points for one in result.checks] == [0.66, 0.67, 0.67]


weights = st.lists(st.integers(0, 1000).map(lambda tenths: tenths / 10), min_size=1, max_size=20)
points = st.integers(0, 10_000).map(lambda hundredths: hundredths / 100) | st.floats(0, 1000)


@given(weights.filter(any), points)
def test_all_checks_together_earn_exactly_all_points(shares: list[float], total: float) -> None:
    result = score(*((Kind.VALUE, weight, PASSED) for weight in shares), points=total)
    assert result.score == total
    for one, weight in zip(result.checks, shares, strict=True):
        exact = Fraction(str(total)) * Fraction(str(weight)) / sum(Fraction(str(each)) for each in shares)
        assert abs(Fraction(one.max_points) - exact) < Fraction(1, 99)
        assert one.max_points >= 0


@given(weights.filter(any), points, st.data())
def test_more_passed_checks_never_earn_less(shares: list[float], total: float, data: st.DataObject) -> None:
    kinds = [Kind.VALUE, *(data.draw(st.sampled_from(Kind)) for _ in shares[1:])]
    passed = [data.draw(st.booleans()) for _ in shares]
    better = [one or data.draw(st.booleans()) for one in passed]
    scores = [
        score(
            *((kind, w, PASSED if ok else FAILED) for kind, w, ok in zip(kinds, shares, flags, strict=True)),
            points=total,
        ).score
        for flags in (passed, better)
    ]
    assert scores[0] is not None
    assert scores[1] is not None
    assert 0 <= scores[0] <= scores[1] <= total
