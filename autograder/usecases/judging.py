"""Judges one notebook: runs it in a worker and examines its exercises there.

The trusted half of grading. Checks, reference and random inputs live in this process; the student's code
lives behind ``sandbox``, and only arrays and small JSON come from there. Nothing here knows how that code
is kept away, nor what becomes of the result.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from autograder.assignments.catalog import Assignment
from autograder.checking.scoring import score_exercise
from autograder.checking.seeds import rng, variant_of
from autograder.checking.visible import with_visible_checks
from autograder.errors import JudgeError
from autograder.model import ExerciseResult
from autograder.notebooks.executed import ExecutedNotebook
from autograder.notebooks.reading import Notebook
from autograder.notebooks.salvage import Examine, plan
from autograder.notebooks.source import Exercise, SourceNotebook
from autograder.sandbox.folder import stage, unstage
from autograder.sandbox.launcher import Launcher
from autograder.sandbox.notebook_run import Stopped, run_notebook
from autograder.sandbox.session import CellStep, ExamineStep, Run, Step, Worker, WorkerLost
from autograder.usecases.examining import examine

WORKER_LIVES = 2


@dataclass(frozen=True)
class Judged:
    """What judging one notebook brought: a result for each of its exercises, and what its cells showed."""

    exercises: tuple[ExerciseResult, ...]
    executed: ExecutedNotebook
    notes: tuple[str, ...]


class Judge:
    """Judges notebooks of one assignment, one after another, with one warm worker.

    ``secret`` gives the seeds of the hidden inputs. Use it as a context manager: leaving it ends the worker.
    """

    def __init__(self, assignment: Assignment, secret: bytes, launch: Callable[[], Launcher]):
        self._assignment = assignment
        self._secret = secret
        self._warm = _WarmWorker(assignment, launch)
        self._checks = assignment.checks
        if assignment.visible is not None:
            self._checks = with_visible_checks(assignment.checks, assignment.visible)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._warm.dismiss()

    def judge(
        self, student: str, submission: Notebook, source: SourceNotebook, folder: Path | None = None
    ) -> Judged:
        """Run and examine a notebook; ``folder`` holds the files that were handed in with it.

        Raises:
            SandboxError: student code cannot be run on this machine.
            JudgeError: the worker was lost, again and again.
        """
        for life in range(WORKER_LIVES):
            try:
                return self._judge(student, submission, source, folder, life)
            except WorkerLost as error:
                self._warm.dismiss()
                lost = error
        raise JudgeError(
            f"The process that runs student code was lost {WORKER_LIVES} times: {lost}."
        ) from lost

    def _judge(
        self, student: str, submission: Notebook, source: SourceNotebook, folder: Path | None, life: int
    ) -> Judged:
        planned = plan(submission, source)
        steps: list[Step] = [
            ExamineStep(one.exercise) if isinstance(one, Examine) else CellStep(one.cell_index, one.source)
            for one in planned.steps
        ]
        lines = {step.index: step.source.count("\n") + 1 for step in steps if isinstance(step, CellStep)}
        files = _Files(self._assignment, folder)
        worker = self._warm.get()
        result = run_notebook(worker, partial(files.lay, worker.folder), steps, lines)
        try:
            exercises = tuple(self._examine(one, student, result.run, life) for one in source.exercises)
        finally:
            result.run.close()
            files.remove()
        notes = (*planned.notes, *files.notes, *map(_note, result.stopped))
        return Judged(exercises, ExecutedNotebook(submission, result.outputs), notes)

    def _examine(self, exercise: Exercise, student: str, run: Run, life: int) -> ExerciseResult:
        variant = variant_of(self._secret, student)

        def draw(check: str, attempt: int) -> np.random.Generator:
            number = life * 2 + attempt  # a lost worker's forks have seen inputs, too
            return rng(self._secret, self._assignment.name, exercise.name, check, variant, number)

        outcomes = examine(
            exercise.name,
            self._checks.of(exercise.name),
            self._assignment.reference,
            run,
            self._assignment.limits,
            draw,
        )
        return score_exercise(exercise.name, outcomes, exercise.max_points)


class _WarmWorker:
    """The worker, started when it is first needed."""

    def __init__(self, assignment: Assignment, launch: Callable[[], Launcher]):
        self._limits = assignment.limits
        self._launch = launch
        self._running: tuple[Launcher, Worker] | None = None

    def get(self) -> Worker:
        if self._running is None:
            launcher = self._launch()
            try:
                self._running = launcher, Worker(launcher, self._limits)
            except BaseException:
                launcher.close()
                raise
        return self._running[1]

    def dismiss(self) -> None:
        if self._running is not None:
            launcher, worker = self._running
            self._running = None
            worker.close()
            launcher.close()


class _Files:
    """The files of a run, laid anew for each run and removed at the end."""

    def __init__(self, assignment: Assignment, submission: Path | None):
        self._submission = submission
        self._given: Mapping[str, Path] = {
            str(path): assignment.source_dir / path for path in assignment.given_files
        }
        self._laid: list[Path] = []
        self.notes: tuple[str, ...] = ()

    def lay(self, parent: Path) -> Path:
        folder, self.notes = stage(parent, self._submission, self._given)
        self._laid.append(folder)
        return folder

    def remove(self) -> None:
        for folder in self._laid:
            unstage(folder)


def _note(stopped: Stopped) -> str:
    what = "it did not come to an end" if stopped.timed_out else "it ended the Python process"
    return f"Cell {stopped.cell + 1} was left out when the notebook was run: {what}."
