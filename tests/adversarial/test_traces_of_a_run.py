"""What a run or a fork writes, anywhere it can, is gone before anybody else looks.

The right helper of follow-through enters forks of a run whose verdicts are final (docs/decisions/0006): what
a thief makes of it must not reach the next notebook. Without the sandbox it does, which is the control.
"""

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from autograder.assignments.multihead.demo import RIGHT
from autograder.model import CheckResult, Verdict
from autograder.sandbox.choice import Way
from autograder.sandbox.session import ExamineStep
from autograder.usecases.judging import Judged

pytestmark = pytest.mark.adversarial

Bench = Any  # tests/conftest.py

#: Every folder in which somebody might look; without the sandbox one alone, so as to leave nothing anywhere.
PLACES = """
import glob, os, sys
def places():
    if drop:
        return [drop]
    known = ["/tmp", "/dev/shm", "/var/tmp", "/run", "/run/lock", "/dev", "/dev/mqueue", "/", "/judge"]
    own = [".", os.path.expanduser("~"), os.environ["TMPDIR"], "/judge/runs", "/proc/1/cwd", *sys.path]
    above = [os.path.join(*[".."] * depth) for depth in range(1, 8)]
    found = [*known, *own, *above, *glob.glob("/tmp/autograder-*/runs/*")]
    return sorted({os.path.realpath(one) for one in found if os.path.isdir(one)})
"""
WRITE = """
def write(name, data):
    written = 0
    for place in places():
        try:
            with open(os.path.join(place, name), "wb") as file:
                written += file.write(data) > 0
        except OSError:
            pass
    return written
"""
READ = """
def read(name):
    for place in places():
        try:
            with open(os.path.join(place, name), "rb") as file:
                return file.read()
        except OSError:
            pass
    return b""
"""
#: Nobody else leaves files, or shared memory, of these names.
NAMES = [f"stolen-{secrets.token_hex(8)}" for _ in range(2)]
KEY = secrets.randbelow(2**30) + 1


def with_places(drop: Path | None, *sources: str) -> str:
    return "\n".join([f"drop = {str(drop) if drop else None!r}", PLACES, *sources])


def test_what_cells_and_forks_write_is_gone_when_the_next_run_looks(bench: Bench, tmp_path: Path) -> None:
    drop = None if bench.launcher.sandboxed else tmp_path
    leave = "def f(name): return write(name, b'mine')"
    run = bench.run(with_places(drop, WRITE, leave, f"f({NAMES[0]!r})"), ExamineStep("it"))
    places = run.examine("it", bench.budget()).call("f", NAMES[1]).value
    assert (places >= 4) == bench.launcher.sandboxed
    exam = bench.examine(with_places(drop, READ, "def f(name): return read(name).decode()"))
    told = [exam.call("f", name).value for name in NAMES]
    assert (["", ""] if bench.launcher.sandboxed else ["mine", "mine"]) == told


SHARED = f"""
import ctypes
libc = ctypes.CDLL(None)
def leave(): return libc.shmget({KEY}, 4096, 0o1600)
def look(): return libc.shmget({KEY}, 4096, 0)
def clean(): return libc.shmctl(libc.shmget({KEY}, 4096, 0), 0, None)
"""


def test_shared_memory_without_a_file_does_not_outlive_its_run(bench: Bench) -> None:
    bench.examine(SHARED).call("leave")
    exam = bench.examine(SHARED)
    found = exam.call("look").value >= 0
    exam.call("clean")
    assert bench.launcher.sandboxed != found


STEAL = """
import marshal, types
def steal():
    code = globals()["split_heads"].__code__
    if "marshal" not in code.co_names:
        write(name, marshal.dumps(code))
"""
#: Wrong, unless somebody has left a right one.
WRONG = """
def split_heads(x, heads):
    import marshal, types
    found = read(name)
    if found:
        return types.FunctionType(marshal.loads(found), {"np": np})(x, heads)
    return x.reshape(x.shape[0], heads, x.shape[1], x.shape[2] // heads)
"""


def checks(judged: Judged, exercise: str) -> Sequence[CheckResult]:
    (one,) = [one for one in judged.exercises if one.name == exercise]
    return one.checks


def verdict(judged: Judged, exercise: str, check: str) -> Verdict:
    return next(one.verdict for one in checks(judged, exercise) if one.name == check)


def test_a_helper_that_one_student_steals_helps_no_other(
    judge: Callable[..., Judged], way: Way, tmp_path: Path
) -> None:
    drop = None if way.sandboxed else tmp_path
    name = f"name = {f'stolen-{secrets.token_hex(8)}'!r}"
    thief = with_places(drop, name, WRITE, READ, STEAL, WRONG)
    stealing = RIGHT["multihead"].replace("    q, k, v", "    steal()\n    q, k, v", 1)
    first = judge(student="thief", split_heads=thief, multihead=stealing)
    assert Verdict.FAILED is verdict(first, "split_heads", "values")
    assert (
        "only because split_heads is wrong" in checks(first, "multihead")[-1].message
    )  # the theft took place
    second = judge(student="friend", split_heads=with_places(drop, name, READ, WRONG))
    expected = Verdict.FAILED if way.sandboxed else Verdict.PASSED
    assert expected is verdict(second, "split_heads", "values")
