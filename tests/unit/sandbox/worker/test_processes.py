"""Watching and killing processes below another."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox.worker.processes import Process, descendants, find, kill_below

#: A parent of two children that ignore what can be ignored; prints their numbers.
FAMILY = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
children = []
for _ in range(2):
    child = os.fork()
    if child == 0:
        os.setsid()
        time.sleep(60)
        os._exit(0)
    children.append(child)
print(*children, flush=True)
time.sleep(60)
"""


@pytest.fixture
def family() -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    with subprocess.Popen([sys.executable, "-S", "-c", FAMILY], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        yield parent, [int(word) for word in parent.stdout.readline().split()]
        kill_below(parent.pid)
        parent.kill()


def ends(pid: int) -> bool:
    """Whether the process ends, buried or not, within a moment."""
    for _ in range(200):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.01)
    return False


def test_all_generations_are_descendants(family: tuple[subprocess.Popen[str], list[int]]) -> None:
    parent, children = family
    assert set(children) == set(descendants(parent.pid))
    assert {parent.pid, *children} <= set(descendants(os.getpid()))


def test_only_what_is_below_is_found(family: tuple[subprocess.Popen[str], list[int]]) -> None:
    parent, children = family
    for root in (children[0], parent.pid, os.getpid()):
        process = find(children[0], root)
        assert process is not None
        process.close()
    assert find(parent.pid, children[0]) is None
    assert find(children[1], children[0]) is None
    assert find(1, os.getpid()) is None


@pytest.mark.parametrize("pid", [0, -1, 2**31 - 1])
def test_a_number_that_is_no_process_finds_nothing(pid: int) -> None:
    assert find(pid, os.getpid()) is None


def test_all_below_are_killed_except_those_to_keep(family: tuple[subprocess.Popen[str], list[int]]) -> None:
    parent, (one, other) = family
    kill_below(parent.pid, keep=[one])
    assert ends(other)
    assert not ends_soon(one)
    assert parent.poll() is None


def ends_soon(pid: int) -> bool:
    process = find(pid, os.getpid())
    if process is None:
        return True
    process.close()
    return False


def test_cpu_time_is_counted_and_kept_when_the_process_is_gone() -> None:
    code = "import time\nwhile time.process_time() < 0.1: pass\nprint(flush=True)\ninput()"
    command = [sys.executable, "-S", "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as busy:
        process = Process(busy.pid)
        assert busy.stdout is not None
        busy.stdout.readline()
        used = process.cpu_seconds()
        busy.communicate("\n")
    assert 0.05 <= used <= process.cpu_seconds()
    assert not process.exists()
    process.kill()
    process.close()
    assert used <= process.cpu_seconds()
    process.kill()
    process.close()


def test_a_process_that_is_dead_but_not_buried_still_exists() -> None:
    with subprocess.Popen(["true"]) as child:
        process = Process(child.pid)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert process.exists()
    assert not process.exists()
    process.close()


def test_processes_that_multiply_are_caught() -> None:
    code = "import os, time\nfor _ in range(6): os.fork()\ntime.sleep(60)"
    with subprocess.Popen([sys.executable, "-S", "-c", code]) as parent:
        process = Process(parent.pid)
        for _ in range(500):
            if len(descendants(parent.pid)) > 20:
                break
            time.sleep(0.005)
        kill_below(parent.pid)
        process.signal(signal.SIGKILL)
        process.close()
        assert all(ends(pid) for pid in descendants(parent.pid))
