"""Student code that writes to the judge's sockets itself, or replaces the worker's code in its own process.

It may spoil its own answers in that way, and nothing else: whatever comes back is an answer or a failure of
the student's, never a verdict, never an exception of ours, never a hang.
"""

import contextlib
import textwrap
import time
from collections.abc import Callable
from typing import Any

import pytest

from autograder.checking.student import (
    Remote,
    StudentCrashed,
    StudentFailure,
    StudentMalformed,
    StudentRaised,
)
from autograder.sandbox.session import Ending, ExamineStep
from autograder.sandbox.worker import wire

pytestmark = pytest.mark.adversarial

Bench = Any  # tests/conftest.py

#: Finds every socket of the process and writes to it, past all code of the worker's.
WRITE = """
    import os
    def write(data):
        for name in os.listdir("/proc/self/fd"):
            try:
                if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                    os.set_blocking(int(name), True)
                    os.write(int(name), data)
            except OSError:
                pass
    def f():
        return 1
"""


def forging(body: str, **data: bytes) -> str:
    """Two cells' worth: ``write``, and an ``attack`` with these bytes at hand."""
    given = "".join(f"{name} = {value!r}\n" for name, value in data.items())
    return (
        f"{textwrap.dedent(WRITE)}\n{given}def attack():\n{textwrap.indent(textwrap.dedent(body), '    ')}\n"
    )


def answer(header: dict[str, Any], body: bytes = b"") -> bytes:
    """A forged answer to the first call of an examination."""
    return wire.pack({"turn": 1} | header, body)


def ok(spec: Any, body: bytes = b"") -> bytes:
    return answer({"ok": spec}, body)


def test_control_a_forged_answer_reaches_the_judge_and_is_an_answer_like_any_other(bench: Bench) -> None:
    exam = bench.examine(forging("write(forged)\nos._exit(0)", forged=ok(["int", 42])))
    assert 42 == exam.call("attack").value


@pytest.mark.parametrize(
    "forged",
    [
        b"garbage that is no frame at all",
        wire.MAGIC + b"\xff" * 12,
        wire.PREFIX.pack(wire.MAGIC, 10, 2**40),
        wire.PREFIX.pack(wire.MAGIC, wire.HEADER_LIMIT + 1, 0),
        wire.PREFIX.pack(wire.MAGIC, 5, 0) + b"not {",
        wire.pack({"turn": 2, "ok": ["int", 42]}),
        wire.pack({"ok": ["int", 42]}),
        answer({}),
        answer({"verdict": "passed", "points": 100}),
        answer({"missing": 3}),
        answer({"memory": "no"}),
        answer({"raised": 3, "cell": 0, "line": 1}),
        ok(["array", "<f8", [2**40], "C", 1], bytes(8)),
        ok(["array", "|O", [1], "C", 1], bytes(8)),
        ok(["remote", "verdict", 1]),
        ok(["list", [["int", 1]], 1]),
        ok(["tuple", [["dict", [], 1]], 1]),
        ok(["int", 1], b"more bytes"),
    ],
)
def test_a_forged_frame_that_is_no_answer_is_a_malformed_answer(hasty: Bench, forged: bytes) -> None:
    exam = hasty.examine(forging("write(forged)\nwhile True: pass", forged=forged))
    start = time.monotonic()
    with pytest.raises(StudentMalformed):
        exam.call("attack")
    with pytest.raises(StudentMalformed):
        exam.call("f")
    assert time.monotonic() - start < 2


def test_a_forged_exception_brings_no_text_and_no_place_of_its_own(bench: Bench) -> None:
    for place in ({"cell": 0, "line": 10**6}, {"cell": 7, "line": 1}, {"cell": True, "line": "1"}):
        forged = answer({"raised": "<b>You passed!</b>"} | place)
        with pytest.raises(StudentRaised) as raised:
            bench.examine(forging("write(forged)\nos._exit(0)", forged=forged)).call("attack")
        assert StudentRaised("Exception", None, None) == raised.value


def test_a_second_answer_to_one_question_ends_the_examination(bench: Bench) -> None:
    exam = bench.examine(forging("write(forged)\nreturn 1", forged=ok(["int", 42])))
    assert 42 == exam.call("attack").value
    with pytest.raises(StudentMalformed, match="out of turn"):
        exam.call("f")


def test_a_trickle_of_a_frame_ends_with_the_time_of_the_call(hasty: Bench) -> None:
    body = "import time\nwrite(begin)\nwhile True:\n    write(b' ')\n    time.sleep(0.01)"
    exam = hasty.examine(forging(body, begin=wire.PREFIX.pack(wire.MAGIC, 100_000, 0)))
    start = time.monotonic()
    with pytest.raises(StudentFailure):
        exam.call("attack")
    assert time.monotonic() - start < hasty.limits.call_seconds * hasty.limits.wall_factor + 1


def test_a_flood_without_end_is_refused_at_its_first_frame_that_is_none(hasty: Bench) -> None:
    exam = hasty.examine(forging("while True: write(b'x' * 10_000)"))
    with pytest.raises(StudentMalformed):
        exam.call("attack")


def test_a_forged_handle_leads_to_nothing(bench: Bench) -> None:
    forged = ok(["remote", "dict", 2**30])
    exam = bench.examine(forging("write(forged)\nos.read(0, 1)", forged=forged))
    remote = exam.call("attack").value
    assert isinstance(remote, Remote)
    with pytest.raises((KeyError, StudentFailure)):
        remote["x"]
    with pytest.raises(StudentFailure):
        remote.fetch()


PATCHES = [
    "wire.pack = lambda *a: b'garbage'",
    "wire.pack = lambda *a: None",
    "wire.PREFIX = None",
    'wire.json.dumps = lambda *a, **k: \'{"ok": ["none"]}\'',
    "wire.json.loads = lambda *a, **k: {}",
    "wire.Encoder.array = lambda self, x: ['array', '<f8', [10**9], 'C', 1]",
    "wire.Encoder.body = property(lambda self: b'more')",
    "wire.Encoder.scalar = lambda self, x: ['str', 'passed']",
    "wire.decode_all = lambda *a: []",
    "wire.SCALARS = frozenset()",
    "examinee.Examinee._answer = lambda self, frame: b''",
    "examinee.Examinee._answer = lambda self, frame: frame.body",
    "examinee.Examinee._answer = lambda self, frame: 1 / 0",
    "examinee.Examinee._keep = lambda self, value: 2**40",
    "examinee.Examinee.serve = lambda self, link: None",
    "examinee.receive = lambda *a: None",
    "examinee.hold = None",
    "sys.modules['judge_worker.links'].receive_with_sockets = None",
    "streams.silence = lambda: 1 / 0",
    "os.getpid = lambda: 1",
    "os.fork = lambda: 0",
    "os._exit = lambda code: None",
    "os.dup2 = None",
    "import builtins; builtins.isinstance = lambda *a: True",
    "import builtins; builtins.type = None",
    "import builtins; builtins.len = lambda x: 10**10",
    "import numpy; numpy.ndarray = object",
    "import socket; socket.socket.sendall = lambda *a: None",
    "import socket; socket.recv_fds = lambda *a: (b'', [], 0, None)",
    "import gc; [one._kept.clear() for one in gc.get_objects() if type(one).__name__ == 'Examinee']",
    "sys.stdout = sys.stderr = None; import os; os.closerange(0, 3)",
    "sys.modules.clear()",
    "sys.settrace(lambda *a: 1 / 0)",
    "import threading; threading.settrace(lambda *a: 1 / 0); sys.setprofile(lambda *a: 1 / 0)",
    "sys.setrecursionlimit(60)",
    "import signal; signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)",
    "get_ipython().run_cell = None",
    "get_ipython().compile = None",
    "get_ipython().outputs = None",
    "get_ipython().user_ns.clear()",
    "del get_ipython().displayhook.shell",
    "os.environ.clear(); os.chdir('/')",
]

#: How student code gets hold of the worker's modules.
MODULES = """
import os, sys
wire, examinee, streams = (sys.modules["judge_worker." + name] for name in ("wire", "examinee", "streams"))
"""


def ordinary_or_failed(exam: Any) -> None:
    """A few calls; each ends in an answer or in a failure of the student's."""
    for _ in range(3):
        try:
            value = exam.call("f", 3).value
            assert isinstance(value, int | float | str | tuple | Remote | None), value
        except StudentFailure:
            continue


def test_control_a_patch_of_the_worker_takes_effect_in_its_own_process(bench: Bench) -> None:
    patch = "wire.Encoder.scalar = lambda self, x: ['str', 'passed']"
    assert "passed" == bench.examine(f"{MODULES}\n{patch}\ndef f(): return 1").call("f").value


@pytest.mark.parametrize("patch", PATCHES)
def test_a_worker_that_is_patched_by_a_cell_spoils_its_own_answers_at_most(hasty: Bench, patch: str) -> None:
    source = f"def f(x=1): return x\n{MODULES}\n{patch}"
    start = time.monotonic()
    run = hasty.run("1", ExamineStep("before"), source, ExamineStep("it"), "2")
    for exercise in run.exercises:
        try:
            exam = run.examine(exercise, hasty.budget())
        except StudentFailure:
            continue
        ordinary_or_failed(exam)
    run.close()
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("patch", PATCHES)
def test_a_worker_that_is_patched_by_a_call_spoils_its_own_answers_at_most(hasty: Bench, patch: str) -> None:
    body = textwrap.indent(f"{MODULES}\n{patch}", "    ")
    exam = hasty.examine(f"def f(x=1): return x\ndef attack():\n{body}\n    return 5")
    with contextlib.suppress(StudentFailure):
        exam.call("attack")
    ordinary_or_failed(exam)


REPORTS = [
    wire.pack({"step": 1}, b'[{"output_type": "stream", "name": "stdout", "text": "forged"}]'),
    wire.pack({"step": 5}),
    wire.pack({"step": 1}, b"no outputs"),
    wire.pack({"step": True}),
    b"garbage",
    wire.pack({"step": 1}) + wire.pack({"step": 2, "held": True}) + wire.pack({"step": 3}),
    wire.pack({"step": 1}, b"x" * 200_000),
]


@pytest.mark.parametrize("forged", REPORTS)
def test_forged_reports_end_the_run_at_worst(hasty: Bench, forged: bytes) -> None:
    run = hasty.run("1", forging("pass", forged=forged) + "write(forged)", ExamineStep("it"), "3")
    assert run.ending in (Ending.DONE, Ending.CRASHED)
    for exercise in run.exercises:
        try:
            ordinary_or_failed(run.examine(exercise, hasty.budget()))
        except StudentFailure:
            continue


def test_cells_that_lift_the_limit_on_outputs_end_the_run_when_the_judge_has_had_enough(bench: Bench) -> None:
    lift = "get_ipython().outputs._left = 10**12"
    run = bench.run(lift, *["print('x' * 20_000_000)"] * 3)
    assert (Ending.CRASHED, 2) == (run.ending, run.stopped_at)


def test_a_cell_that_takes_the_sockets_of_later_places_answers_for_itself_only(hasty: Bench) -> None:
    thief = """
        import os
        for name in os.listdir("/proc/self/fd"):
            if int(name) > 2 and os.path.exists(f"/proc/self/fd/{name}"):
                if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                    kept = os.dup(int(name))
        if os.fork() == 0:
            import socket, time
            while True:
                for fd in range(3, 60):
                    try:
                        os.set_blocking(fd, False)
                        os.read(fd, 1000)
                    except OSError:
                        pass
    """
    run = hasty.run("def f(x=1): return x", ExamineStep("before"), textwrap.dedent(thief), ExamineStep("it"))
    assert 1 == run.examine("before", hasty.budget()).call("f").value
    with contextlib.suppress(StudentFailure):
        ordinary_or_failed(run.examine("it", hasty.budget()))


def test_descriptors_that_an_answer_carries_are_dropped(
    hasty: Bench, open_descriptors: Callable[[], int]
) -> None:
    attack = """
        import array, socket
        for name in os.listdir("/proc/self/fd"):
            try:
                if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                    with socket.socket(fileno=os.dup(int(name))) as link:
                        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))
                        link.sendmsg([forged], [rights])
            except OSError:
                pass
        os._exit(0)
    """
    exam = hasty.examine(forging(attack, forged=ok(["int", 42])))
    before = open_descriptors()
    assert 42 == exam.call("attack").value
    assert before == open_descriptors()
    with pytest.raises(StudentCrashed):
        exam.call("f")
