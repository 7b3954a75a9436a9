"""Runs a command and measures it: seconds by the clock, and the peak of the memory of all its processes.

Memory is the sum of PSS (every page shared by n processes counts 1/n for each), sampled from /proc; of a
process that this user may not look into, its resident memory counts.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SAMPLE_SECONDS = 0.1


class CommandFailed(Exception):
    """The command that was to be measured did not do its work."""


@dataclass(frozen=True)
class Measured:
    """What a run took: ``seconds`` by the clock, ``peak_mib`` of memory."""

    seconds: float
    peak_mib: float

    def per(self, submissions: int) -> dict[str, Any]:
        """As plain data, with the seconds for each submission."""
        return asdict(self) | {"submissions": submissions, "per_submission": self.seconds / submissions}


def run(command: Sequence[str], folder: Path) -> Measured:
    """Run a command of this environment in a folder; raises CommandFailed where that fails."""
    program = Path(sys.executable).with_name(command[0])
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    start = time.perf_counter()
    with subprocess.Popen(
        [str(program), *command[1:]],
        cwd=folder,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        sampler = _Sampler(process.pid)
        output, _ = process.communicate()
        seconds = time.perf_counter() - start
        peak = sampler.end()
    if process.returncode != 0:
        raise CommandFailed(f"{' '.join(command)} ended with {process.returncode}:\n{output[-4000:]}")
    return Measured(seconds, peak / 2**20)


class _Sampler(threading.Thread):
    """Looks at the memory of a process and all below it, again and again."""

    def __init__(self, root: int):
        super().__init__(daemon=True)
        self._root = root
        self._peak = 0
        self._over = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._over.wait(SAMPLE_SECONDS):
            self._peak = max(self._peak, sum(map(_memory, tree(self._root))))

    def end(self) -> int:
        """Stop, and say the peak in bytes."""
        self._over.set()
        self.join()
        return self._peak


def tree(root: int) -> list[int]:
    """A process and all below it, the nearest first."""
    parents = {int(path.name): _parent(path) for path in Path("/proc").glob("[0-9]*")}
    tree = [root]
    for pid in tree:
        tree += [child for child, parent in parents.items() if parent == pid]
    return tree


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def _memory(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except PermissionError:
        return _resident(pid)
    except OSError:
        return 0
    return 0


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
