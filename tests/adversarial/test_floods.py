"""A worker that sends without end, or more than was asked for, does not fill the judge's memory.

Peaks are the kernel's own (VmHWM), set back before each attack. The control is a reader that believes what
it is sent.
"""

import contextlib
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.checking.student import StudentFailure
from autograder.sandbox.session import Ending, ExamineStep
from autograder.sandbox.worker import wire

pytestmark = pytest.mark.adversarial

Bench = Any  # tests/conftest.py
MIB = 1 << 20
#: What each attack sends, or says that it will send.
FLOOD = 256 * MIB
#: A few times the largest answer, or the largest outputs, that STRICT allows (tests/conftest.py).
ALLOWED = 24 * MIB


def status(name: str) -> int:
    """A line of /proc/self/status, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def rise(action: Callable[[], object]) -> int:
    """By how much this process's memory has risen, at its highest, during an action."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = status("VmRSS")
    action()
    return status("VmHWM") - before


def test_control_a_reader_that_takes_all_it_is_sent_grows_with_it() -> None:
    def believe() -> None:
        source = f"import sys; sys.stdout.buffer.write(bytes({FLOOD}))"
        subprocess.run([sys.executable, "-c", source], capture_output=True, check=True)

    assert rise(believe) > FLOOD // 2


ANSWERS = """
    import numpy as np, os, struct
    def sockets():
        for name in os.listdir("/proc/self/fd"):
            try:
                if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                    os.set_blocking(int(name), True)
                    yield int(name)
            except OSError:
                pass
    def flood(data):
        for link in sockets():
            try:
                for _ in range(flood_bytes // len(data)):
                    os.write(link, data)
            except OSError:
                pass
    def array(): return np.zeros(flood_bytes // 8)
    def text(): return "x" * flood_bytes
    def number(): return 10 ** (flood_bytes // 100)
    def many(): return [np.zeros(2**16)] * (flood_bytes // 2**19)
    def broadcast(): return np.broadcast_to(np.float64(1), (10**6, 10**6))
    def dictionary(): return {number: bytes(100) for number in range(10**6)}
    def bytes_of_nothing(): flood(bytes(2**20))
    def announced(): flood(begin)
    def frames(): flood(whole * 1000)
"""


@pytest.mark.parametrize(
    "attack",
    ["array", "text", "number", "many", "broadcast", "dictionary", "bytes_of_nothing", "announced", "frames"],
)
def test_answers_that_are_too_large_do_not_fill_the_judge(strict: Bench, attack: str) -> None:
    whole = wire.pack({"turn": 0, "ok": ["int", 1]})
    given = {"flood_bytes": FLOOD, "begin": wire.PREFIX.pack(wire.MAGIC, 30, MIB), "whole": whole}
    values = "".join(f"{name} = {value!r}\n" for name, value in given.items())
    exam = strict.examine(values + textwrap.dedent(ANSWERS))

    def ask() -> None:
        with contextlib.suppress(StudentFailure):
            exam.call(attack)

    assert rise(ask) < ALLOWED


CELLS = {
    "prints": "for _ in range(256): print('x' * 2**20)",
    "displays": "for _ in range(256): display('x' * 2**20)",
    "descriptors": "import os\nfor _ in range(256): os.write(1, b'x' * 2**20)",
    "no limit": "get_ipython().outputs._left = 10**12\nfor _ in range(256): print('x' * 2**20)",
}


@pytest.mark.parametrize("attack", CELLS)
def test_outputs_without_end_do_not_fill_the_judge(strict: Bench, attack: str) -> None:
    endings = []
    assert rise(lambda: endings.append(strict.run(CELLS[attack], ExamineStep("it")).ending)) < ALLOWED
    assert endings[0] in Ending
