"""A warm worker, and one run of a notebook in it.

``Worker`` holds the zygote. ``Worker.run`` runs the cells of one notebook once and hands back a ``Run``: the
outputs, how far it came, and the forks that wait at the places of test cells, from which examinations are
forked. By then nothing else of the notebook is alive. ``close`` of the run kills all that it left. A worker
that no longer answers raises ``WorkerLost``; close it and make a new one. Where the launcher's boxes serve
for a single run, each run gets a zygote of its own, as warm but not as quick.
"""

import contextlib
import json
import math
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from autograder.checking.student import BUILTIN_EXCEPTIONS
from autograder.errors import JudgeError, SandboxError
from autograder.model import Environment, Limits
from autograder.sandbox.channel import Channel, ChannelClosed, OutOfTime, TimeLimit, pair
from autograder.sandbox.examination import Box, Budget, Examination
from autograder.sandbox.folder import remove
from autograder.sandbox.held import HeldForks
from autograder.sandbox.launcher import Launcher
from autograder.sandbox.machine_paths import MachinePaths
from autograder.sandbox.outputs import Output, clean_outputs
from autograder.sandbox.worker import room, wire
from autograder.sandbox.worker.processes import Process, kill_below, memory_bytes, number_inside

START_SECONDS = 60.0
#: The part of its CPU time that a notebook has surely used when the kernel ends it for that.
NEARLY_ALL = 0.9
#: The longest order is a run's that needs matplotlib for the first time.
ORDER_SECONDS = 60.0
CLOSE_SECONDS = 10.0
#: JSON needs at most six bytes for one of the student's, and a little for each output.
JSON_FACTOR = 6


class WorkerLost(Exception):
    """The zygote no longer answers: killed from outside, or a fault of ours."""


class Ending(StrEnum):
    """How the cells of one run ended; ``EXCEEDED`` means too much memory, or too many processes."""

    DONE = "done"
    CRASHED = "crashed"
    EXCEEDED = "exceeded"
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
    """What one pass over the cells has brought.

    ``outputs`` are by cell index; ``stopped_at`` is the number of the step that did not come to its end,
    ``signal`` what killed the interpreter in a crash, where a signal did.
    """

    worker: "Worker"
    home: Path
    forks: HeldForks
    ending: Ending = Ending.DONE
    stopped_at: int | None = None
    signal: int | None = None
    outputs: dict[int, tuple[Output, ...]] = field(default_factory=dict)

    @property
    def exercises(self) -> frozenset[str]:
        """The exercises whose place in the notebook was reached."""
        return self.forks.exercises

    def expect_worker(self) -> None:
        """Raise ``WorkerLost`` where it was lost meanwhile: then crashes were no fault of the student's."""
        if self.worker.is_lost:
            raise WorkerLost("it ended while functions were examined")

    def examine(self, exercise: str, budget: Budget) -> Examination:
        """A fork of the state at an exercise's place; raises a ``StudentFailure`` where there can be none."""
        return self.forks.examine(exercise, budget)

    def close(self) -> None:
        """Kill all that the run has left, and remove its home; raises ``WorkerLost`` where that fails."""
        self.forks.close()
        self.worker.end(self)
        remove(self.home)


class Worker:
    """One zygote, warm; runs notebooks one after another, all of one environment.

    Raises SandboxError where it does not start.
    """

    def __init__(self, launcher: Launcher, limits: Limits, environment: Environment | None = None):
        self._limits = limits
        self._environment = environment or Environment()
        self._launcher = launcher
        self._lost = False
        self._running: Run | None = None
        self._start()

    def _start(self) -> None:
        self._control, far = pair(body_limit=0)
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(self._control.close)
            with far:
                self._process = self._launcher.start(far, self._limits, self._environment)
            on_failure.callback(self._kill)
            self._zygote = self._greet()
            on_failure.pop_all()
        self._used = False

    @property
    def is_lost(self) -> bool:
        """Whether it is known not to answer any more: it is asked when an examination breaks off."""
        return self._lost

    @property
    def folder(self) -> Path:
        """Where the files of runs are laid."""
        return self._launcher.folder

    @property
    def memory_bytes(self) -> int | None:
        """What the zygote takes, before any run; None where the kernel does not say."""
        return memory_bytes(self._zygote.pid)

    def run(self, folder: Path, steps: Sequence[Step], lines: Mapping[int, int]) -> Run:
        """Run the steps in ``folder``; ``lines`` gives the number of lines of each cell, to validate reports.

        The run before must have been closed. Raises ``WorkerLost``.
        """
        if self._lost:
            raise WorkerLost("it was lost before")
        if self._running is not None:
            raise JudgeError("A worker runs one notebook at a time: close the last run first.")
        if self._used and self._launcher.single_use:
            self._start_again()
        self._used = True
        exercises = [step.exercise for step in steps if isinstance(step, ExamineStep)]
        forks = HeldForks(exercises, Box(self._zygote, self._limits, lines, self._has_exceeded))
        home = folder.with_name(f"{folder.name}-home")
        home.mkdir()
        run = self._running = Run(self, home, forks)
        main, far = pair(self._outputs_limit)
        try:
            with contextlib.ExitStack() as ends:
                sockets = [ends.enter_context(end) for end in (far, *run.forks.hand_over())]
                self._order(self._run_order(folder, home, steps), sockets)
            run.forks.greet(self._follow(main, steps, run, self._paths(folder, home)))
            self._stop(run)
        except BaseException:
            self._lost = True
            main.kill()
            run.forks.close()
            raise
        finally:
            main.close()
        return run

    def end(self, run: Run) -> None:
        """Kill all processes that a run has left; once more does nothing. Raises ``WorkerLost``."""
        if self._running is run:
            self._running = None
            if self._lost:
                raise WorkerLost("it was lost before")
            if self._order({"do": "end"}).get("ended") is not True:
                self._lost = True
                raise WorkerLost("processes of a notebook could not be killed")

    def close(self) -> None:
        """End the zygote and all below it."""
        if self._running is not None:
            self._running.forks.close()
        self._control.hang_up()
        if not self._lost:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(CLOSE_SECONDS)
        self._kill()
        self._control.close()

    def _start_again(self) -> None:
        self.close()
        try:
            self._start()
        except SandboxError as error:  # it did start before
            self._lost = True
            raise WorkerLost(str(error)) from error

    @property
    def _outputs_limit(self) -> int:
        return self._limits.output_bytes * JSON_FACTOR + (1 << 16)

    def _greet(self) -> Process:
        try:
            return self._control.greet(TimeLimit(START_SECONDS), self._process.pid)
        except (ChannelClosed, OutOfTime, wire.WireError) as error:
            words = self._launcher.log().strip() or "none"
            raise SandboxError(
                f"The process that runs student code did not start ({error}). Its last words: {words}"
            ) from error

    def _kill(self) -> None:
        if self._process.poll() is None:
            kill_below(self._process.pid)
            self._process.kill()
            self._process.wait()

    def _run_order(self, folder: Path, home: Path, steps: Sequence[Step]) -> dict[str, Any]:
        limits = {
            name: getattr(self._limits, name)
            for name in (
                "memory_bytes",
                "total_memory_bytes",
                "processes",
                "open_files",
                "file_bytes",
                "tmp_bytes",
                "tmp_files",
                "output_bytes",
            )
        }
        # The judge's own clock strikes first; the kernel's is for a judge that is held up.
        limits["notebook_seconds"] = math.ceil(self._limits.notebook_seconds) + 1
        return {
            "do": "run",
            "folder": self._launcher.inside(folder),
            "home": self._launcher.inside(home),
            "limits": limits,
            "exceptions": sorted(BUILTIN_EXCEPTIONS),
            "uid": self._launcher.uid,
            "counted": self._launcher.counts_processes,
            "pictures": any("matplotlib" in step.source for step in steps if isinstance(step, CellStep)),
        }

    def _has_exceeded(self) -> bool:
        """Whether processes have been killed, since this was last asked, for using too much."""
        with contextlib.suppress(WorkerLost):  # which ending the run will find, too
            return self._order({"do": "state"}).get("exceeded") is True
        return False

    def _order(self, header: dict[str, Any], sockets: Sequence[socket.socket] = ()) -> dict[str, Any]:
        limit = TimeLimit(ORDER_SECONDS)
        try:
            self._control.send(header, limit=limit, sockets=sockets)
            return self._control.receive(limit).header
        except (ChannelClosed, OutOfTime, wire.WireError) as error:
            self._lost = True
            raise WorkerLost(f"no answer to the order {header['do']}: {error}") from error

    def _paths(self, folder: Path, home: Path) -> MachinePaths:
        """What takes the places of this run's folders in its outputs."""
        names = {self._launcher.folder: "..", folder: ".", home: "~"}
        outside = {str(path): name for one, name in names.items() for path in (one, one.resolve())}
        inside = {self._launcher.inside(folder): ".", self._launcher.inside(home): "~"}
        if self._launcher.sandboxed:
            # IPython writes the home as ``~`` in tracebacks.
            inside |= {room.NOTEBOOK: ".", room.NOTEBOOK.replace(room.HOME, "~"): ".", room.HOME: "~"}
        return MachinePaths(outside | inside)

    def _follow(self, main: Channel, steps: Sequence[Step], run: Run, paths: MachinePaths) -> dict[str, bool]:
        """Read the reports of the steps until the notebook is done or stops.

        Returns, for each exercise whose place was reached, whether a fork waits there.
        """
        process = self._begin(main, steps)
        seconds = self._limits.notebook_seconds
        limit = TimeLimit(seconds * self._limits.wall_factor, seconds, process)
        left = self._outputs_limit
        made: dict[str, bool] = {}
        number = 0
        try:
            for number, step in enumerate(steps):
                frame = main.receive(limit)
                left -= len(frame.body)
                _check_report(frame, number, left)
                if isinstance(step, CellStep):
                    run.outputs[step.index] = clean_outputs(frame.body, paths.shown)
                else:
                    made[step.exercise] = frame.header.get("held") is True
        except (ChannelClosed, wire.WireError):
            run.ending = Ending.CRASHED
            run.stopped_at = number
        except OutOfTime as error:
            run.ending = Ending.TIMED_OUT_BY_CLOCK if error.by_clock else Ending.TIMED_OUT
            run.stopped_at = number
        return made

    def _begin(self, main: Channel, steps: Sequence[Step]) -> Process:
        """Before it is told to go, the main process runs none of the student's code: all faults are ours."""
        limit = TimeLimit(ORDER_SECONDS)
        try:
            main.send({}, _script(steps), limit=limit)
            process = main.greet(limit, self._zygote.pid)
            main.send({"go": True}, limit=limit)
        except (ChannelClosed, OutOfTime, wire.WireError) as error:
            raise WorkerLost(f"a run did not start ({error}): {self._launcher.log().strip()}") from error
        return process

    def _stop(self, run: Run) -> None:
        """Kill the main process and whatever else the cells have started; only the held forks stay."""
        keep = [number for pid in run.forks.pids if (number := number_inside(pid)) is not None]
        answer = self._order({"do": "stop", "keep": keep})
        status = answer.get("stopped")
        if run.ending is Ending.CRASHED and answer.get("exceeded") is True:
            run.ending = Ending.EXCEEDED
        elif run.ending is Ending.CRASHED and answer.get("spent") is True:
            run.ending = Ending.TIMED_OUT
        elif run.ending is Ending.CRASHED and isinstance(status, int) and status < 0:
            run.signal = -status
            if out_of_cpu_time(run.signal, answer.get("cpu_seconds", 0.0), self._limits):
                run.ending = Ending.TIMED_OUT


def out_of_cpu_time(killed_by: int, cpu_seconds: float, limits: Limits) -> bool:
    """Whether the kernel ended a notebook for its CPU time, before anybody of ours had looked.

    The kernel counts whole ticks for its limit, and reports afterwards what was really used: somewhat less.
    """
    return killed_by == signal.SIGKILL and cpu_seconds > NEARLY_ALL * limits.notebook_seconds


def _check_report(frame: wire.Frame, number: int, left: int) -> None:
    if frame.header.get("step") != number:
        raise wire.WireError("a report out of turn")
    if left < 0:
        raise wire.WireError("more output than was allowed")


def _script(steps: Sequence[Step]) -> bytes:
    """The steps as JSON; what no text file could hold becomes a question mark."""
    plain = [
        ["cell", step.index, step.source] if isinstance(step, CellStep) else ["examine"] for step in steps
    ]
    return json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")
