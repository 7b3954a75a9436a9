"""The processes of one run, as seen by the process that has started the first of them.

That is the zygote, or, in a room of its own, the room's first process (``init.py``). It starts the main
process, kills and buries, and, where it sees no processes but theirs, watches over what they use together.
"""

import contextlib
import os
import resource
import signal
import time
import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from .processes import TICKS, kill_below, memory_bytes, stat_fields

BURIAL_SECONDS = 5.0
DYING_SECONDS = 0.01
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Bounds:
    """What all processes of a run may use together: memory (what they share counts once), tasks, CPU time.

    CPU time is that of the cells: examinations have limits of their own, which the judge watches.
    """

    memory_bytes: int
    processes: int
    cpu_seconds: float


class Family:
    """Starts a main process, and answers for it and its descendants.

    With ``bounds`` it watches, whenever ``look`` is called: then this process must see no others in /proc
    than its own descendants.
    """

    def __init__(self, main: Callable[[], None], bounds: Bounds | None = None):
        self._bounds = bounds
        self._status: int | None = None
        self._cpu_seconds = 0.0
        self._kept: frozenset[int] = frozenset()
        self._stopped = False
        self._exceeded = False
        self._spent = False
        self._spent_before = _cpu_seconds_of_the_dead()
        self._main = os.fork()
        if self._main == 0:
            try:
                main()
            except BaseException:  # noqa: BLE001 (it goes into the log, until the student's code has begun)
                traceback.print_exc()
            finally:
                os._exit(0)

    def answer(self, order: dict[str, Any]) -> dict[str, Any]:
        """Carry out ``stop`` or ``state`` (see ``zygote.py``)."""
        match order["do"]:
            case "stop":
                stopped = self.stop(order["keep"])
                why = {"spent": self._spent, "exceeded": self.exceeded()}
                return {"stopped": stopped, "cpu_seconds": self._cpu_seconds} | why
            case "state":
                return {"exceeded": self.exceeded()}
        raise ValueError(f"no such order: {order['do']}")

    def stop(self, keep: Collection[int]) -> int:
        """Kill the main process, and all others but those to be kept; returns how the main process ended."""
        self._kept = frozenset(keep)
        self._stopped = True
        if self._status is None:
            os.kill(self._main, signal.SIGKILL)
            self._note_end(*os.wait4(self._main, 0))
            assert self._status is not None
        kill_below(os.getpid(), self._kept)
        return self._status

    def end(self) -> bool:
        """Kill and bury everything below this process, orphans included; says whether nothing is left.

        The judge has killed what it knew of, so that all may be dead or dying already.
        """
        start = time.monotonic()
        while self._bury():
            if time.monotonic() > start + BURIAL_SECONDS:
                return False
            if time.monotonic() > start + DYING_SECONDS:
                kill_below(os.getpid(), chase_seconds=0)
            time.sleep(0.001)
        return True

    def exceeded(self) -> bool:
        """Whether processes have been killed, since this was last asked, for going beyond the bounds."""
        exceeded, self._exceeded = self._exceeded, False
        return exceeded

    def look(self) -> None:
        """Bury the dead; kill all but held forks where too much is used, and what an examination has left."""
        self._bury()
        if self._bounds is None:
            return
        own = os.getpid()
        members = {pid: fields for pid in _others(own) if (fields := stat_fields(pid)) is not None}
        if _exceeds(members, self._bounds):
            self._exceeded = True
            kill_below(own, self._kept)
        elif not self._stopped:
            used = _cpu_seconds_of_the_dead() - self._spent_before + sum(map(_cpu_seconds, members.values()))
            if used > self._bounds.cpu_seconds:
                self._spent = True
                kill_below(own)
        else:
            # An examination that is over has left its orphans to this process: they must not outlive it.
            for pid, fields in members.items():
                if int(fields[1]) == own and pid not in self._kept:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)

    def _bury(self) -> bool:
        """Bury the dead, and say whether any child is still alive."""
        try:
            while (found := os.wait4(-1, os.WNOHANG))[0]:
                self._note_end(*found)
        except ChildProcessError:
            return False
        return True

    def _note_end(self, pid: int, status: int, used: resource.struct_rusage) -> None:
        if pid == self._main:
            self._status = os.waitstatus_to_exitcode(status)
            self._cpu_seconds = used.ru_utime + used.ru_stime


def _exceeds(members: dict[int, list[bytes]], bounds: Bounds) -> bool:
    """Whether processes, each with its fields of /proc/PID/stat, use more than they may."""
    if sum(int(fields[17]) for fields in members.values()) > bounds.processes:
        return True
    resident = {pid: int(fields[21]) * PAGE_BYTES for pid, fields in members.items()}
    # What is shared counts many times in there: no less than what is asked for, and quickly read.
    if sum(resident.values()) <= bounds.memory_bytes:
        return False
    shared_out = (memory_bytes(pid) for pid in members)
    # A process can hide from us, in a box without rooms, how much of its memory it shares.
    known = [most if own is None else own for own, most in zip(shared_out, resident.values(), strict=True)]
    return sum(known) > bounds.memory_bytes


def _cpu_seconds(fields: list[bytes]) -> float:
    """CPU seconds of a process, and of those that it has buried, from its fields of /proc/PID/stat."""
    return sum(map(int, fields[11:15])) / TICKS


def _cpu_seconds_of_the_dead() -> float:
    """CPU seconds of all whom this process has buried, and of all whom those had."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _others(own: int) -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != own]  # noqa: PTH208
