"""Attacks of student code on what lies outside of it. Each test runs with and without the sandbox.

Without it, marked ``unsafe``, the test is the positive control: the attack succeeds. What would harm the
machine then is only tried inside.
"""

import contextlib
import os
import subprocess
import textwrap
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.checking.student import StudentCrashed, StudentMemoryExceeded
from autograder.model import Environment, Limits
from autograder.sandbox.bubblewrap import BubblewrapLauncher
from autograder.sandbox.choice import Way
from autograder.sandbox.interpreter import this_interpreter
from autograder.sandbox.session import Ending, ExamineStep

pytestmark = pytest.mark.adversarial

Bench = Any  # tests/conftest.py
MIB = 1 << 20
#: So that a bomb is over soon.
BOMB_LIMITS = Limits(total_memory_bytes=300 * MIB, processes=40, notebook_seconds=20.0)

BEGIN = """
import ctypes, errno, os, signal, socket, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def tried(attempt):
    try:
        attempt()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
"""


def said(bench: Bench, source: str, **given: object) -> str:
    """What a cell prints; names in ``given`` stand for their values in it."""
    values = "".join(f"{name} = {value!r}\n" for name, value in given.items())
    outputs = bench.outputs(BEGIN + values + textwrap.dedent(source))
    assert [] == [one for one in outputs if one["output_type"] == "error"], outputs
    return "".join(one["text"] for one in outputs).strip()


def expected(bench: Bench, inside: str, outside: str) -> str:
    return inside if bench.launcher.sandboxed else outside


@pytest.fixture(scope="module")
def _kept(sandbox: Way, make_bench: Any) -> Bench:
    return make_bench(sandbox, Limits())


@pytest.fixture
def kept(_kept: Bench) -> Iterator[Bench]:
    """A worker in the sandbox, with the usual limits."""
    yield _kept
    _kept.tidy()


@pytest.fixture(scope="module")
def _bombed(way: Way, make_bench: Any) -> Bench:
    return make_bench(way, BOMB_LIMITS)


@pytest.fixture
def bombed(_bombed: Bench) -> Iterator[Bench]:
    """A worker with low limits, with and without the sandbox."""
    yield _bombed
    _bombed.tidy()


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    """A process outside, with something in its environment and in its memory."""
    with subprocess.Popen(["sleep", "60"], env={"SECRET": "do not tell", "PATH": os.defpath}) as process:
        yield process
        process.kill()


def test_signals_reach_no_process_outside(bench: Bench, victim: subprocess.Popen[bytes]) -> None:
    attempt = "print(tried(lambda: os.kill(victim, signal.SIGTERM)))"
    assert expected(bench, "ESRCH", "done") == said(bench, attempt, victim=victim.pid)
    if bench.launcher.sandboxed:
        assert victim.poll() is None
    else:
        assert -15 == victim.wait(10)


def test_signals_do_not_reach_the_judge(bench: Bench) -> None:
    attempt = "print(tried(lambda: os.kill(judge, 0)))"
    assert expected(bench, "ESRCH", "done") == said(bench, attempt, judge=os.getpid())


def test_a_process_outside_cannot_be_traced(bench: Bench, victim: subprocess.Popen[bytes]) -> None:
    attempt = """
        attach, detach = 16, 17
        failed = libc.ptrace(attach, victim, 0, 0)
        print(errno.errorcode[ctypes.get_errno()] if failed else "done")
        if not failed:
            os.waitpid(victim, 0)
            libc.ptrace(detach, victim, 0, 0)
    """
    assert expected(bench, "EPERM", "done") == said(bench, attempt, victim=victim.pid)


@pytest.mark.parametrize("file", ["environ", "mem", "maps", "cwd", "root", "fd"])
def test_a_process_outside_cannot_be_looked_into(
    bench: Bench, victim: subprocess.Popen[bytes], file: str
) -> None:
    attempt = "print(tried(lambda: os.stat(f'/proc/{victim}/{file}')))"
    assert expected(bench, "ENOENT", "done") == said(bench, attempt, victim=victim.pid, file=file)


def test_the_environment_of_the_judge_cannot_be_read(bench: Bench, victim: subprocess.Popen[bytes]) -> None:
    attempt = "print(tried(lambda: print(open(f'/proc/{victim}/environ').read())))"
    told = said(bench, attempt, victim=victim.pid)
    assert expected(bench, "", "SECRET=do not tell") == told.split("\0")[0].replace("ENOENT", "")


def test_every_signal_to_the_first_process_is_lost(kept: Bench) -> None:
    attempt = """
        for number in range(1, 65):
            tried(lambda: os.kill(1, number))
        tried(lambda: open("/proc/1/mem", "r+b").write(b"x"))
        time.sleep(0.2)
        print("still here")
    """
    run = kept.run(BEGIN + textwrap.dedent(attempt), "def f(): return 1", ExamineStep("it"))
    assert "still here\n" == run.outputs[0][0]["text"]
    assert 1 == run.examine("it", kept.budget()).call("f").value


def test_a_notebook_that_kills_all_it_can_reach_kills_itself_alone(kept: Bench) -> None:
    # No control: without the sandbox this would end the machine.
    run = kept.run("x = 1", ExamineStep("it"), "import os\nos.kill(-1, 9)\nos.kill(os.getpid(), 9)")
    assert (Ending.CRASHED, 2) == (run.ending, run.stopped_at)
    assert "2" == kept.outputs("1 + 1")[0]["data"]["text/plain"]


def test_nested_namespaces_cannot_be_made(bench: Bench) -> None:
    attempt = """
        new_user, clone = 0x10000000, {"x86_64": 56, "aarch64": 220}[os.uname().machine]
        ends = []
        for call in (lambda: libc.unshare(new_user), lambda: libc.syscall(clone, new_user | 17, 0, 0, 0, 0)):
            child = os.fork()
            if child == 0:
                os._exit(ctypes.get_errno() if call() < 0 else 0)
            ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        print(*(errno.errorcode.get(end, "done") for end in ends))
    """
    assert expected(bench, "EPERM EPERM", "done done") == said(bench, attempt)


def test_programs_of_other_users_give_no_rights(kept: Bench) -> None:
    attempt = """
        mounts = open("/proc/self/mountinfo").readlines()
        print(all("nosuid" in mount for mount in mounts), len(mounts) > 5)
    """
    assert "True True" == said(kept, attempt)


@pytest.mark.parametrize("kind", ["processes", "threads"])
def test_a_bomb_of_processes_or_threads_is_bounded(bombed: Bench, kind: str) -> None:
    attempt = {
        "processes": """
            made = []
            try:
                while len(made) < 100:
                    made.append(os.fork())
                    if made[-1] == 0:
                        signal.pause()
            except OSError:
                pass
            for child in made:
                os.kill(child, signal.SIGKILL)
            print(len(made) < 100)
        """,
        "threads": """
            import threading
            made = []
            try:
                while len(made) < 100:
                    made.append(threading.Thread(target=time.sleep, args=(0.5,)))
                    made[-1].start()
                print(False)
            except RuntimeError:
                print(True)
        """,
    }[kind]
    assert expected(bombed, "True", "False") == said(bombed, attempt)


def test_processes_that_compute_without_end_share_the_time_of_the_cells(way: Way, make_bench: Any) -> None:
    attempt = """
        import os, time
        for _ in range(4):
            if os.fork() == 0:
                while True:
                    pass
        time.sleep(60)
    """
    # By the clock alone they would have all processors for a long time.
    patience, ending = (100.0, Ending.TIMED_OUT) if way.sandboxed else (3.0, Ending.TIMED_OUT_BY_CLOCK)
    bench = make_bench(way, Limits(notebook_seconds=1.0, wall_factor=patience))
    run = bench.run("1", textwrap.dedent(attempt))
    assert (ending, 1) == (run.ending, run.stopped_at)


ALLOCATE = """
import os, signal, time
def allocate(megabytes, children):
    receive, send = os.pipe()
    made = []
    for _ in range(children):
        made.append(os.fork())
        if made[-1] == 0:
            own = bytearray(megabytes * 2**20)
            own[::4096] = b"1" * len(own[::4096])
            os.write(send, b"1")
            signal.pause()
    for _ in made:
        os.read(receive, 1)
    time.sleep(2)
    for child in made:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return "done"
def f():
    return 1
"""


def test_memory_of_all_processes_together_is_bounded_in_a_cell(bombed: Bench) -> None:
    run = bombed.run(ALLOCATE, ExamineStep("it"), "allocate(100, 4)", "2")
    ending, stopped = (Ending.EXCEEDED, 2) if bombed.launcher.sandboxed else (Ending.DONE, None)
    assert (ending, stopped) == (run.ending, run.stopped_at)


def test_memory_of_all_processes_together_is_bounded_in_a_call_and_costs_one_exercise(
    bombed: Bench,
) -> None:
    run = bombed.run(ALLOCATE, ExamineStep("one"), ExamineStep("other"))
    exam = run.examine("one", bombed.budget())
    if bombed.launcher.sandboxed:
        with pytest.raises(StudentMemoryExceeded):
            exam.call("allocate", 100, 4)
    else:
        assert "done" == exam.call("allocate", 100, 4).value
    for exercise in ("other", "one"):
        assert 1 == run.examine(exercise, bombed.budget()).call("f").value


def test_a_crash_after_too_much_memory_is_a_crash_again(bombed: Bench) -> None:
    run = bombed.run(ALLOCATE, "def g(): os._exit(1)", ExamineStep("it"))
    with pytest.raises(StudentMemoryExceeded) if bombed.launcher.sandboxed else contextlib.nullcontext():
        run.examine("it", bombed.budget()).call("allocate", 100, 4)
    with pytest.raises(StudentCrashed):
        run.examine("it", bombed.budget()).call("g")


def test_what_one_examination_leaves_behind_is_gone_before_long(bench: Bench) -> None:
    source = """
        import os, time
        def leave():
            receive, send = os.pipe()
            if os.fork() == 0:
                os.setsid()
                daemon = os.fork()
                if daemon == 0:
                    time.sleep(60)
                os.write(send, str(daemon).encode())
                os._exit(0)
            return int(os.read(receive, 100))
    """
    run = bench.run(textwrap.dedent(source), ExamineStep("it"))
    exam = run.examine("it", bench.budget())
    daemon = exam.call("leave").value
    exam.close()
    give_up = time.monotonic() + (10 if bench.launcher.sandboxed else 0.3)
    while bench.process(daemon) is not None and time.monotonic() < give_up:
        time.sleep(0.01)
    assert bench.launcher.sandboxed == (bench.process(daemon) is None)


def test_the_files_of_other_runs_are_not_in_view(bench: Bench) -> None:
    other = bench.worker.folder / "another"
    other.mkdir()
    (other / "answers.txt").write_text("42")
    attempt = "print(tried(lambda: os.listdir(folder)), os.path.exists(inside))"
    told = said(bench, attempt, folder=str(other), inside=bench.launcher.inside(other))
    assert expected(bench, "ENOENT False", "done True") == told


def test_a_kit_that_is_installed_among_the_packages_cannot_be_imported(
    sandbox: Way, make_bench: Any, tmp_path: Path
) -> None:
    packages = tmp_path / "site-packages"
    (packages / "autograder" / "assignments").mkdir(parents=True)
    for folder in (packages / "autograder", packages / "autograder" / "assignments"):
        (folder / "__init__.py").write_text("hidden = 1")
    (packages / "autograder-0.1.0.dist-info").mkdir()
    (packages / "autograder-0.1.0.dist-info" / "direct_url.json").write_text("the course")
    (packages / "plain.py").write_text("open = 1")
    (packages / "plain-1.dist-info").mkdir()
    (packages / "plain-1.dist-info" / "METADATA").write_text("Name: plain\nRequires-Dist: autograder\n")
    (packages / "plain-1.dist-info" / "RECORD").write_text("plain.py,,\nplain-1.dist-info/RECORD,,\n")
    for path in (tmp_path, *tmp_path.parents):
        with contextlib.suppress(PermissionError):
            path.chmod(path.stat().st_mode | 0o055)
    own = this_interpreter()
    interpreter = replace(own, packages=(*own.packages, str(packages)))
    rooms = not sandbox().single_use
    way = Way(lambda: BubblewrapLauncher(rooms=rooms, interpreter=interpreter))
    bench = make_bench(way, Limits(), Environment(packages=("plain",)))
    run = bench.run(
        "import plain; plain.open",
        "import autograder",
        "import autograder.assignments",
        f"open({str(packages / 'autograder' / 'assignments' / '__init__.py')!r})",
        f"import os; sorted(os.listdir({str(packages)!r}))",
    )
    shown = [outputs[0].get("ename") or outputs[0]["data"]["text/plain"] for outputs in run.outputs.values()]
    alone = "['plain-1.dist-info', 'plain.py']"
    assert ["1", "ModuleNotFoundError", "ModuleNotFoundError", "FileNotFoundError", alone] == shown


def test_notebooks_see_the_packages_that_a_student_has_and_no_others(bench: Bench) -> None:
    source = """
        import importlib.util
        print(*(name for name in ("numpy", "IPython", "nbgrader") if importlib.util.find_spec(name)))
        print(subprocess.run([sys.executable, "-c", "import numpy; print(numpy.ones(3).sum())"],
                             capture_output=True, text=True).stdout)
    """
    assert "numpy IPython\n3.0" == said(bench, source)
