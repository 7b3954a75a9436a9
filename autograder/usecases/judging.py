"""Judges one notebook: runs it in a worker and examines its exercises there.

The trusted half of grading. Checks, reference and random inputs live in this process; the student's code
lives behind ``sandbox``, and only arrays and small JSON come from there. Nothing here knows how that code
is kept away, nor what becomes of the result.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from autograder.assignments.catalog import Assignment
from autograder.checking.student import BUILTIN_EXCEPTIONS
from autograder.errors import JudgeError
from autograder.model import ExerciseResult
from autograder.notebooks.executed import ExecutedNotebook
from autograder.notebooks.reading import Notebook
from autograder.notebooks.salvage import GIVEN, Examine, plan
from autograder.notebooks.source import SourceNotebook
from autograder.sandbox.folder import stage, unstage
from autograder.sandbox.given import given_files
from autograder.sandbox.launcher import Launch, Launcher
from autograder.sandbox.notebook_run import Stopped, run_notebook
from autograder.sandbox.session import CellStep, ExamineStep, Run, Step, Worker, WorkerLost
from autograder.usecases.assessing import Assessor, Replay

WORKER_LIVES = 2
NO_DIAGNOSIS = "No diagnosis could be made, by a fault of the grading program: points are not affected by it."


@dataclass(frozen=True)
class Judged:
    """What judging one notebook brought: a result for each of its exercises, and what its cells showed.

    ``fault`` is where a fault of ours came from that cost a diagnosis, and no points.
    """

    exercises: tuple[ExerciseResult, ...]
    executed: ExecutedNotebook
    notes: tuple[str, ...]
    fault: str | None = None


class Judge:
    """Judges notebooks of one assignment, one after another, with one warm worker.

    ``secret`` gives the seeds of the hidden inputs. Use it as a context manager: leaving it ends the worker.
    With a ``replay`` it judges as it did before, and shows what happens. ``sandboxed`` says whether students'
    code is kept from the rest of the machine.
    """

    def __init__(
        self,
        assignment: Assignment,
        secret: bytes,
        launch: Launch,
        replay: Replay | None = None,
    ):
        self._assignment = assignment
        self.sandboxed = launch.sandboxed
        self._assessor = Assessor(assignment, secret, replay)
        self._given = given_files(assignment.source_dir, assignment.given_files)
        self._warm = _WarmWorker(assignment, launch)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.dismiss()

    def dismiss(self) -> None:
        """End the worker, if there is one."""
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
        files = _Files(self._given, folder)
        worker = self._warm.get()
        result = run_notebook(worker, partial(files.lay, worker.folder), steps, lines)
        try:
            assessed = self._assessor.assess(student, source.exercises, result.run, life)
        finally:
            self._end(result.run)
            files.remove()
        notes = [*planned.notes, *files.notes, *map(_note, result.stopped)]
        if assessed.fault is not None:
            notes.append(NO_DIAGNOSIS)
        executed = ExecutedNotebook(submission, result.outputs, planned.fit)
        errors = _errors(executed, source, result.stopped)
        exercises = tuple(replace(one, error=errors.get(one.name)) for one in assessed.exercises)
        return Judged(exercises, executed, tuple(notes), assessed.fault)

    def _end(self, run: Run) -> None:
        """Kill what a run has left.

        If the worker is lost over that, its next notebook gets another one. This one is not judged again: its
        verdicts are there, and right answers may have entered its forks since.
        """
        try:
            run.close()
        except WorkerLost:
            self._warm.dismiss()


class _WarmWorker:
    """The worker, started when it is first needed."""

    def __init__(self, assignment: Assignment, launch: Launch):
        self._limits = assignment.limits
        self._environment = assignment.environment
        self._launch = launch
        self._running: tuple[Launcher, Worker] | None = None

    def get(self) -> Worker:
        if self._running is None:
            launcher = self._launch()
            try:
                self._running = launcher, Worker(launcher, self._limits, self._environment)
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

    def __init__(self, given: Mapping[str, bytes], submission: Path | None):
        self._given = given
        self._submission = submission
        self._laid: list[Path] = []
        self.notes: tuple[str, ...] = ()

    def lay(self, parent: Path) -> Path:
        folder, self.notes = stage(parent, self._submission, self._given)
        self._laid.append(folder)
        return folder

    def remove(self) -> None:
        for folder in self._laid:
            unstage(folder)


def _errors(executed: ExecutedNotebook, source: SourceNotebook, stopped: Sequence[Stopped]) -> dict[str, str]:
    """With which error the solution cells ended, by exercise; a name of the student's own is not repeated."""
    left_out = {one.cell for one in stopped}
    errors = {}
    for name, cell in executed.fit(source).places.items():
        for output in () if cell in left_out else executed.outputs.get(cell, ()):
            if output["output_type"] == "error":
                errors[name] = output["ename"] if output["ename"] in BUILTIN_EXCEPTIONS else "an error"
    return errors


def _note(stopped: Stopped) -> str:
    what = stopped.what
    if stopped.cell == GIVEN:
        return f"The lesson's first imports were left out when the notebook was run: {what}."
    return f"Cell {stopped.cell + 1} was left out when the notebook was run: {what}."
