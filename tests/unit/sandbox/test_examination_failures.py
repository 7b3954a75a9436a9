"""How calls in a real worker fail, what time they have, and what examinations see of each other."""

import textwrap
import time
from typing import Any

import pytest

from autograder.checking.student import (
    StudentCrashed,
    StudentMalformed,
    StudentMemoryExceeded,
    StudentMissing,
    StudentTimedOut,
)
from autograder.model import Limits
from autograder.sandbox.examination import Budget
from autograder.sandbox.session import ExamineStep
from autograder.sandbox.worker.processes import descendants

Bench = Any  # tests/conftest.py

COUNT = """
shared = [0]
def count():
    shared[0] += 1
    return shared[0]
"""


def of(bench: Bench, source: str) -> Any:
    return bench.examine("import numpy as np\n" + textwrap.dedent(source))


def test_memory_beyond_the_limit_is_told(bench: Bench) -> None:
    exam = of(bench, "def f(): return np.ones(2**32)\ndef g(): return np.broadcast_to(0.0, 10**12)")
    for name in "fg":
        with pytest.raises(StudentMemoryExceeded):
            exam.call(name)


@pytest.mark.parametrize(
    "body",
    [
        "os._exit(0)",
        "os.kill(os.getpid(), 9)",
        "ctypes.string_at(0)",
        "os.closerange(3, 256)",
    ],
)
def test_an_interpreter_that_goes_away_is_a_crash_now_and_later(bench: Bench, body: str) -> None:
    exam = of(bench, f"import os, ctypes\ndef f(): {body}\ndef g(): return 1")
    for name in "fg":
        with pytest.raises(StudentCrashed):
            exam.call(name)
    assert not exam.alive


def test_a_call_beyond_its_cpu_time_is_timed_out_now_and_later(strict: Bench) -> None:
    exam = strict.examine("def f():\n  while True: pass\ndef g(): return 1")
    with pytest.raises(StudentTimedOut) as raised:
        exam.call("f")
    assert not raised.value.by_clock
    with pytest.raises(StudentTimedOut):
        exam.call("g")


def test_a_call_that_sleeps_is_timed_out_by_the_clock(hasty: Bench) -> None:
    with pytest.raises(StudentTimedOut) as raised:
        hasty.examine("import time\ndef f(): time.sleep(60)").call("f")
    assert raised.value.by_clock


def test_the_calls_of_an_exercise_share_its_time(strict: Bench) -> None:
    spend = (
        "import time\ndef f():\n  end = time.process_time() + 0.2\n  while time.process_time() < end: pass"
    )
    run = strict.run(spend, ExamineStep("it"))
    budget = Budget(Limits(call_seconds=0.4, exercise_seconds=0.3, wall_factor=20))
    run.examine("it", budget).call("f")
    with pytest.raises(StudentTimedOut):
        run.examine("it", budget).call("f")
    with pytest.raises(StudentTimedOut, match="used up"):
        run.examine("it", budget)


def test_the_sleeps_of_an_exercise_share_its_time_by_the_clock(hasty: Bench) -> None:
    run = hasty.run("import time\ndef f(): time.sleep(0.2)", ExamineStep("it"))
    budget = Budget(Limits(exercise_seconds=0.1, wall_factor=3))
    exam = run.examine("it", budget)
    exam.call("f")
    with pytest.raises(StudentTimedOut) as raised:
        exam.call("f")
    assert raised.value.by_clock


def test_an_answer_that_is_too_large_is_malformed(strict: Bench) -> None:
    exam = strict.examine("import numpy as np\ndef f(): return np.ones(2**18)")
    with pytest.raises(StudentMalformed, match="too large"):
        exam.call("f")


@pytest.mark.parametrize("expression", ["[(0,) * 100] * 100", "[['x' * 900] * 1000] * 2", "[0] * 20_000"])
def test_an_answer_of_too_many_parts_is_malformed(bench: Bench, expression: str) -> None:
    exam = of(bench, f"def f(): return {expression}")
    with pytest.raises(StudentMalformed):
        exam.call("same", exam.call("f").value.fetch())


def test_an_answer_nested_too_deeply_is_malformed(bench: Bench) -> None:
    exam = of(bench, "def f():\n  x = ()\n  for _ in range(20): x = (x,)\n  return x")
    with pytest.raises(StudentMalformed, match="deep"):
        exam.call("f")


def test_a_fork_sees_the_state_at_its_cell(bench: Bench) -> None:
    places = [ExamineStep(name) for name in "abc"]
    run = bench.run("x = 1\ndef f(): return x", places[0], "x = 2", places[1], "del f", places[2])
    assert [1, 2] == [run.examine(name, bench.budget()).call("f").value for name in "ab"]
    with pytest.raises(StudentMissing):
        run.examine("c", bench.budget()).call("f")


def test_two_examinations_of_one_place_do_not_see_each_other(bench: Bench) -> None:
    run = bench.run(COUNT, ExamineStep("it"))
    one, other = (run.examine("it", bench.budget()) for _ in range(2))
    assert [1, 2] == [one.call("count").value for _ in range(2)]
    assert 1 == other.call("count").value
    one.close()
    with pytest.raises(StudentCrashed):
        one.call("count")
    assert 2 == other.call("count").value


def test_what_a_call_prints_goes_nowhere(bench: Bench) -> None:
    source = "import os, sys\ndef f():\n  print('x' * 10**6)\n  os.system('echo y; echo z >&2')\n  return 1"
    run = bench.run(source, ExamineStep("it"))
    assert 1 == run.examine("it", bench.budget()).call("f").value
    assert () == run.outputs[0]


def test_a_call_that_forks_and_forgets_answers_once(bench: Bench) -> None:
    exam = bench.examine("import os\ndef f(): return os.fork() == 0\ndef g(): return 2")
    assert exam.call("f").value is False
    time.sleep(0.1)
    assert 2 == exam.call("g").value


def test_a_fork_that_cannot_be_made_costs_that_examination_only(bench: Bench) -> None:
    source = """
        import os
        fork, calls = os.fork, []
        def sometimes():
            calls.append(1)
            if len(calls) == 2:
                raise BlockingIOError
            return fork()
        os.fork = sometimes
    """
    run = bench.run(textwrap.dedent(source) + "\ndef f(): return 1", ExamineStep("it"))
    start = time.monotonic()
    with pytest.raises(StudentCrashed):
        run.examine("it", bench.budget())
    assert 1 == run.examine("it", bench.budget()).call("f").value
    assert time.monotonic() - start < 2


def test_functions_of_a_held_fork_can_start_subprocesses_and_threads(bench: Bench) -> None:
    source = """
        import subprocess, threading
        def f():
            done = []
            thread = threading.Thread(target=lambda: done.append(1))
            thread.start()
            thread.join()
            return subprocess.run(["echo", "hi"], capture_output=True).stdout == b"hi\\n" and bool(done)
    """
    assert of(bench, source).call("f").value is True


def test_a_handler_of_the_students_for_dead_children_does_not_disturb_a_held_fork(bench: Bench) -> None:
    source = """
        import os, signal
        signal.signal(signal.SIGCHLD, lambda *_: os._exit(1))
        def f():
            return 1
    """
    run = bench.run(textwrap.dedent(source), ExamineStep("it"))
    for _ in range(3):
        exam = run.examine("it", bench.budget())
        assert 1 == exam.call("f").value
        exam.close()


def test_a_held_fork_buries_its_dead(bench: Bench) -> None:
    run = bench.run("f = int", ExamineStep("it"))
    for _ in range(10):
        run.examine("it", bench.budget()).close()
    (held,) = run.forks.pids
    assert len(descendants(held)) <= 5  # the last ones may be dying still
