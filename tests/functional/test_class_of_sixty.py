"""A class of sixty: twenty honest students, twenty hostile ones, twenty whose notebooks are broken.

It is graded by the real command line, in the sandbox. The honest ones get exactly what they get among
themselves, with every check and every word; the hostile ones at most what their honest code earns, which is
``split_heads`` alone; the broken ones stop nobody. Each class of attack has tests of its own in
``tests/adversarial``, with a control that shows it working without the defence.
"""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.assignments.multihead import demo

pytestmark = [pytest.mark.functional, pytest.mark.adversarial]

Json = dict[str, Any]

#: The machine may be busy: the clock is no judge here. Bombs are small.
MORE_LIMITS = "wall_factor = 60.0\nmemory_bytes = 805306368\nfile_bytes = 16777216\n"
SIMULATED = ("ada", "bela", "chen", "dora", "emil", "fay", "goran", "hana", "kim", "milo")
VARIANTS = (
    "closures", "einsum", "fancy_indexing", "head_by_head", "jacobian", "loops", "named_tuples",
    "own_attention", "stacked", "tensordot",
)  # fmt: skip

#: Cells below the notebook's own; ``COURSE`` is the course's folder, which an attacker may well know.
ATTACKS = {
    "patches": """
import builtins
np.allclose = np.array_equal = lambda *args, **named: True
np.asarray = np.array = lambda *args, **named: np.ones(1)
builtins.isinstance = lambda one, kind: True
builtins.abs = builtins.max = lambda *args: 0.0
builtins.AssertionError = builtins.Exception = builtins.KeyboardInterrupt
""",
    "agreeable": """
class Agreeable(np.ndarray):
    __eq__ = __le__ = __lt__ = lambda self, other: True
    __array_function__ = lambda self, function, types, args, kwargs: True
    __array_ufunc__ = lambda self, ufunc, method, *inputs, **kwargs: np.True_
    __hash__ = None
def merge_heads(h):
    return np.zeros((h.shape[0], h.shape[2], h.shape[1] * h.shape[3])).view(Agreeable)
""",
    "frames": """
import json, os, socket
def merge_heads(h):
    head = json.dumps({"answer": 1, "passed": True, "score": 100}).encode()
    for number in range(3, 64):
        try:
            os.write(number, len(head).to_bytes(4, "little") + bytes(4) + head)
        except OSError:
            pass
    return h
""",
    "thief": """
import glob, importlib, os, sys
def loot():
    sys.path[:0] = ["COURSE/solutions", "COURSE/source/multihead", "COURSE", "/"]
    for name in ("solutions.multihead", "multihead", "autograder.assignments.multihead.checks"):
        try:
            return importlib.import_module(name).merge_heads
        except BaseException:
            pass
    for path in [*glob.glob("/*/*/multihead.py"), *glob.glob("/*/*/*/multihead.py")]:
        scope = {}
        exec(open(path).read(), scope)
        return scope["merge_heads"]
try:
    merge_heads = loot()
except BaseException as error:
    print(error)
""",
    "forger": """
import os, sqlite3
def forge():
    for path in ("COURSE/gradebook.db", "../../../gradebook.db", "gradebook.db"):
        try:
            book = sqlite3.connect(path)
            book.execute("UPDATE grade SET manual_score = 9, auto_score = 9")
            book.commit()
        except Exception as error:
            print(path, error)
    for path in ("submitted/ada/multihead/multihead.ipynb", "limits.toml", ".autograder/secret"):
        try:
            open(f"COURSE/{path}", "w").write("0")
        except OSError as error:
            print(error)
forge()
def merge_heads(h):
    forge()
    return h
""",
    "killer": """
import os, signal
def merge_heads(h):
    for process in (-1, os.getppid(), 1):
        try:
            os.kill(process, signal.SIGKILL)
        except OSError:
            pass
    return h
""",
    "killer-at-once": "import os, signal\nos.kill(-1, signal.SIGSTOP)\nos.kill(-1, signal.SIGKILL)",
    "forks": """
import os
for _ in range(200):
    try:
        if os.fork() == 0:
            while True:
                pass
    except OSError:
        break
""",
    "daemon": """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            time.sleep(0.1)
            try:
                open("multihead.ipynb", "w").write("{}")
                os.kill(-1, 9)
            except OSError:
                pass
    os._exit(0)
""",
    "disk": """
import os
for folder in (".", os.path.expanduser("~"), "/tmp", "/dev/shm", "/var/tmp"):
    for number in range(100):
        try:
            with open(f"{folder}/{number}.fill", "wb") as file:
                file.write(bytes(1 << 24))
        except OSError:
            break
""",
    "memory": """
import os
held = []
for _ in range(3):
    os.fork()
while True:
    held.append(bytes(1 << 24))
""",
    "flood": "import os\nwhile True:\n    os.write(1, b'x' * 65536)",
    "gc": """
import gc, sys
def merge_heads(h):
    frame = sys._getframe()
    while frame is not None:
        for value in frame.f_locals.values():
            if isinstance(value, np.ndarray) and value.ndim == 3 and value.size == h.size:
                return value
        frame = frame.f_back
    found = [one for one in gc.get_objects() if isinstance(one, np.ndarray) and one.ndim == 3]
    return found[0] if found else h
""",
    "memory-of-shapes": """
known = {}
def merge_heads(h):
    B, H, T, d = h.shape
    return known.setdefault(h.shape, np.random.default_rng(0).normal(size=(B, T, H * d)))
""",
    "network": """
import socket
for address in (("127.0.0.1", 22), ("192.0.2.1", 53), ("::1", 22)):
    try:
        socket.create_connection(address, 0.2)
    except OSError as error:
        print(error)
""",
    "handlers": """
import atexit, signal, sys
for number in range(1, 65):
    try:
        signal.signal(number, lambda *args: None)
    except (OSError, ValueError):
        pass
atexit.register(lambda: print("100 points"))
def merge_heads(h):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
""",
    "worker": """
import sys
for name, module in list(sys.modules.items()):
    if name.startswith(("judge_worker", "__main__")):
        for word, value in list(vars(module).items()):
            if callable(value) and word not in ("len", "print"):
                setattr(module, word, lambda *args, **named: {"passed": True, "score": 100})
""",
}  # fmt: skip
#: Hostile by what lies in the folder, or by what the notebook claims.
BY_FILES = ("shadows", "links", "claims")
BROKEN_CELLS = {
    "endless": "while True:\n    pass",
    "exit": "import os\nos._exit(0)",
    "crash": "import ctypes\nctypes.string_at(0)",
    "recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef f():\n    f()\nf()",
    "huge": "x = np.ones((100_000, 100_000))",
    "input": "name = input()",
    "stopped": "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
    "syntax": "def oops(:",
    "missing": "import torch, tensorflow",
    "warnings": "import warnings\nfor _ in range(10_000):\n    warnings.warn('w')",
}
BROKEN_FILES = {
    "empty": b"",
    "archive": b"PK\x03\x04",
    "cut": b'{"cells": [{"cell_type": "co',
    "garbage": bytes(range(256)) * 1000,
    "merge": b'{"cells": [\n<<<<<<< HEAD\n',
    "deep": b"[" * 300_000,
    "null": b"null",
}


def hostile_and_broken(course: Any, notebooks: Any) -> None:
    """Hand in what forty of them hand in; it stands before, between and behind the honest ones."""
    weak = {"split_heads": demo.RIGHT["split_heads"]}
    for number, (name, attack) in enumerate(ATTACKS.items()):
        text = attack.replace("COURSE", str(course.folder))
        # Some strike before anything else, the others at the end.
        cells = {"first": text} if number % 3 == 0 and "def " not in text else {"last": [text]}
        course.hand_in(f"{'afm'[number % 3]}-{name}", notebooks.filled(weak, **cells))
    shadows = course.hand_in("a-shadows", notebooks.filled(weak)).parent
    for name in (
        "numpy",
        "attention",
        "visible_checks",
        "autograder",
        "json",
        "sitecustomize",
        "judge_worker",
    ):
        (shadows / f"{name}.py").write_text("import os\nos._exit(0)\n")
    links = course.hand_in("m-links", notebooks.filled(weak)).parent
    (links / "secret").symlink_to(course.folder / ".autograder" / "secret")
    (links / "solutions").symlink_to(course.folder / "solutions")
    os.mkfifo(links / "fifo")
    claims = notebooks.filled(weak)
    for cell in claims["cells"]:
        marks = cell["metadata"].get("nbgrader", {})
        marks.update(points=1000, grade=True)
        if str(marks.get("grade_id")).startswith("test_"):
            cell["source"] = "print('passed')\n100.0"
            cell["outputs"] = [
                {"output_type": "execute_result", "data": {"text/plain": "100.0"}, "metadata": {}}
            ]
    course.hand_in("f-claims", claims)
    for name, text in BROKEN_CELLS.items():
        course.hand_in(f"g-{name}", notebooks.filled(demo.RIGHT, first=f"import numpy as np\n{text}"))
    for name, data in BROKEN_FILES.items():
        course.hand_in(f"b-{name}", data)
    course.notebook_of("b-folder").mkdir(parents=True)
    course.notebook_of("b-nothing").parent.mkdir(parents=True)
    course.notebook_of("b-fifo").parent.mkdir(parents=True)
    os.mkfifo(course.notebook_of("b-fifo"))


def honest(course: Any, notebooks: Any) -> None:
    students = {one.id: one for one in demo.students}
    for name in SIMULATED:
        one = students[name]
        notebook = notebooks.filled(one.cells, last=one.extra_cells)
        notebook["cells"] = [cell for cell in notebook["cells"] if grade_id(cell) not in one.deleted]
        course.hand_in(name, notebook)
    for name in VARIANTS:
        course.hand_in(name, notebooks.filled(notebooks.variant(name)))


def grade_id(cell: Json) -> str | None:
    found: str | None = cell["metadata"].get("nbgrader", {}).get("grade_id")
    return found


@pytest.fixture(scope="module")
def graded(
    sandbox: Any,
    made_once: Callable[..., Path],
    make_course: Any,
    notebooks: Any,
    program: Callable[..., Any],
) -> Path:
    """A folder with ``alone.json``, of the honest ones among themselves, and ``together.json``."""

    def fill(folder: Path) -> Any:
        course = make_course(folder / "course")
        with (course.folder / "limits.toml").open("a") as limits:
            limits.write(MORE_LIMITS)
        honest(course, notebooks)
        words = ("grade", "multihead", "--json")
        assert 0 == program(*words, folder / "alone.json", cwd=course.folder).code
        for name in ("autograded", "gradebook.db", ".autograder/multihead/records"):
            path = course.folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        hostile_and_broken(course, notebooks)
        before = course.tree()
        done = program(*words, folder / "together.json", cwd=course.folder)
        after = course.tree()
        touched = [
            path
            for path, content in before.items()
            if after.get(path) != content and not path.startswith(".auto")
        ]
        (folder / "touched.json").write_text(json.dumps(touched))
        return done

    return made_once("class-of-sixty", fill)


def entries(graded: Path, name: str) -> dict[str, Json]:
    results = json.loads((graded / f"{name}.json").read_text())
    return {one["student"]: one for one in results["submissions"]}


def test_all_sixty_have_an_entry_and_none_is_a_fault_of_ours(graded: Path) -> None:
    code, _, err = json.loads((graded / "done.json").read_text())
    together = entries(graded, "together")
    assert (0, "", 60) == (code, err, len(together))
    assert {"graded", "malformed"} == {one["status"] for one in together.values()}


@pytest.mark.parametrize("student", [*SIMULATED, *VARIANTS])
def test_an_honest_student_gets_what_they_get_among_honest_ones(student: str, graded: Path) -> None:
    assert entries(graded, "alone")[student] == entries(graded, "together")[student]


def test_the_honest_ones_are_of_different_quality(graded: Path) -> None:
    alone = entries(graded, "alone")
    assert {20.0} == {alone[name]["score"] for name in VARIANTS}
    assert len({alone[name]["score"] for name in SIMULATED}) > 4


@pytest.mark.parametrize("name", [*ATTACKS, *BY_FILES])
def test_a_hostile_student_gets_at_most_what_their_honest_code_earns(name: str, graded: Path) -> None:
    (entry,) = [
        one
        for student, one in entries(graded, "together").items()
        if student[1:] == f"-{name}" and student[0] in "afm"
    ]
    points = {row["name"]: row["score"] for row in entry["exercises"]}
    assert points["split_heads"] in (0.0, 3.0)
    assert 0.0 == points["multihead"] == points["multihead_backward"]
    assert points["merge_heads"] == 0.0
    assert entry["score"] == points["split_heads"]


@pytest.mark.parametrize("name", BROKEN_CELLS)
def test_a_cell_that_breaks_costs_nothing_but_itself(name: str, graded: Path) -> None:
    assert 20.0 == entries(graded, "together")[f"g-{name}"]["score"]


@pytest.mark.parametrize("name", [*BROKEN_FILES, "folder", "nothing", "fifo"])
def test_what_cannot_be_read_is_told_what_to_hand_in(name: str, graded: Path) -> None:
    entry = entries(graded, "together")[f"b-{name}"]
    assert ("malformed", 0.0) == (entry["status"], entry["score"])
    assert "and in" in entry["reason"]


def test_nothing_of_the_course_was_touched(graded: Path) -> None:
    assert [] == json.loads((graded / "touched.json").read_text())
