"""Adds up what was tried into a certificate, one sitting after the other and in any order."""

import math
import platform
from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from autograder.assignments.candidates import known_mistakes, right_variants
from autograder.assignments.catalog import Assignment
from autograder.checking.framework import Check
from autograder.checking.mistakes import Mistake
from autograder.checking.visible import with_visible_checks
from autograder.model import Verdict
from autograder.notebooks.source import Exercise
from autograder.reporting.certificate import (
    Certificate,
    CheckRecord,
    ExerciseRecord,
    Fault,
    MistakeRecord,
    RightRecord,
)
from autograder.usecases.certifying import REFERENCE, Mark, Plan, Sitting

Key = tuple[str, str]
"""An exercise, and a mistake or a check in it."""


class Ledger:
    """What all sittings have shown so far."""

    def __init__(self, assignment: Assignment, plan: Plan):
        self._assignment = assignment
        self._plan = plan
        self._mistakes = known_mistakes(assignment)
        self._styles = {REFERENCE: "The reference."} | {
            one.name: one.style for one in right_variants(assignment)
        }
        self._seeds: Counter[Key] = Counter()
        self._complete: Counter[Key] = Counter()
        self._survived: defaultdict[Key, list[int]] = defaultdict(list)
        self._kills: defaultdict[Key, Counter[str]] = defaultdict(Counter)
        self._alone: defaultdict[Key, set[str]] = defaultdict(set)
        self._clearest: dict[Key, float] = {}
        self._closest: dict[tuple[Key, str], float] = {}
        self._right_seeds: Counter[str] = Counter()
        self._right_margins: dict[str, float] = {}
        self._check_margins: dict[Key, float] = {}
        self._slowest: dict[Key, float] = {}
        self._named: defaultdict[Key, Counter[str]] = defaultdict(Counter)
        self._diagnosed: Counter[Key] = Counter()
        self._false_failures: list[Fault] = []
        self._breakdowns: list[Fault] = []

    def enter(self, sitting: Sitting) -> None:
        """Take one sitting into account."""
        for mark in sitting.marks:
            if mark.verdict is Verdict.JUDGE_ERROR:
                self._breakdowns.append(_fault(sitting, mark))
        if sitting.said is not None:
            self._named[sitting.exercise, sitting.candidate].update(sitting.said)
            self._diagnosed[sitting.exercise, sitting.candidate] += 1
        if sitting.is_right:
            self._enter_right(sitting)
        else:
            self._enter_mistake(sitting)

    def certificate(self, *, processes: int, wall_seconds: float) -> Certificate:
        """The sum of all."""
        checks = self._assignment.checks
        if self._assignment.visible is not None:
            checks = with_visible_checks(checks, self._assignment.visible)
        return Certificate(
            assignment=self._assignment.name,
            fingerprint=self._assignment.fingerprint,
            python=platform.python_version(),
            numpy=np.__version__,
            seeds=self._plan.seeds,
            complete_seeds=self._plan.complete,
            processes=processes,
            wall_seconds=round(wall_seconds, 3),
            exercises=tuple(self._exercise(one, checks.of(one.name)) for one in self._assignment.exercises),
            right=tuple(
                RightRecord(
                    name, style, self._right_seeds[name], self._right_margins.get(name), self._said_of(name)
                )
                for name, style in self._styles.items()
            ),
            false_failures=tuple(sorted(self._false_failures, key=_order)),
            breakdowns=tuple(sorted(self._breakdowns, key=_order)),
        )

    def _enter_right(self, sitting: Sitting) -> None:
        name = sitting.candidate
        if sitting.exercise == self._assignment.exercises[0].name:
            self._right_seeds[name] += 1
        for mark in sitting.marks:
            key = sitting.exercise, mark.check
            if mark.verdict is Verdict.PASSED and mark.margin is not None:
                self._right_margins[name] = max(mark.margin, self._right_margins.get(name, 0.0))
                self._check_margins[key] = max(mark.margin, self._check_margins.get(key, 0.0))
            self._slowest[key] = max(mark.cpu_seconds, self._slowest.get(key, 0.0))
            if mark.verdict not in (Verdict.PASSED, Verdict.JUDGE_ERROR):
                self._false_failures.append(_fault(sitting, mark))

    def _enter_mistake(self, sitting: Sitting) -> None:
        key = sitting.exercise, sitting.candidate
        killers = [
            mark for mark in sitting.marks if mark.verdict not in (Verdict.PASSED, Verdict.JUDGE_ERROR)
        ]
        self._seeds[key] += 1
        if sitting.full_marks:
            self._survived[key].append(sitting.seed)
        if sitting.complete:
            self._complete[key] += 1
            self._kills[key].update(mark.check for mark in killers)
            if len(killers) == 1:
                self._alone[key].add(killers[0].check)
        margins = {mark.check: math.inf if mark.margin is None else mark.margin for mark in killers}
        for check, margin in margins.items():
            self._closest[key, check] = min(margin, self._closest.get((key, check), math.inf))
        clearest = max(margins.values(), default=0.0)
        self._clearest[key] = min(clearest, self._clearest.get(key, math.inf))

    def _exercise(self, exercise: Exercise, checks: Iterable[Check]) -> ExerciseRecord:
        mistakes = self._mistakes[exercise.name]
        return ExerciseRecord(
            exercise.name,
            exercise.max_points,
            tuple(self._check(exercise.name, check) for check in checks),
            tuple(self._mistake(exercise.name, one) for one in mistakes.forms()),
        )

    def _check(self, exercise: str, check: Check) -> CheckRecord:
        keys = [(exercise, one.name) for one in self._mistakes[exercise].forms()]
        always = [key for key in keys if 0 < self._kills[key][check.name] == self._complete[key]]
        margins = [self._closest.get((key, check.name), math.inf) for key in always]
        return CheckRecord(
            name=check.name,
            kind=str(check.kind),
            weight=check.weight,
            kills=tuple(key[1] for key in keys if self._kills[key][check.name]),
            alone=tuple(key[1] for key in keys if check.name in self._alone[key]),
            right_margin=self._check_margins.get((exercise, check.name)),
            wrong_margin=_finite(min(margins, default=math.inf)),
            slowest_seconds=round(self._slowest.get((exercise, check.name), 0.0), 3),
        )

    def _mistake(self, exercise: str, mistake: Mistake) -> MistakeRecord:
        key = exercise, mistake.name
        return MistakeRecord(
            id=mistake.name,
            belief=mistake.belief,
            seen=mistake.seen,
            seeds=self._seeds[key],
            complete_seeds=self._complete[key],
            survived=tuple(sorted(self._survived[key])),
            killed_by=dict(self._kills[key]),
            margin=_finite(self._clearest.get(key, math.inf)),
            diagnosed_seeds=self._diagnosed[key],
            said=dict(self._named[key]),
            form_of=mistake.id if mistake.form else "",
        )

    def _said_of(self, right: str) -> tuple[str, ...]:
        """What was said of a right solution, in whichever exercise."""
        keys = [(one.name, right) for one in self._assignment.exercises]
        return tuple(sorted({name for key in keys for name in self._named[key]}))


def _fault(sitting: Sitting, mark: Mark) -> Fault:
    return Fault(
        sitting.candidate, sitting.exercise, mark.check, sitting.seed, str(mark.verdict), mark.message
    )


def _order(fault: Fault) -> tuple[str, str, str, int]:
    return fault.candidate, fault.exercise, fault.check, fault.seed


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
