"""Names the mistake behind an exercise that failed, or says what was seen of it.

Known mistakes are tried first, on what the examination recorded already. Only where that does not explain all
failed checks, these run again in fresh forks, on other inputs, to know more. What is left then is analysed.
Nothing here changes a verdict, and nothing is said that holds for some of the inputs only.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import ModuleType

from autograder.checking.analysis.observing import INTEGERS, STATE, observe, only_integers
from autograder.checking.diagnosis import Draw, Explanation, Findings, Replays, Sitting, explain
from autograder.checking.framework import Analysis, Check, CheckFailure, CheckSet, Kind
from autograder.checking.late import Late, calls_before_last
from autograder.checking.likeness import TELLING, is_telling
from autograder.checking.local import LocalStudent
from autograder.checking.mistakes import Mistake, MistakeSet
from autograder.checking.runner import Outcome, run_check
from autograder.checking.student import Student, StudentFailure
from autograder.model import Diagnosis, Verdict
from autograder.usecases.following import Outcomes

#: How often failed checks run again, at most: once to know more, and while several mistakes are possible.
REDRAWS = 3
#: How much is said of one exercise where no known mistake explains it.
MAX_OBSERVATIONS = 3


@dataclass(frozen=True)
class Patient:
    """A student's failed exercise: what was recorded of it, and how to know more.

    ``variant`` names the seeds that ``draw`` draws from. ``outcomes`` are those that count, ``own`` those of
    the student's own code alone. ``again`` runs checks in a fresh fork on the inputs of a further attempt, 0,
    1, 2; ``fork`` gives one for anything else, with ``looks`` as the attempt. ``standing`` is the mistake
    that was found in the exercise that this one builds on. ``fits``: it does what that one asks for, and
    needs no closer look; or it does so but for what is said there. ``mixed``: something of that one could not
    be replaced, so that a closer look would see the faults of both.
    """

    exercise: str
    variant: Hashable
    draw: Draw
    outcomes: Outcomes
    own: Outcomes
    again: Callable[[Sequence[Check], int], Outcomes]
    fork: Callable[[], AbstractContextManager[Student]]
    looks: int
    standing: Mistake | None = None
    fits: bool | Diagnosis = False
    mixed: bool = False


@dataclass(frozen=True)
class Diagnosed:
    """What to say, by the name of the first check that it explains, and the known mistake in the values."""

    said: Mapping[str, Diagnosis] = field(default_factory=dict)
    mistake: Mistake | None = None


class Diagnoser:
    """Diagnoses for one assignment; remembers what its known mistakes do."""

    def __init__(self, checks: CheckSet, mistakes: Mapping[str, MistakeSet], reference: ModuleType):
        self._checks = checks
        self._mistakes = mistakes
        self._reference = reference
        self._replays = Replays(reference)

    def diagnose(self, patient: Patient) -> Diagnosed:
        """What can be said of an exercise that failed; nothing if all its checks passed."""
        known = self._mistakes.get(patient.exercise)
        mistakes = () if known is None else tuple(known.forms())
        case = _Case(patient, mistakes, self._replays, self._reference)
        case.explain()
        case.explain_own_code()
        case.take_fit()
        if patient.fits is True or patient.mixed:
            return Diagnosed(case.said, case.mistake)
        case.look_at_state_and_integers()
        for analysis in self._checks.analyses.get(patient.exercise, ()):
            case.look(analysis)
        case.observe()
        return Diagnosed(case.said, case.mistake)


@dataclass
class _Case:
    """One patient, and what has been found so far."""

    patient: Patient
    mistakes: tuple[Mistake, ...]
    replays: Replays
    reference: ModuleType
    sittings: list[Sitting] = field(default_factory=list)
    explained: set[str] = field(default_factory=set)
    said: dict[str, Diagnosis] = field(default_factory=dict)
    mistake: Mistake | None = None

    def explain(self) -> None:
        """By known mistakes; the checks that they leave over run again, to know more.

        So do those that they explain, where others, about numbers, are left over: numbers that are equal at
        some sizes by coincidence will not be at others.
        """
        self.sittings = [self._sitting(self.patient.outcomes)]
        found = self._found()
        for attempt in range(REDRAWS):
            left = self._left_over(found)
            unsure = bool(found.explanations) and any(self._is_about_numbers(one) for one in left)
            worth_while = found.tied or unsure or self._depends_on_draw(left)
            if not left or (attempt > 0 and not worth_while):
                break
            again = self._failed() if unsure else left
            self.sittings.append(self._sitting(self.patient.again(again, attempt)))
            found = self._found()
        self._take(found.explanations)

    def explain_own_code(self) -> None:
        """By mistakes in the student's own code, where right answers took the place of some of it.

        Then by a mistake beside the one that stands in the exercise before.
        """
        own = [self._sitting(self.patient.own)]
        if not self.explained and self.patient.own is not self.patient.outcomes:
            self._take(explain(self.mistakes, own, self.replays).explanations)
        if not self.explained and self.patient.standing is not None:
            mistakes = [one for one in self.mistakes if not one.companions]
            self._take(explain(mistakes, own, self.replays, self.patient.standing).explanations)

    def take_fit(self) -> None:
        """That it fits a wrong exercise before it, but for something."""
        left = [one.name for one in self._unexplained()]
        if left and isinstance(self.patient.fits, Diagnosis):
            self._say(left, self.patient.fits)

    def look_at_state_and_integers(self) -> None:
        """What the order of calls, or the dtype of arguments, says of a check of values."""
        left = self._unexplained()
        runs = [] if not left else self._runs(left[0])
        if len(runs) < 2:
            return
        others = [
            one for check, one in self.patient.outcomes if check.kind is Kind.VALUE and check != left[0]
        ]
        if self._depends_on_earlier_calls(left[0], runs[1]):
            self._say([one.name for one in left], STATE)
        elif all(is_telling(one) and only_integers(one.events) for one in runs) and all(
            one.verdict is Verdict.PASSED for one in others
        ):
            self._say([left[0].name], INTEGERS)

    def look(self, analysis: Analysis) -> None:
        """One analysis of the assignment's own, if it concerns a check that nothing explains yet."""
        names = [one.name for one in self._unexplained() if one.name in analysis.checks]
        if not names:
            return
        rng = self.patient.draw(f"look {analysis.look.__name__}", self.patient.looks)
        try:
            with self.patient.fork() as student:
                seen = analysis.look(student, self.reference, rng)
        except (StudentFailure, CheckFailure):  # no answers everywhere, or none of the kind: nothing is seen
            return
        if seen is not None:
            self._say(names, seen)

    def observe(self) -> None:
        """What can be seen of the refused arrays themselves, where nothing else could be said."""
        if self.said:
            return
        for check in self._unexplained():
            runs = self._runs(check)
            comparisons = [one.comparison for one in runs if one.comparison is not None]
            if len(runs) < 2 or len(comparisons) < len(runs):
                continue
            seen = observe(comparisons)
            told = {one.message for one in self.said.values()}
            if seen is not None and seen.message not in told and len(self.said) < MAX_OBSERVATIONS:
                self._say([check.name], seen)

    def _found(self) -> Findings:
        return explain(self.mistakes, self.sittings, self.replays)

    def _take(self, explanations: Sequence[Explanation]) -> None:
        for one in explanations:
            self._say(one.checks, one.diagnosis)
            values = {check.name for check, _ in self.patient.outcomes if check.kind is Kind.VALUE}
            if self.mistake is None and values.intersection(one.checks):
                self.mistake = one.mistake

    def _say(self, checks: Sequence[str], diagnosis: Diagnosis) -> None:
        """At the first of the checks: said again at each of them it would hide what else is wrong."""
        self.said[checks[0]] = diagnosis
        self.explained.update(checks)

    def _depends_on_earlier_calls(self, check: Check, fresh: Outcome) -> bool:
        """Whether a call is right if it is the first in a fresh fork, and wrong if others came before it.

        ``fresh`` is how the check ended as the first one in a fork.
        """
        try:
            if fresh.verdict is not Verdict.PASSED:
                earlier = calls_before_last(fresh.events)
                wrong_later = is_telling(fresh) and earlier > 0
                return wrong_later and self._ends(check, [(0, earlier)]) == [Verdict.PASSED]
            first, same, other = self._ends(check, [(0, 0), (0, 0), (1, 0)])
            if first is not Verdict.PASSED:
                return False
            return same in TELLING or (other in TELLING and self._ends(check, [(1, 0)]) == [Verdict.PASSED])
        except StudentFailure:
            return False

    def _ends(self, check: Check, runs: Sequence[tuple[int, int]]) -> list[Verdict]:
        """How the check ends, again and again in one fresh fork.

        Each run says which numbers it draws, and how many of its calls the reference answers in the place
        of the student. Raises StudentFailure where there is no fork.
        """
        verdicts = []
        with self.patient.fork() as student:
            for number, skipped in runs:
                rng = self.patient.draw(check.name, self.patient.looks + number)
                late = Late(student, LocalStudent(vars(self.reference)), skipped)
                verdicts.append(run_check(check, late, self.reference, rng).verdict)
        return verdicts

    def _sitting(self, outcomes: Outcomes) -> Sitting:
        return Sitting(self.patient.variant, self.patient.draw, outcomes)

    def _runs(self, check: Check) -> list[Outcome]:
        """How a check ended in each sitting in which it ran."""
        return [one for sitting in self.sittings for other, one in sitting.outcomes if other == check]

    def _depends_on_draw(self, failed: Sequence[Check]) -> bool:
        """Whether one of the checks that failed has passed on other inputs."""
        return any(run.verdict is Verdict.PASSED for one in failed for run in self._runs(one))

    def _failed(self) -> list[Check]:
        """The checks, visible ones left out, that failed in a telling way."""
        return [
            check
            for check, outcome in self.patient.outcomes
            if check.kind is not Kind.VISIBLE and is_telling(outcome)
        ]

    def _left_over(self, found: Findings) -> list[Check]:
        explained = {name for one in found.explanations for name in one.checks}
        return [one for one in self._failed() if one.name not in explained]

    def _is_about_numbers(self, check: Check) -> bool:
        ends = {one.name: outcome for one, outcome in self.patient.outcomes}
        return check.kind is Kind.VALUE or ends[check.name].comparison is not None

    def _unexplained(self) -> list[Check]:
        """The checks of values that failed, in their order, and that nothing explains yet."""
        return [one for one in self._failed() if one.kind is Kind.VALUE and one.name not in self.explained]
