"""What student code might get hold of without looking for it: what its process was born with, and was given.

Each test has its control: the same attempt in a process that is started, or on files that are copied, as
programs usually do it.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.model import Limits
from autograder.sandbox.choice import Way
from autograder.sandbox.folder import stage, unstage
from autograder.sandbox.session import CellStep, Ending

pytestmark = pytest.mark.adversarial

Bench = Any  # tests/conftest.py
MIB = 1 << 20


def text(bench: Bench, source: str) -> str:
    """What the last expression of a cell is."""
    return str(bench.outputs(source)[-1]["data"]["text/plain"])


def plainly(expression: str) -> str:
    """The same in a process that inherits all that it can."""
    command = [sys.executable, "-c", f"import os; print({expression})"]
    return subprocess.run(command, capture_output=True, text=True, check=True, close_fds=False).stdout.strip()


OPEN_FILES = (
    "[os.readlink(path) for one in os.listdir('/proc/self/fd')"
    " if os.path.exists(path := '/proc/self/fd/' + one)]"
)


@pytest.fixture
def secret(tmp_path: Path) -> Iterator[Path]:
    """A file that is open in the judge, in such a way that whatever the judge starts has it open, too."""
    path = tmp_path / "hidden-checks"
    path.write_text("the answers")
    descriptor = os.open(path, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    yield path
    os.close(descriptor)


def test_no_open_file_of_the_judge_is_inherited(secret: Path, way: Way, make_bench: Any) -> None:
    assert str(secret) in plainly(OPEN_FILES)
    bench = make_bench(way, Limits())
    inherited = text(bench, f"import os; {OPEN_FILES}")
    # Nothing, where its outputs are collected, and the socket on which the run reports.
    assert {"/dev/null", "/memfd", "socket"} == set(re.findall(r"'([/\w]+)[:' ]", inherited))


def test_no_variable_of_the_judges_environment_is_inherited(
    way: Way, make_bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_TOKEN", "do not tell")
    assert "do not tell" == plainly("os.environ['COURSE_TOKEN']")
    assert "[]" == text(make_bench(way, Limits()), "import os; [one for one in os.environ if 'TOKEN' in one]")


def test_sockets_of_the_machine_that_have_no_file_cannot_be_reached(bench: Bench) -> None:
    name = f"\0autograder-test-{os.getpid()}"
    attempt = f"""
import socket
with socket.socket(socket.AF_UNIX) as link:
    found = link.connect_ex({name!r})
found
"""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(name)
        listening.listen()
        assert bench.launcher.sandboxed == (text(bench, attempt) != "0")


def test_a_local_port_of_the_machine_cannot_be_reached(bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        attempt = f"import socket\nsocket.create_connection(('127.0.0.1', {listening.getsockname()[1]}), 5)"
        (output,) = bench.outputs(attempt)
    assert ("PermissionError" if bench.launcher.sandboxed else None) == output.get("ename")


def test_links_and_devices_of_a_submission_lead_nowhere(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "gradebook.db").write_text("grades")
    submitted = tmp_path / "submitted"
    submitted.mkdir()
    (submitted / "data.txt").symlink_to(tmp_path / "gradebook.db")
    (submitted / "folder").symlink_to(tmp_path)
    os.mkfifo(submitted / "wait")
    if os.geteuid() == 0:
        os.mknod(submitted / "device", 0o020666, os.makedev(1, 5))
    (submitted / "own.txt").write_text("mine")
    naive = shutil.copytree(
        submitted, tmp_path / "naive", ignore=shutil.ignore_patterns("wait", "device", "folder")
    )
    assert "grades" == (naive / "data.txt").read_text()  # the control
    bench.tidy()
    folder, notes = stage(bench.worker.folder, submitted, {})
    run = bench.worker.run(folder, [CellStep(0, "import os; sorted(os.listdir())")], {0: 1})
    shown = run.outputs[0][0]["data"]["text/plain"]
    run.close()
    unstage(folder)
    assert "['own.txt']" == shown
    left_out = ["data.txt", "folder", "wait", *(["device"] if os.geteuid() == 0 else [])]
    assert sorted(left_out) == sorted(note.split(" was left out")[0] for note in notes)


def test_memory_that_processes_share_counts_once(sandbox: Way, make_bench: Any) -> None:
    # So that honest code may start processes of its own; each counted alone, this would be too much.
    bench = make_bench(sandbox, Limits(total_memory_bytes=400 * MIB))
    source = """
import os, time
shared = bytearray(200 * 2**20)
shared[::4096] = b"1" * len(shared[::4096])
def hold():
    receive, send = os.pipe()
    made = []
    for _ in range(12):
        made.append(os.fork())
        if made[-1] == 0:
            assert shared[4096] == 49
            os.close(send)
            os.read(receive, 1)
            os._exit(0)
    time.sleep(1)
    os.close(send)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in made]
"""
    run = bench.run(source, "set(hold())")
    assert (Ending.DONE, "{0}") == (run.ending, run.outputs[1][0]["data"]["text/plain"])
