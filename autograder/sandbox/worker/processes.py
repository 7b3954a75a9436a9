"""Processes below another: who they are, how much CPU time they have used, how to kill them.

Both sides use this module: the judge to watch and to kill, the zygote to kill and to bury. A process is held
by a descriptor of the kernel's (pidfd), so that a number that is used twice never hits the wrong one.
"""

import contextlib
import os
import signal
import time
from collections.abc import Collection

TICKS = os.sysconf("SC_CLK_TCK")
#: How long to chase processes that fork faster than they can be killed.
CHASE_SECONDS = 0.5
#: How many descriptors to hold while doing so.
AT_ONCE = 100


class Process:
    """A process, held by a descriptor; raises ProcessLookupError where there is none of that number."""

    def __init__(self, pid: int):
        self.pid = pid
        self._descriptor = os.pidfd_open(pid)
        #: What ``cpu_seconds`` said last.
        self.seen_cpu_seconds = 0.0

    def fileno(self) -> int:
        """The descriptor; it becomes readable when the process ends."""
        return self._descriptor

    def exists(self) -> bool:
        """Whether the number still stands for this process: it lives, or nobody has buried it yet."""
        if self._descriptor < 0:
            return False
        try:
            signal.pidfd_send_signal(self._descriptor, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # another user's, but there
            return True
        return True

    def cpu_seconds(self) -> float:
        """CPU seconds that all its threads have used, as last seen."""
        seconds = _cpu_seconds(self.pid)
        if seconds > self.seen_cpu_seconds and self.exists():
            self.seen_cpu_seconds = seconds
        return self.seen_cpu_seconds

    def signal(self, number: int) -> None:
        """Send it a signal, if it is still there and held."""
        if self._descriptor >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._descriptor, number)

    def kill(self) -> None:
        """Kill it, if it is still there."""
        self.signal(signal.SIGKILL)

    def close(self) -> None:
        """Let go of the descriptor; the process lives on."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def find(pid: int, root: int) -> Process | None:
    """The process of that number, if there is one and it descends from ``root`` (or is it)."""
    try:
        process = Process(pid)
    except (OSError, ValueError):
        return None
    if _is_below(pid, root) and process.exists():
        return process
    process.close()
    return None


def descendants(root: int) -> list[int]:
    """The numbers of all processes below ``root``, from /proc."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 (a name is all that is needed, and Path is slow)
        if entry.isdigit() and (fields := stat_fields(int(entry))) is not None:
            children.setdefault(int(fields[1]), []).append(int(entry))
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def number_inside(pid: int) -> int | None:
    """The number by which a process knows itself, in its own namespace; None once it is gone."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123 (pathlib is slower)
            for line in file:
                if line.startswith(b"NSpid:"):
                    return int(line.split()[-1])
    except (FileNotFoundError, ProcessLookupError):
        return None
    return pid


def memory_bytes(pid: int) -> int | None:
    """The memory of a process, shared pages divided among those that share them (PSS).

    0 once it is gone, None where the kernel does not say.
    """
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:  # noqa: PTH123 (pathlib is slower)
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except PermissionError:
        return None
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return None


def kill_below(root: int, keep: Collection[int] = (), *, chase_seconds: float = CHASE_SECONDS) -> None:
    """Kill all processes below ``root`` except ``keep``; those that fork meanwhile are chased for a while."""
    give_up = time.monotonic() + chase_seconds
    met: set[int] = set()
    while True:
        new = [pid for pid in descendants(root) if pid not in met and pid not in keep]
        if not new or (met and time.monotonic() > give_up):
            return
        met.update(new)
        for start in range(0, len(new), AT_ONCE):
            _kill([process for pid in new[start : start + AT_ONCE] if (process := find(pid, root))])


def _kill(processes: list[Process]) -> None:
    for process in processes:  # stop all first, so that none can fork while the others die
        process.signal(signal.SIGSTOP)
    for process in processes:
        process.kill()
        process.close()


def _is_below(pid: int, root: int) -> bool:
    while pid > 1 and pid != root:
        fields = stat_fields(pid)
        if fields is None:
            return False
        pid = int(fields[1])
    return pid == root


def _cpu_seconds(pid: int) -> float:
    fields = stat_fields(pid)
    return (int(fields[11]) + int(fields[12])) / TICKS if fields else 0.0


def stat_fields(pid: int) -> list[bytes] | None:
    """The fields of /proc/PID/stat behind the command's name, or None once it is gone."""
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        stat = os.read(descriptor, 4096)
    except ProcessLookupError:
        return None
    finally:
        os.close(descriptor)
    return stat[stat.rindex(b")") + 2 :].split()
