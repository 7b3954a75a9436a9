"""From a notebook that has run to the results of its exercises.

1. Every exercise is examined with the student's own code alone. Only when all of them are, a right answer may
   enter a fork: by then every exercise that it could answer has its final verdict.
2. An exercise that builds on others that failed is examined once more with right ones in their place
   (``following``); the better result counts.
3. What failed is diagnosed (``diagnosing``). That changes no verdict; if it breaks down, no grade is lost.
"""

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from autograder.assignments.candidates import known_mistakes
from autograder.assignments.catalog import Assignment
from autograder.checking.follow_through import RightCache
from autograder.checking.framework import Check
from autograder.checking.mistakes import Mistake
from autograder.checking.scoring import score_exercise
from autograder.checking.seeds import rng, variant_of
from autograder.checking.student import Student, StudentFailure
from autograder.checking.visible import with_visible_checks
from autograder.errors import JudgeError
from autograder.model import ExerciseResult
from autograder.notebooks.source import Exercise
from autograder.sandbox.examination import Budget
from autograder.sandbox.session import WorkerLost
from autograder.usecases.diagnosing import Diagnosed, Diagnoser, Patient
from autograder.usecases.examining import Exam, Forks
from autograder.usecases.following import Examined, FollowThroughs, Help, Outcomes, end_to_end, follow

#: Attempts at the checks of one exercise, each with inputs of its own. Each may need the one after it, too,
#: where something ran out of time by the clock. A worker that is lost has seen inputs: the next gets others.
OWN, HELPED, AGAIN, LOOKS, FITS = 0, 2, 6, 12, 14
ATTEMPTS = 16


@dataclass(frozen=True)
class Assessed:
    """The results of a notebook's exercises, in order; ``fault`` is a fault of ours that cost no points."""

    exercises: tuple[ExerciseResult, ...]
    fault: str | None = None


@dataclass(frozen=True)
class Replay:
    """An earlier grading, repeated to be looked at.

    ``attempts`` says, by exercise and check, of which attempt the inputs counted then. ``watch`` is told what
    was recorded of every exercise, hidden inputs included.
    """

    attempts: Mapping[tuple[str, str], int]
    watch: Callable[[Examined], None]

    def number(self, exercise: str, check: str, attempt: int) -> int:
        """The attempt then that corresponds to one now: of a worker that was lost, of a second chance."""
        life = max(self.attempts.values(), default=0) // ATTEMPTS
        counted = self.attempts.get((exercise, check), 0)
        was_second_chance = attempt % 2 == 0 and counted % ATTEMPTS == attempt + 1
        return counted if was_second_chance else life * ATTEMPTS + attempt


class Assessor:
    """Assesses notebooks of one assignment, one after another; ``secret`` gives the seeds of hidden inputs.

    Raises CourseError where the assignment's mistakes, or its follow-through, are not in order.
    """

    def __init__(self, assignment: Assignment, secret: bytes, replay: Replay | None = None):
        self.assignment = assignment
        self.secret = secret
        self.replay = replay
        self.checks = assignment.checks
        if assignment.visible is not None:
            self.checks = with_visible_checks(assignment.checks, assignment.visible)
        self.follow_throughs = FollowThroughs(self.checks, assignment.reference)
        self.diagnoser = Diagnoser(self.checks, known_mistakes(assignment), assignment.reference)

    def assess(self, student: str, exercises: Sequence[Exercise], run: Forks, life: int = 0) -> Assessed:
        """Examine, follow through, diagnose, score; ``life`` counts the workers that were lost on the way.

        Raises:
            WorkerLost: the worker ended before any right answer had entered it: judge the notebook once more.
            JudgeError: it ended later, when the notebook cannot be judged once more.
        """
        notebook = _Notebook(self, run, variant_of(self.secret, student), life)
        done = {one.name: notebook.examined(one) for one in exercises}
        run.expect_worker()
        for one in done.values():
            notebook.follow(one, done)
        _expect_worker_still(run)
        fault = None
        try:
            said = notebook.diagnose(done)
        except Exception:  # noqa: BLE001 (all verdicts are there: the instructor is told, nobody loses a grade)
            said, fault = {}, traceback.format_exc()
        if self.replay is not None:
            for one in done.values():
                self.replay.watch(one)
        results = tuple(notebook.result(one, said.get(name)) for name, one in done.items())
        return Assessed(results, fault)


def _expect_worker_still(run: Forks) -> None:
    try:
        run.expect_worker()
    except WorkerLost as error:
        raise JudgeError(
            "The process that runs student code was lost when right functions stood in for wrong ones."
        ) from error


@dataclass(frozen=True)
class _Notebook:
    """One run of a student's notebook under assessment."""

    assessor: Assessor
    run: Forks
    variant: int
    life: int

    def examined(self, exercise: Exercise) -> Examined:
        """The exercise with the student's own code alone."""
        checks = self.assessor.checks.of(exercise.name)
        outcomes = self._exam(exercise.name).outcomes(checks, attempt=self._number(OWN))
        return Examined(exercise, outcomes, outcomes)

    def follow(self, one: Examined, done: dict[str, Examined]) -> None:
        """Examine it once more, where something that it builds on is wrong."""
        exam = self._exam(one.exercise.name)
        declared = self.assessor.follow_throughs.declared.get(exam.exercise)
        if declared is None or exam.exercise not in self.run.exercises:
            return
        checks = self.assessor.checks.of(exam.exercise)
        budget = Budget(exam.limits)

        def with_help(help_: Help, number: int) -> tuple[Outcomes, bool]:
            students: list[Student] = []

            def prepare(fork: Student) -> Student:
                students.append(help_.prepare(fork))
                return students[-1]

            attempt = self._number(HELPED + 2 * number)
            outcomes = exam.outcomes(checks, prepare=prepare, attempt=attempt, budget=budget)
            return outcomes, any(isinstance(one, RightCache) and one.mixed for one in students)

        follow(one, self.assessor.follow_throughs, done, with_help)
        if declared.fits is not None and declared.cache_of in one.tried and not one.right:
            try:
                with exam.fork(budget) as student:
                    rng = exam.draw("fits", self._number(FITS))
                    one.fits = declared.fits(student, exam.reference, rng)
            except StudentFailure:  # no answers, or none in time: then nobody knows
                one.fits = False

    def diagnose(self, done: dict[str, Examined]) -> dict[str, Diagnosed]:
        """What can be said of the exercises that failed, in order: a later one may build on an earlier."""
        found: dict[str, Diagnosed] = {}
        for name, one in done.items():
            if one.right or name not in self.run.exercises:
                continue
            declared = self.assessor.follow_throughs.declared.get(name)
            before = None if declared is None or declared.cache_of is None else found.get(declared.cache_of)
            patient = self._patient(one, None if before is None else before.mistake)
            found[name] = self.assessor.diagnoser.diagnose(patient)
        return found

    def result(self, one: Examined, diagnosed: Diagnosed | None) -> ExerciseResult:
        """The exercise's points, with what was found of it."""
        name = one.exercise.name
        said = {} if diagnosed is None else diagnosed.said
        outcomes = [(check, replace(end, diagnosis=said.get(check.name))) for check, end in one.counting]
        result = score_exercise(name, outcomes, one.exercise.max_points)
        declared = self.assessor.follow_throughs.declared.get(name)
        if declared is None or name not in self.run.exercises or one.unwritten:
            return result
        return replace(result, checks=(*result.checks, end_to_end(one, declared.builds_on)))

    def _patient(self, one: Examined, standing: Mistake | None) -> Patient:
        exam = self._exam(one.exercise.name)
        budget = Budget(exam.limits)

        def again(checks: Sequence[Check], number: int) -> Outcomes:
            attempt = self._number(AGAIN + 2 * number)
            return exam.outcomes(checks, prepare=one.help.prepare, attempt=attempt, budget=budget)

        return Patient(
            exercise=exam.exercise,
            variant=self.variant,
            draw=exam.draw,
            outcomes=one.counting,
            own=one.own,
            again=again,
            fork=lambda: exam.fork(budget, one.help.prepare),
            looks=self._number(LOOKS),
            standing=standing,
            fits=one.fits,
            mixed=one.mixed,
        )

    def _exam(self, name: str) -> Exam:
        assignment = self.assessor.assignment

        replay = self.assessor.replay

        def draw(check: str, attempt: int) -> np.random.Generator:
            if replay is not None:
                attempt = replay.number(name, check, attempt)
            return rng(self.assessor.secret, assignment.name, name, check, self.variant, attempt)

        return Exam(name, assignment.reference, self.run, assignment.limits, draw)

    def _number(self, attempt: int) -> int:
        return self.life * ATTEMPTS + attempt
