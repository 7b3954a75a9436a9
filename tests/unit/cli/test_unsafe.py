"""Verbs that run student code do nothing without a sandbox, unless told to; and then they say so."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.cli.main import main
from autograder.model import WITHOUT_SANDBOX
from autograder.sandbox import trial


@pytest.fixture
def course(toy_course: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course in which two students have handed in; the current folder."""
    for student in ("ada", "bob"):
        folder = toy_course / "submitted" / student / "toy"
        folder.mkdir(parents=True)
        shutil.copy(toy_course / "source" / "toy" / "toy.ipynb", folder)
    monkeypatch.chdir(toy_course)
    return toy_course


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine without bubblewrap."""
    monkeypatch.setattr(trial, "PROGRAM", "no-such-program")
    trial.allows_rooms.cache_clear()
    yield
    trial.allows_rooms.cache_clear()


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "__pycache__" not in path.parts}


def results(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    """What a verb writes as JSON."""
    capsys.readouterr()
    assert main([*words, "--json", "-"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["submissions"]
    return found


@pytest.mark.usefixtures("no_sandbox")
@pytest.mark.parametrize(
    "words",
    [
        ("grade", "toy"),
        ("check", "submitted/ada/toy/toy.ipynb"),
        ("explain", "toy", "ada"),
        ("doctor",),
    ],
    ids=lambda words: words[0],
)
def test_without_a_sandbox_nothing_is_graded_and_it_is_said_what_to_do(
    course: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    before = files(course)
    assert 3 == main(words)
    told = capsys.readouterr()
    assert ("", True) == (told.out, "There is no sandbox here" in told.err)
    assert before == files(course)


@pytest.mark.usefixtures("no_sandbox", "course")
def test_what_is_graded_without_says_so_in_every_result(capsys: pytest.CaptureFixture[str]) -> None:
    for one in results(capsys, "grade", "toy", "--unsafe"):
        assert (False, [WITHOUT_SANDBOX]) == (one["sandboxed"], one["notes"])
    (one,) = results(capsys, "check", "submitted/ada/toy/toy.ipynb", "--unsafe")
    assert (False, [WITHOUT_SANDBOX]) == (one["sandboxed"], one["notes"])
    assert 0 == main(["explain", "toy", "ada", "--check", "doubles", "--unsafe"])
    assert WITHOUT_SANDBOX in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("no_sandbox", "course")
def test_the_table_says_so_once_for_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["grade", "toy", "--unsafe"])
    told = capsys.readouterr().out
    assert "All graded without the sandbox (--unsafe)." in told
    assert "Worth a look" not in told


@pytest.mark.usefixtures("no_sandbox")
def test_the_page_says_so(course: Path) -> None:
    assert 0 == main(["grade", "toy", "--unsafe"])
    page = json.loads((course / "autograded" / "ada" / "toy" / "toy.ipynb").read_text())
    assert WITHOUT_SANDBOX in page["metadata"]["autograder"]["notes"]
    assert any("without the sandbox" in "".join(cell["source"]) for cell in page["cells"])


@pytest.mark.usefixtures("sandbox", "course")
def test_what_was_graded_without_is_graded_again_within_but_not_the_other_way_round(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def graded(*words: str) -> list[bool]:
        found = [one["sandboxed"] for one in results(capsys, "grade", "toy", *words)]
        assert 0 == main(["grade", "toy", *words])
        assert "2 unchanged" in capsys.readouterr().out
        return found

    assert [False, False] == graded("--unsafe")
    assert [True, True] == graded()
    assert [True, True] == graded("--unsafe")
    assert [False, False] == [
        one["sandboxed"] for one in results(capsys, "grade", "toy", "--unsafe", "--force")
    ]


@pytest.mark.usefixtures("sandbox", "course")
def test_in_the_sandbox_there_is_nothing_to_tell(capsys: pytest.CaptureFixture[str]) -> None:
    for one in results(capsys, "grade", "toy"):
        assert (True, [], 3.0) == (one["sandboxed"], one["notes"], one["score"])
    assert 0 == main(["grade", "toy"])
    assert "sandbox" not in capsys.readouterr().out
