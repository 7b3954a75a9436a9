"""Runs a notebook to its end, whatever its cells do.

If a cell kills or hangs the interpreter, the notebook is run again from the start without it, in fresh
files. A cell that ran out of wall time, but not of CPU time, gets a second chance first: the machine may
have been busy. After ``RUNS_LIMIT`` runs, what has been reached counts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox.outputs import Output
from autograder.sandbox.session import CellStep, Ending, ExamineStep, Run, Step, Worker

RUNS_LIMIT = 6


@dataclass(frozen=True)
class Stopped:
    """A cell that was left out in the end, and how it has ended the run before."""

    cell: int
    ending: Ending

    @property
    def what(self) -> str:
        """What it did, to be told: "it ..."."""
        match self.ending:
            case Ending.CRASHED:
                return "it ended the Python process"
            case Ending.EXCEEDED:
                return "it needed too much memory, or too many processes"
        return "it did not come to an end"


@dataclass(frozen=True)
class NotebookRun:
    """The last run, with all cells' outputs, and the cells that had to be left out."""

    run: Run
    outputs: Mapping[int, tuple[Output, ...]]
    stopped: tuple[Stopped, ...]


def run_notebook(
    worker: Worker, prepare: Callable[[], Path], steps: Sequence[Step], lines: Mapping[int, int]
) -> NotebookRun:
    """Run the steps in a folder made by ``prepare``, again and again without the cells that break it.

    Raises ``WorkerLost`` where the worker itself is gone.
    """
    left = list(steps)
    stopped: list[Stopped] = []
    second_chance = True
    for runs_left in reversed(range(RUNS_LIMIT)):
        run = worker.run(prepare(), left, lines)
        if run.stopped_at is None or run.stopped_at >= len(left):
            break
        culprit = left[run.stopped_at]
        if run.ending is Ending.TIMED_OUT_BY_CLOCK and second_chance:
            second_chance = False
        elif isinstance(culprit, CellStep):
            stopped.append(Stopped(culprit.index, run.ending))
            left.remove(culprit)
        elif not (left := _without_cell_before(left, culprit, stopped, run.ending)):
            break
        if runs_left:
            run.close()
    outputs = dict(run.outputs)
    for one in stopped:
        outputs[one.cell] = (_notice(one),)
    return NotebookRun(run, outputs, tuple(stopped))


def _without_cell_before(
    steps: list[Step], culprit: ExamineStep, stopped: list[Stopped], ending: Ending
) -> list[Step]:
    """The run ended at the place of a test cell: the cell before must have brought it about."""
    before = [step for step in steps[: steps.index(culprit)] if isinstance(step, CellStep)]
    if not before:
        return []
    stopped.append(Stopped(before[-1].index, ending))
    return [step for step in steps if step is not before[-1]]


def _notice(stopped: Stopped) -> Output:
    """What stands in the graded notebook in place of the cell's outputs."""
    text = f"This cell was left out when the notebook was graded: {stopped.what}."
    return {"output_type": "error", "ename": "CellStopped", "evalue": text, "traceback": [text]}
