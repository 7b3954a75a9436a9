"""Small real courses: the lesson ``multihead`` as it is, notebooks as students hand them in, programs."""

import ast
import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.assignments.multihead import demo
from autograder.checking.local import LocalStudent
from autograder.checking.student import Remote, Student, StudentFailure, StudentRaised
from autograder.cli.main import main
from autograder.model import Limits
from autograder.sandbox.examination import Budget
from autograder.sandbox.launcher import PlainLauncher
from autograder.sandbox.session import CellStep, ExamineStep, Worker

ROOT = Path(__file__).parents[2]
VARIANTS = ROOT / "autograder" / "assignments" / "multihead" / "variants"
BIN = Path(sys.executable).parent
EXERCISES = ("split_heads", "merge_heads", "multihead", "multihead_backward")
#: So little time that a loop without end is found out soon, and enough for everything honest.
LIMITS = "call_seconds = 0.5\nexercise_seconds = 1.0\nnotebook_seconds = 2.0\n"

Json = dict[str, Any]
Ask = Callable[[Student], Any]
BothSides = Callable[[str, Limits], AbstractContextManager[tuple[Student, Student]]]


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


class Course:
    """A course folder with ``multihead``, and how students hand in there."""

    def __init__(self, folder: Path):
        self.folder = folder

    def notebook_of(self, student: str) -> Path:
        """Where a student's notebook belongs."""
        return self.folder / "submitted" / student / "multihead" / "multihead.ipynb"

    def hand_in(self, student: str, notebook: Json | bytes) -> Path:
        """Put a notebook there, as nbformat data or as bytes of any kind."""
        path = self.notebook_of(student)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode())
        return path

    def copy(self, folder: Path) -> "Course":
        """The same course elsewhere."""
        return Course(Path(shutil.copytree(self.folder, folder, symlinks=True)))

    def tree(self) -> dict[str, bytes | str]:
        """Everything that lies in the folder: contents of files, targets of links, "" for folders."""
        return {
            str(path.relative_to(self.folder)): (
                str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
            )
            for path in self.folder.rglob("*")
        }


class Notebooks:
    """Notebooks of ``multihead`` as students hand them in."""

    def released(self) -> Json:
        """As it was handed out."""
        path = ROOT / "assignments" / "multihead" / "multihead.ipynb"
        notebook: Json = json.loads(path.read_text(encoding="utf-8"))
        return notebook

    def filled(self, cells: Mapping[str, str], *, first: str = "", last: Sequence[str] = ()) -> Json:
        """With cells filled in by grade id; ``first`` and ``last`` are code cells that a student added."""
        notebook = self.released()
        for cell in notebook["cells"]:
            grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
            cell["source"] = cells.get(grade_id, cell["source"])
        before = [code_cell(first)] if first else []
        notebook["cells"] = [*before, *notebook["cells"], *map(code_cell, last)]
        return notebook

    def right(self, **changed: str) -> dict[str, str]:
        """The cells of a right solution, but for some."""
        return demo.RIGHT | changed

    def variant(self, name: str) -> dict[str, str]:
        """The cells of one of the right solutions that are kept in ``variants``."""
        text = (VARIANTS / f"{name}.py").read_text(encoding="utf-8")
        cells: dict[str, str] = {}
        shared = []
        for node in ast.parse(text).body[1:]:
            part = ast.get_source_segment(text, node) or ""
            if isinstance(node, ast.FunctionDef) and node.name in EXERCISES:
                cells[node.name] = part
            else:
                shared.append(part)
        return cells | {"split_heads": "\n\n".join([*shared, cells["split_heads"]])}


def code_cell(source: str) -> Json:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def make_course(folder: Path) -> Course:
    """A course as somebody has it who just cloned it: no gradebook, no release."""
    for name in ("source", "solutions"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    (folder / "limits.toml").write_text(LIMITS)
    return Course(folder)


def run_program(*words: str | Path, cwd: Path, name: str = "autograder", **environment: str) -> Done:
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [BIN / name, *words],
        cwd=cwd,
        env={**os.environ, "PATH": path, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


ZEROS = {
    "split_heads": "def split_heads(x, heads):\n"
    "    return np.zeros((x.shape[0], heads, x.shape[1], x.shape[2] // heads))",
    "merge_heads": "def merge_heads(h):\n"
    "    return np.zeros((h.shape[0], h.shape[2], h.shape[1] * h.shape[3]))",
    "multihead": "def multihead(x, params, heads, allowed):\n"
    "    cache = {'x': x, 'heads': heads, 'attention': {}, 'joined': np.zeros(x.shape)}\n"
    "    return np.zeros(x.shape), cache",
    "multihead_backward": "def multihead_backward(cache, params, dy):\n"
    "    return np.zeros(dy.shape), {name: np.zeros(w.shape) for name, w in params.items()}",
}
RAISING = {name: f"def {name}(*arguments):\n    raise ValueError('no')" for name in EXERCISES}
NOISE = (
    "import sys, warnings\nwarnings.warn('a warning')\nprint('on stderr', file=sys.stderr)",
    "%time sum(range(10))\n!echo shell",
    "print('printed')\nsplit_heads(np.zeros((1, 2, 4)), np.int64(2)).shape",
    "1 / 0",
    "x = multihead_backward\nx",
)
#: Shows and stores whatever it is called with. Nothing of that may ever be seen.
RECORDER = """
import sys
seen = []

def record(*values):
    seen.append(values)
    sys.modules["seen"] = seen
    for stream in (sys.stdout, sys.stderr, sys.__stdout__):
        print("RECO" + "RDED", values, file=stream, flush=True)
    for name in ("recorded.txt", "../recorded.txt", "attention.py"):
        with open(name, "a") as file:
            print("RECO" + "RDED", values, file=file)
"""
ENDLESS = "def multihead_backward(cache, params, dy):\n    while True:\n        pass"
KILLED = "import os\nos._exit(0)"


def hand_in_all(course: Course, notebooks: Notebooks) -> None:
    """A class in which nearly everything goes wrong that may go wrong."""
    right, filled = notebooks.right, notebooks.filled
    recording = {
        name: right()[name].replace(":\n", ":\n    record(vars())\n", 1)
        for name in ("split_heads", "multihead", "multihead_backward")
    }
    handed_in: dict[str, Json | bytes] = {
        **{f"right-{name}": filled(notebooks.variant(name)) for name in ("einsum", "loops", "stacked")},
        "released": notebooks.released(),
        "zeros": filled(ZEROS),
        "raising": filled(RAISING),
        "noisy": filled(right(), first="print('first')", last=NOISE),
        "endless": filled(right(multihead_backward=ENDLESS)),
        "killed": filled(right(multihead_backward=KILLED)),
        "stray": filled(right(), last=("while True:\n    pass", "import os\nos.kill(os.getpid(), 11)")),
        "recorder": filled(right(**recording), first=RECORDER, last=("%whos", "globals()")),
        "empty": b"",
    }
    for student, notebook in handed_in.items():
        course.hand_in(student, notebook)
    (course.notebook_of("nothing").parent).mkdir(parents=True)
    (course.notebook_of("nothing").parent / "thoughts.txt").write_text("I could not do it.")
    course.hand_in("renamed", filled(right())).rename(
        course.notebook_of("renamed").with_name("my work.ipynb")
    )
    (course.notebook_of("link").parent).mkdir(parents=True)
    course.notebook_of("link").symlink_to("../../right-loops/multihead/multihead.ipynb")


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], Done]], Path]:
    """Fill a folder once for all processes of this test run; what was done lies in its ``done.json``."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def make(name: str, fill: Callable[[Path], Done]) -> Path:
        folder = shared / name
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "done.json").exists():
                folder.mkdir()
                done = fill(folder)
                (folder / "done.json").write_text(json.dumps([done.code, done.out, done.err]))
        return folder

    return make


def done_in(folder: Path) -> Done:
    return Done(*json.loads((folder / "done.json").read_text()))


@dataclass(frozen=True)
class Graded:
    """A course in which a class was graded by the real command line, and what that said."""

    course: Course
    results: Json
    done: Done

    def result(self, student: str) -> Json:
        """One student's entry."""
        (found,) = (one for one in self.results["submissions"] if one["student"] == student)
        return dict(found)

    def points(self, student: str) -> dict[str, float | None]:
        """One student's points by exercise."""
        return {one["name"]: one["score"] for one in self.result(student)["exercises"]}


@pytest.fixture(scope="session")
def graded(made_once: Callable[..., Path], notebooks: Notebooks) -> Graded:
    """The class of ``hand_in_all``, graded once: look at it, copy it, do not change it."""

    def fill(folder: Path) -> Done:
        course = make_course(folder / "course")
        hand_in_all(course, notebooks)
        return run_program("grade", "multihead", "--json", folder / "results.json", cwd=course.folder)

    folder = made_once("graded", fill)
    results = json.loads((folder / "results.json").read_text())
    return Graded(Course(folder / "course"), results, done_in(folder))


@pytest.fixture
def graded_copy(graded: Graded, tmp_path: Path) -> Course:
    """The graded course again, to change it."""
    return graded.course.copy(tmp_path / "course")


@pytest.fixture(scope="session")
def notebooks() -> Notebooks:
    return Notebooks()


@pytest.fixture(scope="session")
def program() -> Callable[..., Done]:
    """Run the installed program ``autograder``, or ``name`` beside it, in a process of its own."""
    return run_program


@pytest.fixture
def autograder(capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """The command line in this process, where nbgrader's slow import is paid but once."""

    def run(*words: str | Path) -> Done:
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return run


@pytest.fixture(scope="session", name="make_course")
def make_course_fixture() -> Callable[[Path], Course]:
    return make_course


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course in which nobody has handed in anything yet."""
    return make_course(tmp_path / "course")


@pytest.fixture(scope="session")
def both_sides() -> BothSides:
    """The same student in this process and behind a socket, by the source of one cell."""
    return _both_sides


@contextmanager
def _both_sides(source: str, limits: Limits) -> Iterator[tuple[Student, Student]]:
    namespace: dict[str, object] = {}
    exec(source, namespace)
    launcher = PlainLauncher()
    worker = Worker(launcher, limits)
    folder = launcher.folder / "run"
    folder.mkdir()
    run = worker.run(folder, [CellStep(0, source), ExamineStep("all")], {0: source.count("\n") + 1})
    examination = run.examine("all", Budget(limits))
    yield LocalStudent(namespace, call_seconds=limits.call_seconds), examination
    examination.close()
    run.close()
    worker.close()
    launcher.close()


@pytest.fixture(scope="session")
def end_of() -> Callable[[Student, Ask], Any]:
    """What comes of asking a student, with all that a check could find out about it, or how it ends."""

    def end(student: Student, ask: Ask) -> Any:
        try:
            return _plain(ask(student))
        except StudentRaised as failure:
            return failure.exception, failure.line
        except StudentFailure as failure:
            return type(failure)

    return end


@pytest.fixture(scope="session")
def plain() -> Callable[[Any], Any]:
    """Everything that a check could find out about a value."""
    return _plain


def _plain(value: Any, depth: int = 3) -> Any:
    if isinstance(value, np.ndarray):
        flags = value.flags.c_contiguous, value.flags.f_contiguous
        return "array", value.dtype.str, value.shape, flags, value.tobytes()
    if isinstance(value, Remote):
        items = [_item(value, key, depth) for key in ("a", "x", 0, 3)] if depth else []
        return (
            "remote",
            value.kind,
            items,
            _plain(value.fetch(), 0) if value.kind in ("dict", "list") else None,
        )
    if isinstance(value, tuple | list):
        return type(value).__name__, [_plain(one, depth) for one in value]
    if isinstance(value, dict):
        return [(key, _plain(one, depth)) for key, one in value.items()]
    return type(value).__name__, repr(value)


def _item(value: Remote, key: str | int, depth: int) -> Any:
    try:
        return _plain(value[key], depth - 1)
    except KeyError as error:
        return error.args
