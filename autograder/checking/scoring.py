"""From the outcomes of an exercise's checks to its points.

A check's points are its weight's share of the exercise's points, in hundredths. So that they always
sum to exactly the exercise's points, it is the running total that is rounded down to a hundredth,
and a check gets what its weight adds to it: never off by a hundredth or more.
"""

import functools
import math
from collections.abc import Sequence
from fractions import Fraction

from autograder.checking.framework import Check, Kind
from autograder.checking.runner import Outcome
from autograder.errors import CourseError
from autograder.model import CheckResult, ExerciseResult, Verdict

#: So many failed hidden checks, at most, are each told with what they ask for: where all fail it is no help.
FEW_FAILED = 2
NOT_YET = "It earns its points once a check of the values passes."


def score_exercise(name: str, outcomes: Sequence[tuple[Check, Outcome]], max_score: float) -> ExerciseResult:
    """The result of an exercise worth ``max_score`` points.

    A passed contract check earns only if a value check passed, too, and says so where it does not. One
    ``judge_error`` leaves the exercise without a score. Where few hidden checks failed, they say what they
    ask for.

    Raises:
        CourseError: the points are no number >= 0, or the checks cannot earn them.
    """
    checks = tuple(check for check, _ in outcomes)
    shares = _shares(name, checks, max_score)
    verdicts = {outcome.verdict for _, outcome in outcomes}
    proven = any(check.kind is Kind.VALUE and one.verdict is Verdict.PASSED for check, one in outcomes)
    few = sum(_asks_for_more(check, outcome) for check, outcome in outcomes) <= FEW_FAILED
    results, earned = [], Fraction(0)
    for (check, outcome), share in zip(outcomes, shares, strict=True):
        passed = outcome.verdict is Verdict.PASSED
        held_back = passed and check.kind is Kind.CONTRACT and not proven
        points = share if passed and not held_back else Fraction(0)
        earned += points
        asked = (
            f"What is asked for here: {check.sentence}" if few and _asks_for_more(check, outcome) else None
        )
        results.append(
            CheckResult(
                name=check.name,
                verdict=outcome.verdict,
                points=float(points),
                max_points=float(share),
                message=f"{outcome.message} {NOT_YET}" if held_back and share else outcome.message,
                hint=outcome.hint or asked,
                diagnosis=outcome.diagnosis,
                detail=outcome.detail,
                attempt=outcome.attempt,
            )
        )
    score = None if Verdict.JUDGE_ERROR in verdicts else float(earned)
    return ExerciseResult(name, score, max_score, tuple(results))


def _asks_for_more(check: Check, outcome: Outcome) -> bool:
    """Whether a check failed whose inputs the student does not see."""
    failed = outcome.verdict in (Verdict.FAILED, Verdict.RAISED, Verdict.MALFORMED_ANSWER)
    return failed and check.kind is not Kind.VISIBLE


@functools.lru_cache(maxsize=1000)
def _shares(name: str, checks: tuple[Check, ...], max_score: float) -> tuple[Fraction, ...]:
    """Each check's points: hundredths that sum to exactly ``max_score``; the same for every student."""
    if not 0 <= max_score < math.inf:
        raise CourseError(f"Exercise {name}: its points must be a number >= 0, not {max_score!r}.")
    kinds = {check.kind for check in checks}
    if Kind.CONTRACT in kinds and Kind.VALUE not in kinds:
        raise CourseError(f"Exercise {name}: its contract checks can earn nothing without a value check.")
    # Through text, so that a weight of 0.1 is a tenth and not the float next to it.
    whole = Fraction(str(max_score))
    weights = [Fraction(str(check.weight)) for check in checks]
    total = sum(weights, Fraction(0))
    if total == 0:
        if max_score > 0:
            raise CourseError(
                f"Exercise {name}: none of its checks has a weight, so nobody can earn its points."
            )
        return (Fraction(0),) * len(weights)
    shares, running, paid = [], Fraction(0), Fraction(0)
    for weight in weights:
        running += weight
        due = whole if running == total else Fraction(math.floor(whole * running / total * 100), 100)
        shares.append(due - paid)
        paid = due
    return tuple(shares)
