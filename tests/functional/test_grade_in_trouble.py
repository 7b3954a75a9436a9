"""``autograder grade`` that is killed, at any moment, or meets a disk that is full or cannot be written to.

Whatever happens, nothing of what was recorded is lost or torn, nobody is left behind, and the next run comes
to exactly what a run without trouble would have brought.
"""

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.functional

Json = dict[str, Any]

CHECKS = '''
from autograder.checking.framework import CheckFailure, CheckSet

checks = CheckSet("toy")


@checks.value("double", weight=1)
def doubles(student, reference, rng):
    """It doubles."""
    if student.call("double", 4).value != 8:
        raise CheckFailure("It does not double.")
'''

KILLS: list[Json] = [{"event": round(share / 15, 3)} for share in range(1, 15)]
MOMENTS: list[Json] = [{"seconds": seconds} for seconds in (0.7, 1.4)]
FRESH: list[Json] = [{"fresh": 1.0}]
ROOM: list[Json] = [{"room": kilobytes} for kilobytes in (0, 8, 32)]
READ_ONLY: list[Json] = [{"read_only": folder} for folder in (".", "autograded", ".autograder/toy/records")]
TWICE: Json = {"twice": True}
TROUBLES = [*KILLS, *MOMENTS, *FRESH, *ROOM, *READ_ONLY, TWICE]


def marked(source: str, grade_id: str, kind: str = "code", **marks: Any) -> Json:
    flags = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
    cell = {
        "cell_type": kind,
        "source": source,
        "metadata": {"nbgrader": {"grade_id": grade_id, **flags, **marks}},
    }
    return cell | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def notebook(body: str, answer: str) -> str:
    cells = [
        marked(f"def double(x):\n    {body}", "double", solution=True),
        marked("assert double(1) == 2", "test_double", grade=True, locked=True, points=3),
        marked(answer, "why", "markdown", grade=True, solution=True, points=2),
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells})


def make_course(folder: Path, program: Callable[..., Any]) -> None:
    """Ada is graded, by a person too; since then she has handed in anew, and so have bob and cyd."""
    for part in ("source/toy", "solutions", "autograder/assignments/toy"):
        (folder / part).mkdir(parents=True)
    (folder / "source/toy/toy.ipynb").write_text(
        notebook("### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION", "Why?")
    )
    (folder / "solutions/toy.py").write_text("def double(x):\n    return 2 * x\n")
    (folder / "autograder/assignments/toy/checks.py").write_text(CHECKS)

    def hand_in(student: str, body: str, answer: str) -> None:
        path = folder / "submitted" / student / "toy" / "toy.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(notebook(body, answer))

    hand_in("ada", "return x", "Since it does.")
    assert 0 == program("grade", "toy", cwd=folder).code
    book = sqlite3.connect(folder / "gradebook.db")
    book.execute("UPDATE grade SET manual_score = 1.5, needs_manual_grade = 0 WHERE auto_score IS NULL")
    book.commit()
    book.close()
    hand_in("ada", "return 2 * x", "Since it does.")
    hand_in("bob", "return 3 * x", "It does not.")
    hand_in("cyd", "return x + x", "Why?")


@pytest.fixture(scope="module")
def reports(made_once: Callable[..., Path], program: Callable[..., Any]) -> list[Json | None]:
    """What each trouble left, and what became of that; the first report is of a run without any."""

    def fill(folder: Path) -> Any:
        make_course(folder / "template", program)
        (folder / "work").mkdir()
        script = Path(__file__).with_name("troubled_grader.py")
        words = [sys.executable, script, folder / "template", folder / "work"]
        done = subprocess.run(words, input=json.dumps(TROUBLES), capture_output=True, text=True, check=False)
        shutil.rmtree(folder / "work")
        (folder / "reports.json").write_text(done.stdout)
        return program("--version", cwd=folder) if done.returncode == 0 else pytest.fail(done.stderr)

    return list(json.loads((made_once("in-trouble", fill) / "reports.json").read_text()))


def of(reports: list[Json | None], trouble: Json) -> Json:
    found = reports[1 + TROUBLES.index(trouble)]
    if found is None:
        pytest.skip("no file system of a limited size can be mounted here")
    return found


def name(trouble: Json) -> str:
    return " ".join(f"{key} {value}" for key, value in trouble.items())


def test_without_trouble_everybody_is_graded_and_what_a_person_gave_stays(reports: list[Json]) -> None:
    assert [
        ["ada", "test_double", 3.0, None, None, 0],
        ["ada", "why", None, 1.5, None, 0],
        ["bob", "test_double", 0.0, None, None, 0],
        ["bob", "why", None, None, None, 1],
        ["cyd", "test_double", 3.0, None, None, 0],
        ["cyd", "why", None, None, None, 1],
    ] == reports[0]["healed"]["rows"]
    assert reports[0]["torn"] == reports[0]["healed"]
    assert "0 graded, 3 unchanged" in reports[0]["said"]


@pytest.mark.parametrize("trouble", TROUBLES, ids=name)
def test_the_next_run_comes_to_what_a_run_without_trouble_brings(
    trouble: Json, reports: list[Json | None]
) -> None:
    undisturbed, found = reports[0], of(reports, trouble)
    assert undisturbed is not None
    assert 0 == found["code"], found["said"]
    expected = undisturbed["healed"]
    if trouble in FRESH:  # with a new secret, and nothing that a person gave
        found["healed"]["files"][".autograder/secret"] = expected["files"][".autograder/secret"]
        expected = {**expected, "rows": [[*row[:3], None, *row[4:]] for row in expected["rows"]]}
        expected["rows"][1][5] = 1
    assert expected["rows"] == found["healed"]["rows"]
    assert expected["files"].keys() == found["healed"]["files"].keys()
    assert [] == [path for path, text in expected["files"].items() if text != found["healed"]["files"][path]]


@pytest.mark.parametrize("trouble", TROUBLES, ids=name)
def test_nothing_is_torn_and_nobody_is_left_behind(trouble: Json, reports: list[Json | None]) -> None:
    found = of(reports, trouble)
    assert (0, "ok", "ok") == (found["orphans"], found["torn"]["sound"], found["healed"]["sound"])
    rows = found["torn"]["rows"]
    ends = reports[0]["healed"]["rows"]  # type: ignore[index]
    if trouble not in FRESH:
        assert [["ada", "why", None, 1.5, None, 0]] == [row for row in rows if row[3] is not None]
        assert 0 == len(rows) % 2  # a submission is recorded with all its grades, or not at all
        assert all(row in ends for row in rows if row[0] != "ada")
    for path, text in found["torn"]["files"].items():
        if path.endswith((".ipynb", ".json")):
            json.loads(text.encode("latin-1"))


@pytest.mark.parametrize("trouble", [*KILLS, *MOMENTS, *FRESH], ids=name)
def test_the_kills_killed(trouble: Json, reports: list[Json | None]) -> None:
    assert [-9] == [code for code, _ in of(reports, trouble)["ended"]]


@pytest.mark.parametrize("trouble", [*ROOM, *READ_ONLY], ids=name)
def test_what_cannot_be_written_is_one_message_and_exit_code_2(
    trouble: Json, reports: list[Json | None]
) -> None:
    ((code, said),) = of(reports, trouble)["ended"]
    assert (2, 1) == (code, said.count("\n")), said
    assert said.startswith("autograder: ")
    reason = (
        "No space left on device|disk is full"
        if trouble in ROOM
        else "Read-only|Permission denied|readonly|unable to open"
    )
    assert any(part in said for part in reason.split("|")), said


def test_of_two_graders_at_once_one_does_the_work(reports: list[Json | None]) -> None:
    (first, said), (second, also_said) = of(reports, TWICE)["ended"]
    assert {0, 2} == {first, second}
    assert 1 == (said + also_said).count("autograder: Another grader is at work on")
