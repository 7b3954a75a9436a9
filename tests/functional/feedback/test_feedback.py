"""``autograder feedback`` on a class in which nearly everything happened: what students get, what never."""

import html
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.assignments.private import grading_lock

pytestmark = pytest.mark.functional

Json = dict[str, Any]

CSP = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
KINDS = ("html", "md", "txt")


def feedback_of(course: Path, student: str, kind: str = "html") -> str:
    return (course / "feedback" / student / "multihead" / f"multihead.{kind}").read_text(encoding="utf-8")


def stamps(course: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in (course / "feedback").rglob("*") if path.is_file()}


# What is there.


def test_every_graded_student_gets_a_page_markdown_and_text(fed: Path) -> None:
    graded = {path.name for path in (fed / "autograded").iterdir()}
    assert {"zoë hostile", "empty", "nothing", "killed", "fault-before"} < graded
    assert graded == {path.name for path in (fed / "feedback").iterdir()}
    for student in graded:
        assert {f"multihead.{kind}" for kind in KINDS} == {
            path.name for path in (fed / "feedback" / student / "multihead").iterdir()
        }


def test_the_command_says_what_it_did_and_what_is_still_to_do(fed: Path) -> None:
    code, out, err = json.loads((fed.parent / "done.json").read_text())
    assert (0, "") == (code, err)
    assert re.search(r"^\d+ written, 0 as they were\.$", out, re.MULTILINE)
    assert "Still to be graded by hand" in out
    assert "one_key" in out


def test_scores_stand_on_top_in_all_three(fed: Path) -> None:
    assert "<strong>21.5</strong> of 22 points" in feedback_of(fed, "noisy")
    for kind in ("md", "txt"):
        assert "21.5 of 22 points." in feedback_of(fed, "noisy", kind)


def test_grades_and_comments_of_the_instructor_are_in_all_three(fed: Path) -> None:
    page = feedback_of(fed, "noisy")
    assert "Say <em>more</em> of <math" in page
    assert "graded by your instructor" in page
    assert "> Say *more* of $W_Q$ &lt;b>here&lt;/b>." in feedback_of(fed, "noisy", "md")
    assert "> Say *more* of $W_Q$ <b>here</b>." in feedback_of(fed, "noisy", "txt")
    zeros = feedback_of(fed, "zeros")
    for part in ("score set by your instructor", "The checks alone gave 0.", "Extra credit: 0.5."):
        assert part in zeros
    assert "1.5 / 2  score set by your instructor" in feedback_of(fed, "zeros", "txt")


def test_a_known_mistake_is_named_with_its_hint(fed: Path) -> None:
    record = json.loads((fed / ".autograder/multihead/records/mistaken.json").read_text())
    checks = [check for exercise in record["result"]["exercises"] for check in exercise["checks"]]
    (found,) = [check["diagnosis"] for check in checks if check["diagnosis"] is not None]
    for kind in KINDS:
        words = html.unescape(" ".join(feedback_of(fed, "mistaken", kind).split()))
        assert found["message"] in words
        assert found["hint"] in words


def test_an_exercise_with_all_its_points_can_still_have_something_to_know(fed: Path) -> None:
    assert "multihead: 6 / 6 points\n-----------------------\n- good to know:" in feedback_of(
        fed, "mistaken", "txt"
    )


def test_the_students_code_stands_there_with_what_it_showed(fed: Path) -> None:
    page = feedback_of(fed, "noisy")
    for part in ("printed", "a warning", "ZeroDivisionError", "(1, 2, 2, 2)"):
        assert part in page


def test_the_lesson_is_there_with_its_formulas_and_figures(fed: Path) -> None:
    page = feedback_of(fed, "noisy")
    assert page.count("<math") > 30
    assert page.count('src="data:image/svg+xml;base64,') >= 3
    assert "$" not in re.sub(r"<(pre|code)\b.*?</\1>", "", page.partition("<body>")[2], flags=re.DOTALL)


@pytest.mark.parametrize(
    ("student", "words"),
    [
        ("empty", "The file that was handed in is empty"),
        ("nothing", "No notebook was handed in"),
        ("fault-before", "That is no fault of yours"),
        ("fault-after", "That is no fault of yours"),
        ("renamed", "was graded instead"),
        ("stray", "was left out when the notebook was run"),
    ],
)
def test_what_was_unusual_is_said_in_all_three(fed: Path, student: str, words: str) -> None:
    for kind in KINDS:
        assert words in " ".join(feedback_of(fed, student, kind).split())


def test_a_fault_of_ours_shows_no_score(fed: Path) -> None:
    for student in ("fault-before", "fault-after"):
        for kind in KINDS:
            assert "of 22 points" not in re.sub("<.*?>", "", feedback_of(fed, student, kind))


# What never is.


def test_no_page_can_run_or_load_anything(fed: Path) -> None:
    for path in (fed / "feedback").rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        assert f'<meta content="{CSP}"' in page or f'content="{CSP}"' in page
        tags = re.findall(r"<[^>]*>", page)
        assert not [
            tag
            for tag in tags
            if re.match(r"<(script|iframe|object|embed|link|base|form|audio|video)\b", tag)
        ]
        assert not [
            tag
            for tag in tags
            if re.search(r"\son\w+\s*=|\sstyle\s*=|javascript:", re.sub('"[^"]*"', "", tag))
        ]
        assert not re.findall(r'(?:src|srcset|data|poster)="(?!data:image/)[^"]*"', page)
        assert not re.findall(r'href="(?!#|https?://)[^"]*"', page)
        assert "url(" not in page
        assert "@import" not in page


def test_hidden_things_are_in_no_feedback(fed: Path) -> None:
    markers = (
        "SECRET",
        "HIDDEN TESTS",
        "in_kernel",
        "RECORDED",
        'Traceback (most recent call last):\n  File "/',
    )
    for path in (fed / "feedback").rglob("*.*"):
        text = path.read_text(encoding="utf-8")
        found = [marker for marker in markers if marker in text.replace('"RECO" + "RDED"', "")]
        assert [] == found, path


def test_no_feedback_says_where_things_lie_on_the_grading_machine(fed: Path) -> None:
    shown = html.unescape(feedback_of(fed, "zoë hostile"))
    # What the system's own Python has as its prefix is everybody's.
    python = "/usr" if sys.base_prefix == "/usr" else "python"
    assert f"Paths: . ~ site-packages/numpy/__init__.py visible_checks.py {python}\n" in shown
    assert "File attention.py:" in shown
    folders = {sys.prefix, sys.base_prefix, tempfile.gettempdir(), str(Path.home()), str(fed)} - {"/usr", "/"}
    for path in (fed / "feedback").rglob("*.*"):
        text = html.unescape(path.read_text(encoding="utf-8"))
        assert [] == [folder for folder in folders if f"{folder}/" in text], path


def test_details_that_the_records_hold_are_in_no_feedback(fed: Path) -> None:
    details = set()
    for path in (fed / ".autograder/multihead/records").glob("*.json"):
        for exercise in json.loads(path.read_text())["result"]["exercises"]:
            details |= {check["detail"] for check in exercise["checks"] if check["detail"]}
    assert details
    everything = "\n".join(path.read_text(encoding="utf-8") for path in (fed / "feedback").rglob("*.*"))
    assert [] == [detail for detail in details if detail in everything]


def test_no_control_character_is_in_any_of_them(fed: Path) -> None:
    for path in (fed / "feedback").rglob("*.*"):
        text = path.read_text(encoding="utf-8")
        assert [] == re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text), path


# When it is written.


def test_nothing_is_written_where_nothing_changed(fed_copy: Path, autograder: Callable[..., Any]) -> None:
    before = stamps(fed_copy)
    done = autograder("feedback", "multihead", "--course", fed_copy)
    assert (0, "") == (done.code, done.err)
    assert "0 written" in done.out
    assert before == stamps(fed_copy)


def test_what_changed_by_hand_is_written_anew_although_no_time_stamp_did(
    fed_copy: Path, autograder: Callable[..., Any], set_by_hand: Callable[..., None]
) -> None:
    before = stamps(fed_copy)
    set_by_hand(fed_copy, "right-loops", "one_key", manual_score=2.0)
    set_by_hand(fed_copy, "zeros", "multihead", comment="See me.")
    (fed_copy / "feedback/empty/multihead/multihead.html").unlink()
    shutil.rmtree(fed_copy / "feedback/killed")
    done = autograder("feedback", "multihead", "--course", fed_copy)
    assert 0 == done.code
    assert "4 written" in done.out
    after = stamps(fed_copy)
    changed = {path.parent.parent.name for path in after if after[path] != before.get(path)}
    assert {"right-loops", "zeros", "empty", "killed"} == changed
    assert "22 of 22 points" in feedback_of(fed_copy, "right-loops", "txt")
    assert "See me." in feedback_of(fed_copy, "zeros", "txt")


def test_force_writes_and_students_can_be_chosen(fed_copy: Path, autograder: Callable[..., Any]) -> None:
    before = stamps(fed_copy)
    done = autograder(
        "feedback", "multihead", "--force", "--student", "zeros", "--student", "noisy", "--course", fed_copy
    )
    assert (0, "2 written, 0 as they were.") == (done.code, done.out.splitlines()[0])
    after = stamps(fed_copy)
    assert {"zeros", "noisy"} == {path.parent.parent.name for path in after if after[path] != before[path]}


def test_nbgraders_own_command_makes_the_same_files(fed_copy: Path, program: Callable[..., Any]) -> None:
    ours = {
        path.relative_to(fed_copy): path.read_bytes() for path in (fed_copy / "feedback").rglob("multihead.*")
    }
    shutil.rmtree(fed_copy / "feedback")
    done = program("generate_feedback", "multihead", cwd=fed_copy, name="nbgrader")
    assert 0 == done.code, done.err
    theirs = {
        path.relative_to(fed_copy): path.read_bytes() for path in (fed_copy / "feedback").rglob("multihead.*")
    }
    assert ours == theirs


def test_the_time_stamp_by_which_nbgrader_tells_what_is_new_goes_along(
    fed_copy: Path, autograder: Callable[..., Any]
) -> None:
    (fed_copy / "autograded/zeros/multihead/timestamp.txt").write_text("2026-01-02 03:04:05 UTC")
    done = autograder("feedback", "multihead", "--course", fed_copy)
    assert (0, "1 written") == (done.code, done.out[:9])
    stamp = fed_copy / "feedback/zeros/multihead/timestamp.txt"
    assert "2026-01-02 03:04:05 UTC" == stamp.read_text()


def test_while_a_grader_is_at_work_no_feedback_is_made(
    fed_copy: Path, autograder: Callable[..., Any]
) -> None:
    with grading_lock(fed_copy):
        done = autograder("feedback", "multihead", "--course", fed_copy)
    assert 2 == done.code
    assert "Another grader is at work" in done.err


def test_one_students_fault_stops_nobody_else(
    fed_copy: Path, autograder: Callable[..., Any], set_by_hand: Callable[..., None]
) -> None:
    path = fed_copy / "autograded/zeros/multihead/multihead.ipynb"
    path.unlink()
    path.write_text("{")
    set_by_hand(fed_copy, "noisy", "one_key", manual_score=0.0)
    done = autograder("feedback", "multihead", "--course", fed_copy)
    assert 4 == done.code
    assert "autograder: zeros has no new feedback:" in done.err
    assert "20 of 22 points" in feedback_of(fed_copy, "noisy", "txt")


# One message.


def test_before_anything_was_graded_one_message_says_what_to_do(
    make_course: Callable[[Path], Any], tmp_path: Path, autograder: Callable[..., Any]
) -> None:
    course = make_course(tmp_path / "course")
    done = autograder("feedback", "multihead", "--course", course.folder)
    expected = (
        "autograder: Nothing of 'multihead' has been graded yet. Grade it first: autograder grade multihead\n"
    )
    assert (2, "", expected) == (done.code, done.out, done.err)
    assert not (course.folder / "gradebook.db").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--student", "zeroes"],
            "There is no graded submission of 'multihead' by 'zeroes'. Did you mean 'zeros'?",
        ),
        (["--student", "late"], "'late' has not been graded yet: autograder grade multihead --student late"),
    ],
)
def test_students_without_a_grade_are_refused(
    fed_copy: Path, autograder: Callable[..., Any], words: list[str], message: str
) -> None:
    (fed_copy / "submitted/late/multihead").mkdir(parents=True)
    done = autograder("feedback", "multihead", *words, "--course", fed_copy)
    assert (2, f"autograder: {message}\n") == (done.code, done.err)


def test_a_folder_that_cannot_be_written_is_one_message(
    fed_copy: Path, autograder: Callable[..., Any]
) -> None:
    shutil.rmtree(fed_copy / "feedback")
    (fed_copy / "feedback").write_text("in the way")
    done = autograder("feedback", "multihead", "--course", fed_copy)
    assert 2 == done.code
    assert re.fullmatch(
        r"autograder: The feedback folder .* cannot be written: Not a directory\.\n", done.err
    )
