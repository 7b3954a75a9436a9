"""A warm worker, and one run of a notebook in it.

``Worker`` holds the zygote. ``Worker.run`` runs the cells of one notebook once and hands back a ``Run``: the outputs,
how far it came, and the forks that wait at the places of test cells, from which examinations are forked. ``close`` of
the run kills all that it left. A worker that no longer answers raises ``WorkerLost``; make a new one.
"""

import json
import math
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from autograder.checking.student import BUILTIN_EXCEPTIONS
from autograder.errors import JudgeError, SandboxError
from autograder.model import Limits
from autograder.sandbox.channel import Channel, ChannelClosed, OutOfTime, TimeLimit, pair
from autograder.sandbox.examination import Budget, Examination
from autograder.sandbox.launcher import Launcher
from autograder.sandbox.outputs import Output, clean_outputs
from autograder.sandbox.processes import Process
from autograder.sandbox.worker import wire

START_SECONDS = 60.0
ORDER_SECONDS = 20.0


class WorkerLost(Exception):
    """The zygote no longer answers: killed from outside, or a fault of ours."""


class Ending(StrEnum):
    """How the cells of one run ended."""

    DONE = "done"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    TIMED_OUT_BY_CLOCK = "timed_out_by_clock"


@dataclass(frozen=True)
class CellStep:
    """Run this code; ``index`` is the cell's place in the notebook."""

    index: int
    source: str


@dataclass(frozen=True)
class ExamineStep:
    """Fork here, to be examined in this exercise."""

    exercise: str


Step = CellStep | ExamineStep


@dataclass
class Run:
    """What one pass over the cells has brought: ``outputs`` by cell index; ``stopped_at`` is the step that did not end."""

    ending: Ending = Ending.DONE
    stopped_at: int | None = None
    signal: int | None = None
    outputs: dict[int, tuple[Output, ...]] = field(default_factory=dict)
    _held: dict[str, Channel] = field(default_factory=dict)
    _examine: Callable[[Channel, Budget], Examination] | None = None
    _close: Callable[[], None] | None = None

    @property
    def exercises(self) -> frozenset[str]:
        """The exercises whose place in the notebook was reached."""
        return frozenset(self._held)

    def examine(self, exercise: str, budget: Budget) -> Examination:
        """A fresh fork of the state at that exercise's place; raises a ``StudentFailure`` where it cannot be had."""
        if self._examine is None:
            raise JudgeError("this run is over")
        return self._examine(self._held[exercise], budget)

    def close(self) -> None:
        """Kill all processes of the run."""
        for channel in self._held.values():
            channel.close()
        self._examine = None
        if self._close is not None:
            self._close()


class Worker:
    """One zygote, warm; runs notebooks one after another."""

    def __init__(self, launcher: Launcher, limits: Limits):
        self._limits = limits
        self._launcher = launcher
        self._control, far = pair(body_limit=1 << 16)
        try:
            self._process = launcher.start(far)
        finally:
            far.close()
        try:
            self._control.greet(TimeLimit(START_SECONDS), self._process.pid).close()
        except (ChannelClosed, OutOfTime, wire.WireError) as error:
            self.close()
            raise SandboxError(
                f"The process that runs student code did not start. Its last words: {launcher.log().strip() or 'none'}"
            ) from error

    @property
    def folder(self) -> Path:
        """Where the files of runs are laid."""
        return self._launcher.folder

    def run(self, folder: Path, steps: Sequence[Step], lines: Mapping[int, int]) -> Run:
        """Run the steps in ``folder``; ``lines`` gives the number of lines of each cell, to validate what is reported."""
        main, far_main = pair(self._limits.output_bytes * 2 + (1 << 16))
        channels: dict[str, Channel] = {}
        far = [far_main]
        for step in steps:
            if isinstance(step, ExamineStep):
                channels[step.exercise], end = pair(body_limit=1 << 16)
                far.append(end)
        try:
            self._order(self._run_order(folder), json.dumps([_plain(step) for step in steps]).encode(), far)
        finally:
            for one in far:
                one.close()
        run = Run()
        try:
            self._follow(main, steps, run)
        finally:
            main.close()
            status = self._order({"do": "stop"}).get("stopped")
        run.signal = -status if isinstance(status, int) and status < 0 else None
        reached = [s.exercise for s in steps[: run.stopped_at] if isinstance(s, ExamineStep)]
        for exercise, channel in channels.items():
            if exercise in reached:
                run._held[exercise] = channel
            else:
                channel.close()
        run._examine = lambda held, budget: self._fork(held, budget, lines)
        run._close = lambda: self._end()
        return run

    def close(self) -> None:
        """End the zygote and all below it."""
        self._control.close()
        try:
            self._process.wait(ORDER_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _run_order(self, folder: Path) -> dict[str, Any]:
        limits = {
            "memory_bytes": self._limits.memory_bytes,
            "file_bytes": self._limits.file_bytes,
            "output_bytes": self._limits.output_bytes,
            # The judge's own clock strikes first; the kernel's is for a judge that is held up.
            "notebook_seconds": math.ceil(self._limits.notebook_seconds) + 1,
        }
        if self._launcher.counts_processes:
            limits["processes"] = self._limits.processes
        names = sorted(BUILTIN_EXCEPTIONS)
        return {"do": "run", "folder": self._launcher.inside(folder), "limits": limits, "exceptions": names}

    def _order(
        self, header: dict[str, Any], body: bytes = b"", sockets: Sequence[socket.socket] = ()
    ) -> dict[str, Any]:
        limit = TimeLimit(ORDER_SECONDS)
        try:
            self._control.send(header, body, limit=limit, sockets=sockets)
            return self._control.receive(limit).header
        except (ChannelClosed, OutOfTime, wire.WireError) as error:
            raise WorkerLost(f"no answer to the order {header['do']}: {error}") from error

    def _follow(self, main: Channel, steps: Sequence[Step], run: Run) -> None:
        """Read the reports of the steps, in their order, until the notebook is done or stops."""
        seconds = self._limits.notebook_seconds
        number = 0
        process: Process | None = None
        try:
            process = main.greet(TimeLimit(ORDER_SECONDS), self._process.pid)
            limit = TimeLimit(seconds * self._limits.wall_factor, seconds, process)
            for number, step in enumerate(steps):
                frame = main.receive(limit)
                if frame.header.get("step") != number:
                    raise wire.WireError("a report out of turn")
                if isinstance(step, CellStep):
                    run.outputs[step.index] = clean_outputs(frame.body)
        except (ChannelClosed, wire.WireError):
            run.ending, run.stopped_at = Ending.CRASHED, number
        except OutOfTime as error:
            run.ending = Ending.TIMED_OUT_BY_CLOCK if error.by_clock else Ending.TIMED_OUT
            run.stopped_at = number
        finally:
            if process is not None:
                process.close()

    def _fork(self, held: Channel, budget: Budget, lines: Mapping[int, int]) -> Examination:
        return Examination.start(held, self._process.pid, self._limits, budget, lines)

    def _end(self) -> None:
        self._order({"do": "end"})


def _plain(step: Step) -> list[Any]:
    return ["cell", step.index, step.source] if isinstance(step, CellStep) else ["examine"]
