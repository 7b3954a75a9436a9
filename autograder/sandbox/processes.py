"""What the judge knows of a process on the other side: its CPU time, and a way to kill it."""

import os
import signal
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """CPU seconds that all threads of a process have used; 0 once it is gone."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / TICKS if fields else 0.0


def is_below(pid: int, root: int) -> bool:
    """Whether ``pid`` descends from ``root`` (or is it)."""
    while pid > 1 and pid != root:
        fields = _stat(pid)
        if fields is None:
            return False
        pid = int(fields[1])
    return pid == root


def _stat(pid: int) -> list[bytes] | None:
    """The fields of /proc/PID/stat behind the command's name, or None once it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    return stat[stat.rindex(b")") + 2 :].split()


class Process:
    """A process of the box, held by a descriptor, so that a number used twice can never mislead us."""

    def __init__(self, pid: int):
        self.pid = pid
        self._descriptor = os.pidfd_open(pid)

    def cpu_seconds(self) -> float:
        """CPU seconds used so far."""
        return cpu_seconds(self.pid)

    def kill(self) -> None:
        """Kill it, if it is still there."""
        try:
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def close(self) -> None:
        """Let go of the descriptor; the process lives on."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def find(pid: int, root: int) -> Process | None:
    """The process of that number, if it exists and descends from ``root``."""
    try:
        process = Process(pid)
    except (ProcessLookupError, OSError, ValueError):
        return None
    if is_below(pid, root):
        return process
    process.close()
    return None
