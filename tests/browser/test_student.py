"""A student in JupyterLab: opens what was handed out, writes, sees the checks pass, validates."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.assignments.catalog import KIT
from autograder.assignments.multihead.demo import RIGHT

EXERCISES = ("split_heads", "merge_heads", "multihead", "multihead_backward")


@pytest.fixture
def lab(serve: Callable[[Path], Any], tmp_path: Path, page: Any) -> Any:
    """JupyterLab in a folder that holds the released files, with the notebook open and its kernel ready."""
    folder = tmp_path / "multihead"
    shutil.copytree(KIT.parent / "assignments/multihead", folder)
    server = serve(folder)
    server.log_in(page)
    page.goto(server.url("lab/tree/multihead.ipynb"))
    page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for()
    return server


def write(page: Any, exercise: str, code: str) -> None:
    """Put code into the place of the exercise's stub, as somebody would who pastes it."""
    cell = page.locator(".jp-CodeCell", has_text=f"def {exercise}(").first
    cell.scroll_into_view_if_needed()
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(code)


def answer(page: Any, text: str) -> None:
    """Answer the question in words."""
    cell = page.locator(".jp-MarkdownCell", has_text="YOUR ANSWER HERE")
    cell.scroll_into_view_if_needed()
    cell.dblclick()
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)


def run_all(page: Any) -> None:
    """Menu Run, Run All Cells; returns when the kernel has nothing left to do."""
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.locator(".jp-Notebook-ExecutionIndicator[data-status='busy']").wait_for(state="detached")


def output_of(page: Any, exercise: str) -> Any:
    """What stands below the exercise's check cell."""
    cell = page.locator(".jp-CodeCell", has_text=f"visible_checks.check_{exercise}(").first
    cell.scroll_into_view_if_needed()
    return cell.locator(".jp-OutputArea-output").first


def validate(page: Any) -> str:
    """Press nbgrader's button; returns what its dialog says."""
    page.get_by_role("button", name="Validate").click()
    dialog = page.locator(".jp-Dialog", has_text="Validation Results")
    dialog.wait_for()
    said = str(dialog.inner_text())
    dialog.get_by_role("button").last.click()
    return said


def test_a_student_writes_the_functions_sees_the_checks_pass_and_validates(page: Any, lab: Any) -> None:
    for exercise in EXERCISES:
        write(page, exercise, RIGHT[exercise])
    answer(page, RIGHT["one_key"])
    run_all(page)
    for done, exercise in enumerate(EXERCISES, start=1):
        output = output_of(page, exercise)
        output.get_by_text(f"Milestone: {done} of 4 done").wait_for()
        assert f"{exercise}: " in output.text_content()
    assert "Success" in validate(page)


def test_a_wrong_function_is_told_in_one_sentence_and_does_not_validate(page: Any, lab: Any) -> None:
    right = RIGHT["split_heads"]
    wrong = right.replace(
        "x.reshape(B, T, heads, C // heads).transpose(0, 2, 1, 3)", "x.reshape(B, heads, T, C // heads)"
    )
    assert right != wrong
    write(page, "split_heads", wrong)
    run_all(page)
    output = output_of(page, "split_heads")
    output.get_by_text("numbers are wrong, the first at").wait_for()
    said = output.text_content()
    assert "expected 4, got 2" in " ".join(said.split())
    assert "Traceback" not in said
    assert "expected 4, got 2" in " ".join(validate(page).split())
