"""Judges in processes of their own, on the toy course: real processes, since these are what can go wrong."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, Self

import pytest

from autograder.assignments.catalog import Assignment, load_assignment
from autograder.errors import CourseError, JudgeError
from autograder.model import Status
from autograder.sandbox.choice import UNSAFE
from autograder.usecases.judges import ManyJudges, OneJudge, judges_for

SECRET = bytes(32)


@pytest.fixture
def assignment(toy_course: Path, build: Any) -> Assignment:
    """A class of three: right, wrong, nothing handed in that could be read."""
    answers = {"ada": "def double(x):\n    return two * x", "bob": "def double(x):\n    return x"}
    for student, answer in answers.items():
        folder = toy_course / "submitted" / student / "toy"
        folder.mkdir(parents=True)
        cells = (build.code("from given import two"), build.solution("double", answer))
        (folder / "toy.ipynb").write_bytes(build.bytes(*cells))
    broken = toy_course / "submitted" / "cleo" / "toy"
    broken.mkdir(parents=True)
    (broken / "toy.ipynb").write_bytes(b"{")
    return load_assignment(toy_course, "toy")


@pytest.fixture
def two_judges(assignment: Assignment) -> Iterator[ManyJudges]:
    with ManyJudges(assignment, SECRET, UNSAFE, 2) as judges:
        yield judges


def folder_of(assignment: Assignment, student: str) -> Path:
    return assignment.course / "submitted" / student / "toy"


def test_one_job_is_done_here_and_more_are_done_elsewhere(assignment: Assignment) -> None:
    assert isinstance(judges_for(assignment, SECRET, UNSAFE, 1), OneJudge)
    with judges_for(assignment, SECRET, UNSAFE, 3) as judges:
        assert isinstance(judges, ManyJudges)


def test_results_do_not_depend_on_how_many_judge(assignment: Assignment, two_judges: ManyJudges) -> None:
    students = ["ada", "bob", "cleo"]
    tasks = [two_judges.submit(one, folder_of(assignment, one)) for one in students]
    many = [task() for task in tasks]
    with OneJudge(assignment, SECRET, UNSAFE) as judge:
        alone = [judge.submit(one, folder_of(assignment, one))() for one in students]
    assert [one.result for one in alone] == [one.result for one in many]
    assert [one.executed for one in alone] == [one.executed for one in many]
    assert [3.0, 0.0, 0.0] == [one.result.score for one in many]
    assert Status.MALFORMED is many[2].result.status


def test_a_judge_that_ends_by_itself_costs_nobody_a_grade(
    assignment: Assignment, two_judges: ManyJudges
) -> None:
    two_judges.submit("ada", folder_of(assignment, "ada"))()
    tasks = [two_judges.submit(one, folder_of(assignment, one)) for one in ("ada", "bob")]
    for process in multiprocessing.active_children():
        process.kill()
    tasks.append(two_judges.submit("cleo", folder_of(assignment, "cleo")))
    assert [3.0, 0.0, 0.0] == [task().result.score for task in tasks]


def test_a_submission_that_ends_every_judge_is_a_fault_of_ours(
    assignment: Assignment, two_judges: ManyJudges, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Mortal:
        def submit(self, *_: Any) -> Any:
            return self

        def result(self) -> Any:
            raise BrokenProcessPool

        def shutdown(self, **_: Any) -> None:
            pass

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(two_judges, "_executor", Mortal())
    monkeypatch.setattr(two_judges, "_appoint", lambda jobs: Mortal())
    with pytest.raises(JudgeError, match="twice"):
        two_judges.submit("ada", folder_of(assignment, "ada"))()


def test_what_concerns_the_whole_class_is_raised_here(assignment: Assignment) -> None:
    (assignment.source_dir / "toy.ipynb").write_text("{")
    with ManyJudges(assignment, SECRET, UNSAFE, 2) as judges, pytest.raises(CourseError):
        judges.submit("ada", folder_of(assignment, "ada"))()


GRADER = textwrap.dedent("""
    import sys, time
    from pathlib import Path
    from autograder.assignments.catalog import load_assignment
    from autograder.sandbox.choice import UNSAFE
    from autograder.usecases.judges import ManyJudges

    if __name__ == "__main__":
        assignment = load_assignment(Path(sys.argv[1]), "toy")
        with ManyJudges(assignment, bytes(32), UNSAFE, 2) as judges:
            folder = assignment.course / "submitted"
            for task in [judges.submit(one, folder / one / "toy") for one in ("ada", "bob")]:
                task()
            print("ready", flush=True)
            time.sleep(60)
""")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_judges_whose_grader_ends(
    assignment: Assignment, tmp_path: Path, number: signal.Signals, settle: Callable[..., None]
) -> None:
    program = tmp_path / "grader.py"
    program.write_text(GRADER)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with subprocess.Popen(
        [sys.executable, str(program), str(assignment.course)],
        env=os.environ | {"TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as grader:
        assert grader.stdout is not None
        assert "ready\n" == grader.stdout.readline()
        assert list(scratch.iterdir())
        grader.send_signal(number)
        grader.wait(20)
        settle(lambda: not list(scratch.iterdir()) and not mentioned(scratch))


def mentioned(folder: Path) -> list[str]:
    """The processes whose environment names a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder).encode() in (process / "environ").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


@pytest.fixture
def settle() -> Callable[..., None]:
    """Waits until something holds, and fails if it does not come true."""

    def wait(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.02)

    return wait
