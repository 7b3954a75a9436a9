"""What all tests share: warm workers for student code, since starting one for every test would take minutes,
and one browser a process, since Playwright allows no more.

Each such test runs twice, with and without the sandbox, which must make no difference to any verdict. Where
a machine allows no sandbox, the tests that need it are skipped and say why. Property tests draw the same
examples every time.
"""

import json
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from autograder.assignments.catalog import KIT, load_assignment
from autograder.errors import SandboxError
from autograder.model import Environment, Limits
from autograder.notebooks.reading import read_notebook
from autograder.sandbox.choice import UNSAFE, Way, choose
from autograder.sandbox.examination import Budget, Examination
from autograder.sandbox.notebook_run import NotebookRun, run_notebook
from autograder.sandbox.outputs import Output
from autograder.sandbox.session import CellStep, ExamineStep, Run, Step, Worker
from autograder.sandbox.worker.processes import descendants, number_inside
from autograder.usecases.judging import Judge, Judged

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
#: Names of other machines are never resolved, whoever asks.
BROWSER_OPTIONS = (
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--disable-background-networking",
    "--disable-component-update",
)

#: Courses that tests work on, with modules that only a course's own folder can import.
collect_ignore_glob = ["courses/*"]

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# A suite that is started in the background ignores Ctrl-C, and so would all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

#: Tight limits of CPU time and size, for tests in which something does not end, on a busy machine, too.
STRICT = Limits(
    call_seconds=0.3,
    exercise_seconds=1.0,
    notebook_seconds=0.5,
    wall_factor=100.0,
    file_bytes=2**20,
    output_bytes=50_000,
    answer_bytes=2**20,
)
#: A tight limit by the clock, for tests in which something waits for ever.
HASTY = replace(STRICT, wall_factor=3.0)


class Bench:
    """A warm worker, and notebooks written as their cells' sources; ``tidy`` closes what is left open."""

    def __init__(self, way: Way, limits: Limits, environment: Environment | None = None):
        self.limits = limits
        self.launcher = way()
        try:
            self.worker = Worker(self.launcher, limits, environment)
        except SandboxError:
            self.launcher.close()
            raise
        self._runs: list[Run] = []

    def run(self, *cells: str | ExamineStep, files: Mapping[str, str] | None = None) -> Run:
        """One pass over the cells, in a folder with these files; the run before is closed."""
        self.tidy()
        steps = steps_of(cells)
        run = self.worker.run(self.folder(files or {}), steps, lines_of(steps))
        self._runs.append(run)
        return run

    def rerun(self, *cells: str | ExamineStep) -> NotebookRun:
        """As often as it takes, without the cells that break it."""
        self.tidy()
        steps = steps_of(cells)
        result = run_notebook(self.worker, lambda: self.folder({}), steps, lines_of(steps))
        self._runs.append(result.run)
        return result

    def outputs(self, *cells: str) -> tuple[Output, ...]:
        """What the last of the cells has shown."""
        return self.run(*cells).outputs[len(cells) - 1]

    def examine(self, *cells: str) -> Examination:
        """An examination of what the cells have defined."""
        return self.run(*cells, ExamineStep("it")).examine("it", self.budget())

    def budget(self) -> Budget:
        return Budget(self.limits)

    def folder(self, files: Mapping[str, str]) -> Path:
        folder = Path(tempfile.mkdtemp(dir=self.worker.folder))
        folder.chmod(0o755)
        for name, text in files.items():
            (folder / name).write_text(text)
        return folder

    def processes(self) -> set[int]:
        """The processes that run code of the student's, and those that did and are not buried yet."""
        return {pid for pid in descendants(self.worker._zygote.pid) if number_inside(pid) != 1}

    def process(self, number: int) -> int | None:
        """The process that knows itself by that number, if there is one."""
        return next((pid for pid in self.processes() if number_inside(pid) == number), None)

    def tidy(self) -> None:
        while self._runs:
            self._runs.pop().close()

    def close(self) -> None:
        self.worker.close()
        self.launcher.close()


def steps_of(cells: tuple[str | ExamineStep, ...]) -> list[Step]:
    return [CellStep(index, one) if isinstance(one, str) else one for index, one in enumerate(cells)]


def lines_of(steps: list[Step]) -> dict[int, int]:
    return {step.index: step.source.count("\n") + 1 for step in steps if isinstance(step, CellStep)}


@pytest.fixture
def open_descriptors() -> Callable[[], int]:
    """Tells how many file descriptors this process holds."""
    return lambda: len(list(Path("/proc/self/fd").iterdir()))


def sandbox_or_skip() -> Way:
    try:
        return choose()
    except SandboxError as error:
        pytest.skip(f"this machine allows no sandbox: {error}")


@pytest.fixture(scope="session", params=["unsafe", "sandboxed"])
def way(request: pytest.FixtureRequest) -> Way:
    """How student code runs: without the sandbox, and in it."""
    return UNSAFE if request.param == "unsafe" else sandbox_or_skip()


@pytest.fixture(scope="session")
def sandbox() -> Way:
    """The sandbox, for tests that make no sense without it."""
    return sandbox_or_skip()


@pytest.fixture(scope="session")
def _warm_bench(way: Way) -> Iterator[Bench]:
    bench = Bench(way, Limits())
    yield bench
    bench.close()


@pytest.fixture(scope="session")
def _strict_bench(way: Way) -> Iterator[Bench]:
    bench = Bench(way, STRICT)
    yield bench
    bench.close()


@pytest.fixture(scope="session")
def _hasty_bench(way: Way) -> Iterator[Bench]:
    bench = Bench(way, HASTY)
    yield bench
    bench.close()


@pytest.fixture
def bench(_warm_bench: Bench) -> Iterator[Bench]:
    """A worker with the usual limits."""
    yield _warm_bench
    _warm_bench.tidy()


@pytest.fixture
def strict(_strict_bench: Bench) -> Iterator[Bench]:
    """A worker with tight limits of CPU time and size."""
    yield _strict_bench
    _strict_bench.tidy()


@pytest.fixture
def hasty(_hasty_bench: Bench) -> Iterator[Bench]:
    """A worker with a tight limit by the clock, too."""
    yield _hasty_bench
    _hasty_bench.tidy()


@pytest.fixture(scope="module")
def make_bench() -> Iterator[Callable[..., Bench]]:
    """Makes workers that a module's tests share."""
    made: list[Bench] = []

    def make(way: Way, limits: Limits, environment: Environment | None = None) -> Bench:
        made.append(Bench(way, limits, environment))
        return made[-1]

    yield make
    for bench in made:
        bench.close()


@pytest.fixture
def own_bench(way: Way) -> Iterator[Bench]:
    """A worker for this test alone, which may break it."""
    bench = Bench(way, STRICT)
    yield bench
    bench.close()


class SolvedLab:
    """A judge of a lesson's own solution, in whose cells texts are replaced, and others are added."""

    def __init__(self, name: str, way: Way):
        self.assignment = load_assignment(KIT.parent, name)
        self._source = (self.assignment.source_dir / f"{name}.ipynb").read_text(encoding="utf-8")
        self.judge = Judge(self.assignment, b"secret", way)

    def judged(self, *changes: tuple[str, str], **added: str) -> Judged:
        """A text and what it becomes, and, by grade id, what is added at the end of a cell."""
        notebook = json.loads(self._source)
        cells = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}
        for old, new in changes:
            assert any(old in text for text in cells.values()), old
            cells = {name: text.replace(old, new) for name, text in cells.items()}
        for cell in notebook["cells"]:
            more = added.get(cell["metadata"].get("nbgrader", {}).get("grade_id"), "")
            cell["source"] = f"{cells[cell['id']]}\n{more}"
        submission = read_notebook(json.dumps(notebook).encode())
        result = self.judge.judge("student", submission, self.assignment.notebooks[0])
        assert result.fault is None
        return result


@pytest.fixture(scope="module")
def solved_lab() -> Iterator[Callable[[str, Way], SolvedLab]]:
    """Judges of lessons' own solutions, which a module's tests share."""
    with ExitStack() as stack:

        def make(name: str, way: Way) -> SolvedLab:
            lab = SolvedLab(name, way)
            stack.enter_context(lab.judge)
            return lab

        yield make


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium that reaches nothing but this machine."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: Debian's is in the package chromium")
    from playwright.sync_api import sync_playwright

    options = [*BROWSER_OPTIONS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield opened
        opened.close()
