import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.assignments.catalog import Assignment, load_assignment
from autograder.errors import JudgeError
from autograder.model import Verdict
from autograder.notebooks.reading import Notebook, read_notebook
from autograder.sandbox.examination import Examination
from autograder.sandbox.launcher import PlainLauncher
from autograder.sandbox.session import WorkerLost
from autograder.sandbox.worker.processes import kill_below
from autograder.usecases import judging
from autograder.usecases.judging import Judge, Judged

LIMITS = "call_seconds = 0.5\nexercise_seconds = 1\nnotebook_seconds = 1\n"
RIGHT = "def double(x):\n    return two * x"


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory, write_toy: Any) -> Assignment:
    course = write_toy(tmp_path_factory.mktemp("judging") / "course")
    (course / "limits.toml").write_text(LIMITS)
    return load_assignment(course, "toy")


@pytest.fixture(scope="module")
def warm(toy: Assignment) -> Iterator[Judge]:
    """A judge with a worker that stays warm over several tests."""
    with Judge(toy, b"secret", PlainLauncher) as judge:
        yield judge


def notebook(build: Any, code: str, *more: str) -> Notebook:
    """The toy notebook with this code in its solution cell, number 1, and more cells behind the answer."""
    cells = [build.code("from given import two"), build.solution("double", code), build.test("double", 3)]
    return read_notebook(build.bytes(*cells, build.question("why"), *map(build.code, more)))


def judged(judge: Judge, toy: Assignment, submission: Notebook, folder: Path | None = None) -> Judged:
    return judge.judge("ada", submission, toy.notebooks[0], folder)


def verdict(one: Judged) -> Verdict:
    (exercise,) = one.exercises
    (check,) = exercise.checks
    return check.verdict


def text(one: Judged, cell: int) -> str:
    return "".join(str(output.get("text", "")) for output in one.executed.outputs[cell])


def test_a_notebook_is_run_and_its_exercises_examined(warm: Judge, toy: Assignment, build: Any) -> None:
    one = judged(warm, toy, notebook(build, RIGHT, "print(double(21))"))
    assert (3.0, Verdict.PASSED, ()) == (one.exercises[0].score, verdict(one), one.notes)
    assert "42\n" == text(one, 4)
    assert [0, 1, 4] == sorted(one.executed.outputs)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def double(x):\n    return 3 * x", Verdict.FAILED),
        ("def double(x):\n    raise ValueError", Verdict.RAISED),
        ("def double(x):\n    while True: pass", Verdict.TIMED_OUT),
        ("import os\ndef double(x):\n    os._exit(0)", Verdict.CRASHED),
        ("def triple(x):\n    return 3 * x", Verdict.MISSING),
    ],
)
def test_every_wrong_answer_has_its_verdict_and_the_next_notebook_is_none_the_worse(
    code: str, expected: Verdict, warm: Judge, toy: Assignment, build: Any
) -> None:
    assert expected is verdict(judged(warm, toy, notebook(build, code)))
    assert Verdict.PASSED is verdict(judged(warm, toy, notebook(build, RIGHT)))


def test_the_state_at_the_place_of_the_test_cell_is_judged(warm: Judge, toy: Assignment, build: Any) -> None:
    one = judged(warm, toy, notebook(build, RIGHT, "two = 3"))
    assert Verdict.PASSED is verdict(one)


def test_a_cell_that_breaks_the_interpreter_is_left_out_and_noted(
    warm: Judge, toy: Assignment, build: Any
) -> None:
    one = judged(warm, toy, notebook(build, RIGHT, "import os\nos._exit(1)", "while True: pass"))
    assert Verdict.PASSED is verdict(one)
    assert (
        "Cell 5 was left out when the notebook was run: it ended the Python process.",
        "Cell 6 was left out when the notebook was run: it did not come to an end.",
    ) == one.notes


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (RIGHT, None),
        ("def double(x:\n    return", "SyntaxError"),
        (f"{RIGHT}\nnothing", "NameError"),
        (f"class Mine(Exception): pass\n{RIGHT}\nraise Mine", "an error"),
        (f"{RIGHT}\nimport os\nos._exit(1)", None),
    ],
)
def test_the_error_with_which_a_solution_cell_ended_is_named(
    code: str, error: str | None, warm: Judge, toy: Assignment, build: Any
) -> None:
    one = judged(warm, toy, notebook(build, code, "1 / 0"))
    assert error == one.exercises[0].error


def test_files_handed_in_lie_beside_the_notebook_and_given_ones_are_ours(
    warm: Judge, toy: Assignment, build: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "submission"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    (folder / "given.py").write_text("two = 3")
    (folder / "link").symlink_to("/etc/hostname")
    code = "from pathlib import Path\nprint(sorted(p.name for p in Path().iterdir() if p.is_file()))"
    one = judged(warm, toy, notebook(build, RIGHT, code, "Path('mine.txt').write_text('changed')"), folder)
    assert Verdict.PASSED is verdict(one)
    assert "['given.py', 'mine.txt']\n" == text(one, 4)
    assert any(note.startswith("link was left out") for note in one.notes)
    assert "mine" == (folder / "mine.txt").read_text()


# When the worker itself is lost.


class Launches:
    """Makes launchers and remembers their folders."""

    sandboxed = False

    def __init__(self) -> None:
        self.folders: list[Path] = []

    def __call__(self) -> PlainLauncher:
        launcher = PlainLauncher()
        self.folders.append(launcher.folder)
        return launcher


def losing(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Lose the worker the first so many times that a notebook is run."""
    run_notebook = judging.run_notebook
    lost: list[int] = []

    def run(*args: Any) -> Any:
        if len(lost) < times:
            lost.append(0)
            raise WorkerLost("killed from outside")
        return run_notebook(*args)

    monkeypatch.setattr(judging, "run_notebook", run)


def test_a_worker_that_was_lost_is_replaced_once(
    toy: Assignment, build: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    losing(monkeypatch, 1)
    launches = Launches()
    with Judge(toy, b"secret", launches) as judge:
        assert Verdict.PASSED is verdict(judged(judge, toy, notebook(build, RIGHT)))
        assert Verdict.PASSED is verdict(judged(judge, toy, notebook(build, RIGHT)))
    assert 2 == len(launches.folders)
    assert not any(folder.exists() for folder in launches.folders)


def test_a_worker_that_is_lost_again_and_again_is_our_fault(
    toy: Assignment, build: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    losing(monkeypatch, 2)
    launches = Launches()
    with Judge(toy, b"secret", launches) as judge:
        with pytest.raises(JudgeError, match=r"was lost 2 times: killed from outside\."):
            judged(judge, toy, notebook(build, RIGHT))
        assert Verdict.PASSED is verdict(judged(judge, toy, notebook(build, RIGHT)))
    assert 3 == len(launches.folders)
    assert not any(folder.exists() for folder in launches.folders)


def test_a_worker_that_ends_during_the_examination_costs_nobody_a_point(
    toy: Assignment, build: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_at_call(monkeypatch, 1)
    launches = Launches()
    with Judge(toy, b"secret", launches) as judge:
        assert Verdict.PASSED is verdict(judged(judge, toy, notebook(build, RIGHT)))
    assert 2 == len(launches.folders)


def test_a_worker_that_ends_in_every_examination_is_our_fault(
    toy: Assignment, build: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_at_call(monkeypatch, 1, 2)
    with Judge(toy, b"secret", Launches()) as judge, pytest.raises(JudgeError, match="was lost 2 times"):
        judged(judge, toy, notebook(build, RIGHT))


def kill_at_call(monkeypatch: pytest.MonkeyPatch, *numbers: int) -> None:
    """Kill the zygote, and all below it, at these calls of student's functions."""
    call = Examination.call
    made = itertools.count(1)

    def struck(examination: Examination, *args: Any, **kwargs: Any) -> Any:
        if next(made) in numbers:
            kill_below(examination._box.zygote.pid)
            examination._box.zygote.kill()
        return call(examination, *args, **kwargs)

    monkeypatch.setattr(Examination, "call", struck)


def test_no_worker_is_started_for_nothing(toy: Assignment) -> None:
    launches = Launches()
    with Judge(toy, b"secret", launches):
        pass
    assert [] == launches.folders
