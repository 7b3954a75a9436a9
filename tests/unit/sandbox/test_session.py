"""One run of a notebook in a real worker: how it ends, and what is left of it."""

import os
import signal
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.checking.student import StudentCrashed
from autograder.errors import JudgeError, SandboxError
from autograder.model import Limits
from autograder.sandbox.launcher import PlainLauncher
from autograder.sandbox.session import Ending, ExamineStep, Worker, WorkerLost, out_of_cpu_time
from autograder.sandbox.worker.processes import Process, descendants, find

Bench = Any  # tests/conftest.py
HERE = ExamineStep("here")

SWALLOW = """
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
"""
OVERFLOW = """
    import resource
    resource.setrlimit(resource.RLIMIT_STACK, (2**16, 2**16))
    nested = []
    for _ in range(900):
        nested = [nested]
    repr(nested)
"""


def test_a_run_that_comes_to_its_end_is_done(bench: Bench) -> None:
    run = bench.run("1", HERE, "2")
    assert (Ending.DONE, None, None) == (run.ending, run.stopped_at, run.signal)
    assert {"here"} == run.exercises


@pytest.mark.parametrize(
    ("source", "killed_by"),
    [
        ("import os; os._exit(0)", None),
        ("import os; os._exit(3)", None),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", signal.SIGKILL),
        ("import ctypes; ctypes.string_at(0)", signal.SIGSEGV),
        (textwrap.dedent(OVERFLOW), signal.SIGSEGV),
        ("import os; os.abort()", signal.SIGABRT),
        ("import os; os.closerange(3, 256)", None),
    ],
)
def test_a_cell_that_ends_the_interpreter_is_where_the_run_stopped(
    bench: Bench, source: str, killed_by: int | None
) -> None:
    run = bench.run("1", HERE, source, ExamineStep("later"), "3")
    assert (Ending.CRASHED, 2) == (run.ending, run.stopped_at)
    assert killed_by in (None, run.signal)
    assert {"here"} == run.exercises
    assert {0} == set(run.outputs)


@pytest.mark.parametrize("source", ["while True: pass", textwrap.dedent(SWALLOW)])
def test_a_cell_that_computes_without_end_is_where_the_run_stopped(strict: Bench, source: str) -> None:
    run = strict.run("1", HERE, source, "3")
    assert (Ending.TIMED_OUT, 2, {0}) == (run.ending, run.stopped_at, set(run.outputs))
    assert {"here"} == run.exercises


@pytest.mark.parametrize(
    "source",
    [
        "import time; time.sleep(60)",
        "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
        "!sleep 60",
    ],
)
def test_a_cell_that_waits_without_end_is_where_the_run_stopped(hasty: Bench, source: str) -> None:
    start = time.monotonic()
    run = hasty.run("1", HERE, source)
    assert Ending.TIMED_OUT_BY_CLOCK == run.ending
    assert time.monotonic() - start < hasty.limits.notebook_seconds * hasty.limits.wall_factor + 2


def test_a_judge_that_is_held_up_still_sees_that_the_cpu_time_ran_out(
    strict: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.sandbox.channel.TimeLimit.check", lambda limit: None)
    assert Ending.TIMED_OUT == strict.run("while True: pass").ending


@pytest.mark.parametrize(
    ("source", "ending"), [("1", Ending.DONE), ("import os; os._exit(1)", Ending.CRASHED)]
)
def test_a_notebook_may_be_over_before_a_busy_judge_has_looked_at_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, source: str, ending: Ending
) -> None:
    def look_late(pid: int, root: int) -> Process | None:
        time.sleep(0.3)
        return find(pid, root)

    monkeypatch.setattr("autograder.sandbox.channel.find", look_late)
    assert ending == bench.run(source).ending


def test_memory_beyond_the_limit_is_an_error_of_the_cell(bench: Bench) -> None:
    run = bench.run("x = bytearray(8 * 2**30)", "import numpy as np\nnp.ones(2**30)", "1")
    errors = [output["ename"] for cell in (0, 1) for output in run.outputs[cell]]
    assert "MemoryError" == errors[0]
    assert "MemoryError" in errors[1]
    assert Ending.DONE == run.ending


def test_a_file_beyond_the_limit_cannot_be_written(strict: Bench) -> None:
    (error,) = strict.outputs("with open('large', 'wb') as file:\n    file.write(bytes(2**21))")
    assert "OSError" == error["ename"]


def test_notebooks_of_thousands_of_cells_run(bench: Bench) -> None:
    run = bench.run(*["x = 1"] * 2000)
    assert (Ending.DONE, 2000) == (run.ending, len(run.outputs))


def test_a_cell_of_many_megabytes_runs(bench: Bench) -> None:
    run = bench.run(f"x = '{'a' * 20_000_000}'", "len(x)")
    assert "20000000" == run.outputs[1][0]["data"]["text/plain"]


def test_a_fork_that_cannot_be_made_is_told_at_once_and_the_notebook_goes_on(bench: Bench) -> None:
    start = time.monotonic()
    no_forks = "import os\ndef fork():\n    raise BlockingIOError\nfork, os.fork = os.fork, fork"
    run = bench.run(no_forks, HERE, "os.fork = fork", ExamineStep("later"), "3")
    assert (Ending.DONE, 4) == (run.ending, max(run.outputs))
    assert {"here", "later"} == run.exercises
    with pytest.raises(StudentCrashed, match="no process waits"):
        run.examine("here", bench.budget())
    run.examine("later", bench.budget())
    assert time.monotonic() - start < 5


def test_when_the_cells_have_run_only_the_held_forks_are_alive(bench: Bench) -> None:
    source = """
        import os, subprocess, time
        left = subprocess.Popen(["sleep", "100"])
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(100)
            os._exit(0)
    """
    run = bench.run(textwrap.dedent(source), HERE, ExamineStep("there"))
    assert eventually(lambda: run.forks.pids == {pid for pid in bench.processes() if "Z" != state_of(pid)})
    assert 2 == len(run.forks.pids)


def test_nothing_is_alive_after_close(bench: Bench) -> None:
    source = """
        import os, signal, time
        def breed():
            for _ in range(20):
                if os.fork() == 0:
                    os.setsid()
                    signal.signal(signal.SIGTERM, signal.SIG_IGN)
                    while True:
                        time.sleep(1)
    """
    run = bench.run(textwrap.dedent(source), "breed()", HERE)
    run.examine("here", bench.budget()).call("breed")
    run.close()
    assert [] == descendants(bench.worker._zygote.pid)


def test_closing_twice_does_not_touch_the_next_run(bench: Bench) -> None:
    first = bench.run("1", HERE)
    first.close()
    second = bench.run("x = 5", HERE)
    first.close()
    assert {"here"} == second.exercises
    assert second.examine("here", bench.budget()).alive


def test_a_run_that_is_over_cannot_be_examined(bench: Bench) -> None:
    run = bench.run("1", HERE)
    run.close()
    with pytest.raises(StudentCrashed):
        run.examine("here", bench.budget())


def test_a_worker_refuses_a_second_run_before_the_first_is_closed(bench: Bench) -> None:
    bench.run("1")
    with pytest.raises(JudgeError, match="close the last run first"):
        bench.worker.run(bench.folder({}), [], {})


def test_exercises_of_the_same_name_are_refused(bench: Bench) -> None:
    with pytest.raises(JudgeError, match="names of their own"):
        bench.run(HERE, HERE)


def test_two_hundred_runs_leave_no_descriptor_and_no_process_in_the_judge(
    bench: Bench, open_descriptors: Callable[[], int]
) -> None:
    bench.run("1", HERE)
    bench.tidy()
    before = open_descriptors(), descendants(os.getpid())
    for number in range(200):
        run = bench.run("f = int" if number % 20 else "import os; os._exit(1)", HERE)
        if run.ending is Ending.DONE:
            run.examine("here", bench.budget()).call("f")
        bench.tidy()
    assert before == (open_descriptors(), descendants(os.getpid()))
    assert [] == [path.name for path in bench.worker.folder.iterdir() if path.name.endswith("-home")]


def test_a_killed_zygote_is_a_lost_worker(own_bench: Bench) -> None:
    own_bench.worker._zygote.kill()
    with pytest.raises(WorkerLost):
        own_bench.run("1")
    with pytest.raises(WorkerLost, match="before"):
        own_bench.run("1")


def lose_zygote(bench: Bench) -> list[int]:
    """Kill the zygote during a run; returns the processes that were there."""
    met: list[int] = []

    def strike() -> None:
        met.extend(descendants(bench.worker._process.pid))
        os.kill(bench.worker._zygote.pid, signal.SIGKILL)

    timer = threading.Timer(0.3, strike)
    timer.start()
    with pytest.raises(WorkerLost):
        bench.run("x = 1", HERE, "import time\ntime.sleep(30)")
    timer.join()
    assert len(met) >= 2
    return met


def test_a_zygote_that_is_killed_during_a_run_takes_all_with_it(own_bench: Bench) -> None:
    met = lose_zygote(own_bench)
    own_bench.worker.close()
    assert eventually(lambda: not any(map(is_alive, met)))


def test_a_run_dies_with_its_zygote_even_if_the_judge_cannot_kill_it(
    own_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.sandbox.worker.processes.Process.signal", lambda process, number: None)
    met = lose_zygote(own_bench)
    assert eventually(lambda: not any(map(is_alive, met)))


def test_a_zygote_that_does_not_answer_is_a_lost_worker(
    own_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.sandbox.session.ORDER_SECONDS", 0.2)
    zygote = own_bench.worker._zygote
    zygote.signal(signal.SIGSTOP)
    with pytest.raises(WorkerLost, match="by the clock"):
        own_bench.run("1")
    own_bench.worker.close()
    assert eventually(lambda: not is_alive(zygote.pid))


def test_a_folder_that_is_missing_is_no_fault_of_the_students(own_bench: Bench) -> None:
    with pytest.raises(WorkerLost, match="No such file"):
        own_bench.worker.run(own_bench.worker.folder / "nowhere", [], {})


def test_a_worker_that_does_not_start_says_why(
    monkeypatch: pytest.MonkeyPatch, open_descriptors: Callable[[], int]
) -> None:
    monkeypatch.setattr("autograder.sandbox.launcher.BOOT", "raise SystemExit('no Python today')")
    launcher = PlainLauncher()
    before = open_descriptors()
    with pytest.raises(SandboxError, match="no Python today"):
        Worker(launcher, Limits())
    assert before == open_descriptors()
    launcher.close()


def test_closing_a_worker_with_an_open_run_ends_everything(own_bench: Bench) -> None:
    run = own_bench.run("import subprocess\nleft = subprocess.Popen(['sleep', '100'])\nf = int", HERE)
    run.examine("here", own_bench.budget())
    process = own_bench.worker._process.pid
    met = [process, *descendants(process)]
    top = own_bench.worker.folder.parent
    own_bench.close()
    assert not any(map(is_alive, met))
    assert not top.exists()


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether it comes true within a while: who is killed takes a moment to die."""
    end = time.monotonic() + 10
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].strip()[:1]
    except (FileNotFoundError, ProcessLookupError):
        return "Z"


def is_alive(pid: int) -> bool:
    return "Z" != state_of(pid)


@pytest.mark.parametrize(
    ("killed_by", "seconds", "spent"),
    [
        (signal.SIGKILL, 29.67, True),  # as measured, of 30 seconds
        (signal.SIGKILL, 30.02, True),
        (signal.SIGKILL, 3.0, False),
        (signal.SIGSEGV, 29.67, False),
    ],
)
def test_who_is_killed_with_nearly_all_cpu_time_used_did_not_come_to_an_end(
    killed_by: int, seconds: float, spent: bool
) -> None:
    assert spent == out_of_cpu_time(killed_by, seconds, Limits(notebook_seconds=30))
