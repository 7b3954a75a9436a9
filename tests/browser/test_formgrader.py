"""An instructor in formgrader: the list, graded pages, a question graded by hand, the buttons."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from autograder.assignments.catalog import KIT, load_assignment
from autograder.checking.simulated import SimulatedStudent
from autograder.usecases.demo import build_course, hand_in, simulated_class

RELEASED = KIT.parent / "assignments/multihead/multihead.ipynb"
CLASS = ("ada", "dora", "nora", "zoe")
HOSTILE = """
My answer. <script>document.title = "HOSTILE"</script> <img src="x" onerror="document.title='HOSTILE'">
![](https://tracker.example/x.png) <svg onload="document.title='HOSTILE'"></svg>
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graded course: all right, wrong, nothing that can be read, and one who attacks whoever reads it."""
    folder = tmp_path_factory.mktemp("course") / "course"
    build_course(folder)
    assignment = load_assignment(folder, "multihead")
    released = json.loads(RELEASED.read_text())
    known: dict[str, SimulatedStudent] = {one.id: one for one in simulated_class("multihead")}
    zoe = replace(known["ada"], id="zoe", cells={**known["ada"].cells, "one_key": HOSTILE})
    for student in CLASS:
        hand_in(assignment, zoe if student == "zoe" else known[student], released)
    grade(folder)
    return folder


@pytest.fixture(scope="module")
def server(serve: Callable[[Path], Any], course: Path) -> Any:
    return serve(course)


@pytest.fixture
def lab(server: Any, page: Any) -> Any:
    """The server, on which the page is logged in."""
    server.log_in(page)
    return server


def grade(course: Path, *words: str) -> None:
    program = Path(sys.executable).with_name("autograder")
    subprocess.run([program, "grade", "multihead", *words], cwd=course, check=True, capture_output=True)


def grades(course: Path, student: str, cell: str) -> tuple[float | None, float | None, bool]:
    """Automatic and manual score, and whether a person has to look at it."""
    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        found = book.find_grade(cell, "multihead", "multihead", student)
        return found.auto_score, found.manual_score, found.needs_manual_grade


def open_submission(page: Any, lab: Any, course: Path, student: str) -> None:
    """Open the page on which a submission is graded."""
    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        submission = book.find_submission_notebook("multihead", "multihead", student).id
    page.goto(lab.url(f"formgrader/submissions/{submission}/"))
    page.locator("#one_key").wait_for()
    page.wait_for_function("formgrader.grades.loaded && formgrader.comments.loaded")


def row_of(page: Any, student: str) -> Any:
    """A student's row in the list of submissions."""
    return page.locator("tr", has=page.locator(f"td.student-id:text-is('{student}')"))


def press(page: Any, student: str, button: str) -> str:
    """Press one of the buttons of a student's row; returns what formgrader then says."""
    row_of(page, student).locator(f"td.{button} a").click()
    dialog = page.locator(".modal.in")
    dialog.wait_for()
    said = str(dialog.inner_text())
    dialog.get_by_role("button", name="OK").click()
    dialog.wait_for(state="detached")
    return said


def test_submissions_are_listed_in_jupyterlab_and_every_page_opens(page: Any, lab: Any, course: Path) -> None:
    page.goto(lab.url("lab"))
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.get_by_role("menuitem", name="Formgrader", exact=True).click()
    inside = page.frame_locator("iframe[src*='formgrader']")
    inside.locator("td.num-submissions a", has_text="4").click()
    for student in CLASS:
        inside.locator(f"td.student-id:text-is('{student}')").wait_for()
    shown = [row.inner_text() for row in inside.locator("tbody tr").all()]
    rows = {name: next(row for row in shown if f"\t{name}\t" in row) for name in CLASS}
    assert len(CLASS) == len(shown)
    assert "needs manual grading\t20 / 22" in rows["ada"]
    assert "graded\t0 / 22" in rows["nora"]
    assert "needs" not in rows["nora"]
    for number in range(1, len(CLASS) + 1):
        inside.get_by_role("link", name="Manual Grading").click()
        # Assignment and notebook have one name: by the address, no page is clicked twice.
        for address in ("gradebook/multihead", "gradebook/multihead/multihead"):
            inside.locator(f"tbody a[href$='/formgrader/{address}']").click()
        inside.locator("tbody").get_by_role("link", name=f"Submission #{number}", exact=True).click()
        inside.locator("#test_multihead_backward").wait_for()


def test_a_failing_page_and_a_malformed_one_say_what_is_wrong(page: Any, lab: Any, course: Path) -> None:
    open_submission(page, lab, course, "dora")
    text = page.get_by_role("main").inner_text()
    assert "split_heads: 0 of 3 points" in text
    assert "known mistake" in text
    assert "x.reshape(B, heads, T, C // heads)" in text
    table = page.locator("table", has=page.locator("td:text-is('bad_heads')"))
    assert ["", "Check", "Points", ""] == table.locator("th").all_inner_texts()
    assert page.locator("math").count() > 10
    open_submission(page, lab, course, "nora")
    assert (
        "The file that was handed in is empty (0 bytes)."
        in page.get_by_role("main").locator(".cell").first.inner_text()
    )


def test_nothing_that_a_student_wrote_runs_on_the_page(page: Any, lab: Any, course: Path) -> None:
    open_submission(page, lab, course, "zoe")
    page.wait_for_timeout(500)
    assert "multihead" == page.title()
    assert '<script>document.title = "HOSTILE"</script>' in page.get_by_role("main").inner_text()


def test_a_question_graded_by_hand_and_its_comment_survive_a_regrade(
    page: Any, lab: Any, course: Path
) -> None:
    open_submission(page, lab, course, "ada")
    assert "needs_manual_grade" in (page.locator("#one_key").get_attribute("class") or "")
    with page.expect_response(lambda answer: "/api/grade/" in answer.url):
        page.locator("#one_key").fill("1.5")
        page.locator("#one_key").press("Escape")
    with page.expect_response(lambda answer: "/api/comment/" in answer.url):
        page.locator("#one_key-comment").fill("Nearly: what of dy?")
        page.locator("#one_key-comment").press("Escape")
    assert (None, 1.5, False) == grades(course, "ada", "one_key")
    grade(course, "--force")
    page.goto(lab.url("formgrader/manage_submissions/multihead"))
    assert "Successfully autograded" in press(page, "ada", "autograde")
    assert (None, 1.5, False) == grades(course, "ada", "one_key")
    assert "21.5 / 22" in row_of(page, "ada").inner_text()
    assert "Successfully generated feedback" in press(page, "ada", "generate-feedback")
    assert "Nearly: what of dy?" in (course / "feedback/ada/multihead/multihead.html").read_text()
    open_submission(page, lab, course, "ada")
    assert "1.5" == page.locator("#one_key").input_value()
    assert "Nearly: what of dy?" == page.locator("#one_key-comment").input_value()


def test_the_autograde_button_hands_a_submission_to_the_judge(page: Any, lab: Any, course: Path) -> None:
    shutil.copytree(course / "submitted/dora", course / "submitted/eve")
    page.goto(lab.url("formgrader/manage_submissions/multihead"))
    assert "needs autograding" in row_of(page, "eve").inner_text()
    said = press(page, "eve", "autograde")
    assert "Successfully autograded 'multihead' for student 'eve'." in said
    assert grades(course, "dora", "test_split_heads") == grades(course, "eve", "test_split_heads")
    row_of(page, "eve").get_by_text("needs manual grading").wait_for()
    shutil.copy(course / "submitted/ada/multihead/multihead.ipynb", course / "submitted/eve/multihead")
    press(page, "eve", "autograde")
    row_of(page, "eve").get_by_text("20 / 22").wait_for()
    assert "Successfully autograded" in press(page, "nora", "autograde")
    open_submission(page, lab, course, "nora")
    assert (
        "The file that was handed in is empty (0 bytes)."
        in page.get_by_role("main").locator(".cell").first.inner_text()
    )
