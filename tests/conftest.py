"""What all tests share: warm workers for student code, since starting one for every test would take minutes,
and one browser a process, since Playwright allows no more.

Property tests draw the same examples every time.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from autograder.model import Limits
from autograder.sandbox.examination import Budget, Examination
from autograder.sandbox.launcher import PlainLauncher
from autograder.sandbox.notebook_run import NotebookRun, run_notebook
from autograder.sandbox.outputs import Output
from autograder.sandbox.session import CellStep, ExamineStep, Run, Step, Worker

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

    def __init__(self, limits: Limits):
        self.limits = limits
        self.launcher = PlainLauncher()
        self.worker = Worker(self.launcher, limits)
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
        for name, text in files.items():
            (folder / name).write_text(text)
        return folder

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


@pytest.fixture(scope="session")
def _warm_bench() -> Iterator[Bench]:
    bench = Bench(Limits())
    yield bench
    bench.close()


@pytest.fixture(scope="session")
def _strict_bench() -> Iterator[Bench]:
    bench = Bench(STRICT)
    yield bench
    bench.close()


@pytest.fixture(scope="session")
def _hasty_bench() -> Iterator[Bench]:
    bench = Bench(HASTY)
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


@pytest.fixture
def own_bench() -> Iterator[Bench]:
    """A worker for this test alone, which may break it."""
    bench = Bench(STRICT)
    yield bench
    bench.close()


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
