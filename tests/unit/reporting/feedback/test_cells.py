import base64
from pathlib import Path
from typing import Any

import pytest

from autograder.reporting.feedback.cells import (
    MAX_CELLS,
    MAX_MARKDOWN,
    MAX_TEXT,
    MAX_TYPED,
    Lesson,
    ShownNotebook,
    show_notebook,
)

Json = dict[str, Any]

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nrest").decode()


@pytest.fixture
def lesson(tmp_path: Path, build: Any) -> Lesson:
    cells = [
        build.markdown("# Doubling\n\n![two](figures/two.svg)"),
        build.code("from given import two"),
        build.solution("double", "SECRET SOLUTION"),
        build.test("double", 3, "check\n### BEGIN HIDDEN TESTS\nSECRET\n### END HIDDEN TESTS"),
        build.question("why", 2, "SECRET ANSWER"),
    ]
    (tmp_path / "toy.ipynb").write_bytes(build.bytes(*cells))
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures/two.svg").write_bytes(b"<svg/>")
    return Lesson(tmp_path)


def kinds(shown: ShownNotebook) -> list[tuple[bool, list[str]]]:
    return [(block.is_lesson, [cell.kind for cell in block.cells]) for block in shown.blocks]


def test_the_lessons_own_cells_are_folded_together(build: Any, lesson: Lesson) -> None:
    notebook = build.notebook(
        build.markdown("# Doubling\n\n![two](figures/two.svg)\n"),
        build.code("from given import two"),
        build.solution("double", "def double(x): ..."),
        build.markdown("My own words."),
    )
    shown = show_notebook(notebook, lesson)
    assert [(True, ["text", "code"]), (False, ["code", "text"])] == kinds(shown)
    assert ("Doubling",) == shown.blocks[0].headings
    assert 'src="data:image/svg+xml;base64,' in shown.blocks[0].cells[0].text


def test_a_cell_of_the_lesson_that_was_changed_is_the_students(build: Any, lesson: Lesson) -> None:
    shown = show_notebook(build.notebook(build.markdown("# Doubling!")), lesson)
    assert [(False, ["text"])] == kinds(shown)


def test_a_given_cell_that_failed_is_not_folded(build: Any, lesson: Lesson) -> None:
    cell = build.code("from given import two")
    cell["outputs"] = [{"output_type": "error", "ename": "ImportError", "evalue": "", "traceback": ["no"]}]
    assert [(False, ["code"])] == kinds(show_notebook(build.notebook(cell), lesson))


def test_a_students_text_equal_to_a_solution_is_no_part_of_the_lesson(build: Any, lesson: Lesson) -> None:
    assert not lesson.has(build.code("SECRET SOLUTION"))
    assert not lesson.has(build.markdown("SECRET ANSWER"))


def test_test_cells_and_the_summary_are_left_out_whatever_they_hold(build: Any, lesson: Lesson) -> None:
    test = build.test("double", 3, "HIDDEN")
    test["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "HIDDEN"}]
    summary = build.markdown("**The reason HIDDEN**")
    summary["metadata"]["autograder"] = {"summary": True}
    shown = show_notebook(build.notebook(summary, test, build.code("mine")), lesson)
    assert "HIDDEN" not in repr(shown)
    assert [(False, ["code"])] == kinds(shown)


def test_cells_are_numbered_as_in_what_was_handed_in(build: Any, lesson: Lesson) -> None:
    cell = build.code("mine")
    cell["metadata"]["autograder"] = {"cell": 12}
    (block,) = show_notebook(build.notebook(cell), lesson).blocks
    assert 12 == block.cells[0].number


def test_pictures_that_a_student_attached_are_shown_if_they_are_pictures(build: Any, lesson: Lesson) -> None:
    cell = build.markdown("![mine](attachment:a.png) ![bad](attachment:b.svg)")
    cell["attachments"] = {"a.png": {"image/png": PNG}, "b.svg": {"image/svg+xml": PNG}}
    (block,) = show_notebook(build.notebook(cell), lesson).blocks
    assert 1 == block.cells[0].text.count("<img")


def test_raw_cells_are_shown_as_they_are(build: Any, lesson: Lesson) -> None:
    (block,) = show_notebook(build.notebook(build.raw("<b>raw</b>")), lesson).blocks
    assert ("raw", "&lt;b&gt;raw&lt;/b&gt;") == (block.cells[0].kind, str(block.cells[0].text))


def test_a_notebook_with_thousands_of_cells_is_cut_and_says_so(build: Any, lesson: Lesson) -> None:
    notebook = build.notebook(*[build.code("x")] * (MAX_CELLS + 7))
    shown = show_notebook(notebook, lesson)
    assert (MAX_CELLS, 7) == (sum(len(block.cells) for block in shown.blocks), shown.left_out)


def test_only_so_much_of_a_students_markdown_is_laid_out(build: Any, lesson: Lesson) -> None:
    cells = [build.markdown("*x*" * 5000 + str(number)) for number in range(MAX_MARKDOWN // 15_000 + 3)]
    (block,) = show_notebook(build.notebook(*cells), lesson).blocks
    assert "text" == block.cells[0].kind
    assert "raw" == block.cells[-1].kind


def test_a_page_holds_only_so_much_text(build: Any, lesson: Lesson) -> None:
    long = build.raw("x" * (MAX_TYPED + 5))
    shown = show_notebook(build.notebook(*[long] * 30), lesson)
    (block,) = shown.blocks
    assert (MAX_TEXT // MAX_TYPED, 10) == (len(block.cells), shown.left_out)
    assert block.cells[0].text.endswith("x\n[the rest of this cell is not shown here]")


def test_cells_that_count_are_shown_wherever_they_stand(build: Any, lesson: Lesson) -> None:
    before = [build.code("x")] * (MAX_CELLS + 7)
    shown = show_notebook(build.notebook(*before, build.solution("double", "mine")), lesson)
    assert {"double"} == shown.grade_ids
    assert 7 == shown.left_out


@pytest.mark.parametrize(
    "metadata", [{"autograder": 3}, {"autograder": {"cell": "<b>"}}, {"nbgrader": "text"}]
)
def test_metadata_of_any_shape_do_no_harm(build: Any, lesson: Lesson, metadata: Json) -> None:
    cell = build.code("mine")
    cell["metadata"] = metadata
    assert [(False, ["code"])] == kinds(show_notebook(build.notebook(cell), lesson))
