"""``autograder demo``: every simulated student's story, and what it is worth."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.functional

#: split_heads, merge_heads, multihead, multihead_backward
ALL = (3.0, 2.0, 6.0, 9.0)
NOTHING = (0.0, 0.0, 0.0, 0.0)
STORIES = {
    "ada": ("all right, with reshape and transpose", ALL),
    "bela": ("all right, in another style: slices, einsum, an attention of their own", ALL),
    "chen": ("handed in what was handed out", NOTHING),
    "dora": ("reshapes directly to (B, H, T, d)", (0.0, 2.0, 6.0, 9.0)),
    "emil": ("scales by the square root of C instead of d", (3.0, 2.0, 0.0, 9.0)),
    "fay": ("forgets the route through K into x", (3.0, 2.0, 6.0, 5.5)),
    "goran": ("averages the gradients over batch and time", (3.0, 2.0, 6.0, 3.1)),
    "hana": ("a syntax error in multihead", (3.0, 2.0, 0.0, 9.0)),
    "ivo": ("an endless loop in multihead_backward", (3.0, 2.0, 6.0, 0.0)),
    "jun": ("a cell that ends the Python process", ALL),
    "kim": ("deleted the test cell of merge_heads", ALL),
    "lena": ("renamed the notebook", ALL),
    "milo": ("prints, warns, plots nothing, adds cells: all right all the same", ALL),
    "nora": ("handed in an empty file", NOTHING),
}
#: All others answered the question.
UNANSWERED = ("chen", "nora")


@pytest.fixture(scope="module")
def demo(made_once: Callable[..., Path], program: Callable[..., Any]) -> tuple[Path, str]:
    """The demonstration's course, and what was printed."""
    folder = made_once("demo", lambda folder: program("demo", cwd=folder, TMPDIR=str(folder)))
    code, out, err = json.loads((folder / "done.json").read_text())
    assert (0, "") == (code, err)
    (course,) = folder.glob("autograder-demo-*")
    return course, out


def test_every_story_has_its_effect(demo: tuple[Path, str], program: Callable[..., Any]) -> None:
    course, _ = demo
    results = json.loads(program("grade", "multihead", "--json", "-", cwd=course).out)["submissions"]
    points = {one["student"]: tuple(row["score"] for row in one["exercises"])[:4] for one in results}
    assert {student: earned for student, (_, earned) in STORIES.items()} == points
    by_name = {one["student"]: one for one in results}
    lost = {
        student: {
            check["name"] for check in by_name[student]["exercises"][3]["checks"] if not check["points"]
        }
        for student in ("fay", "goran")
    }
    assert {"visible", "dx", "dtypes"} <= lost["fay"]
    assert not {"dwq", "dwk", "dwv", "dwo"} & lost["fay"]
    assert {"dwq", "dwk", "dwv", "dwo"} <= lost["goran"]
    assert "dx" not in lost["goran"]
    ivo = by_name["ivo"]["exercises"][3]["checks"]
    assert {"timed_out"} == {check["verdict"] for check in ivo if check["max_points"]}
    diagnoses = {student: diagnosed(by_name[student]) for student in ("dora", "emil", "fay", "goran")}
    assert all(1 == len(found) for found in diagnoses.values()), diagnoses
    assert ["nora"] == [student for student, one in by_name.items() if one["status"] != "graded"]


def diagnosed(entry: dict[str, Any]) -> set[str]:
    """The known mistakes that explain a student's failures."""
    checks = [check for row in entry["exercises"] for check in row["checks"]]
    return {check["diagnosis"]["id"] for check in checks if check["diagnosis"]}


def test_what_it_prints_fits_80_columns_and_tells_every_story(demo: tuple[Path, str]) -> None:
    course, out = demo
    lines = out.splitlines()
    assert max(len(line) for line in lines if str(course) not in line) <= 80
    for student, (story, earned) in STORIES.items():
        assert f"  {student:<5}  {story}" in lines
        points = " +".join(f"{one:g}" for one in earned)
        answer = "0" if student in UNANSWERED else "–"
        assert re.search(rf"^ {student} +{points} +{answer} +{sum(earned):g} *$", out, re.MULTILINE)
    assert "multihead: 14 submissions" in lines
    waiting, _, worth_a_look = out.partition("Waits for a person to grade it:")[2].partition("Worth a look:")
    assert f"one_key of {', '.join(one for one in STORIES if one not in UNANSWERED)}" == " ".join(
        waiting.split()
    )
    assert ["hana", "ivo", "jun", "kim", "lena", "nora"] == re.findall(r"^(\w+)$", worth_a_look, re.MULTILINE)


def test_where_it_says_to_look_there_is_something(
    demo: tuple[Path, str], program: Callable[..., Any]
) -> None:
    course, out = demo
    where = out.partition("Where to look.")[2]
    assert f"\n  {course}\n" in where
    (page,) = re.findall(r"^  (autograded/\S+) +graded notebook", where, re.MULTILINE)
    assert (course / page / "multihead.ipynb").is_file()
    assert (course / "gradebook.db").is_file()
    (notebook,) = re.findall(r"^  autograder check (\S+)$", where, re.MULTILINE)
    checked = program("check", notebook, cwd=course)
    assert 1 == checked.code
    assert "split_heads              0 / 3" in checked.out


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path, autograder: Callable[..., Any]) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    done = autograder("demo", "--into", tmp_path)
    expected = f"autograder: {tmp_path} is not empty. Name a new folder for the demonstration.\n"
    assert (2, "", expected) == (done.code, done.out, done.err)
    assert [tmp_path / "thesis.txt"] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["multihaed"], "There is no demonstration of 'multihaed'. Did you mean 'multihead'?"),
        (["--into", "{file}"], "The folder {file} cannot be made: File exists."),
        (["--into", "{file}/below"], "The folder {file}/below cannot be made: Not a directory."),
    ],
)
def test_wrong_use_is_one_message_and_leaves_nothing_behind(
    words: list[str], complaint: str, tmp_path: Path, autograder: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = autograder("demo", *(word.format(file=file) for word in words))
    assert (2, "", f"autograder: {complaint.format(file=file)}\n") == (done.code, done.out, done.err)
    assert [file] == list(tmp_path.iterdir())
