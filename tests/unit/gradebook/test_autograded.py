from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbgrader.nbgraderformat import MetadataValidator

from autograder.gradebook.autograded import CODE_ELSEWHERE, MISSING_CODE, MISSING_TEXT, build_autograded
from autograder.model import CheckResult, ExerciseResult, Status, SubmissionResult, Verdict
from autograder.notebooks.executed import ExecutedNotebook
from autograder.notebooks.reading import read_notebook
from autograder.notebooks.salvage import RunCell, plan
from autograder.notebooks.source import SourceNotebook, read_source

F = "def f(x):\n    return x"
G = "def g(x):\n    return x"
STREAM = {"output_type": "stream", "name": "stdout", "text": "hello\n"}
RESULT = {"output_type": "execute_result", "data": {"text/plain": "7"}, "metadata": {}, "execution_count": 99}
Make = Callable[..., Any]


def result(status: Status = Status.GRADED, **more: Any) -> SubmissionResult:
    check = CheckResult("values", Verdict.PASSED, 2.0, 2.0, "Right.", detail="hidden 42")
    exercises = (ExerciseResult("f", 2.0, 2.0, (check,)), ExerciseResult("g", 0.0, 1.0))
    return SubmissionResult("s01", 2.0, 4.0, status, exercises=exercises, **more)


@pytest.fixture
def released(build: Any) -> dict[str, Any]:
    notebook: dict[str, Any] = build.notebook(
        build.markdown("# Title"),
        build.code("import numpy", "setup", locked=True, checksum="c0" * 16),
        build.solution("f", "raise NotImplementedError"),
        build.test("f", 2, "check(f)"),
        build.solution("g", "raise NotImplementedError"),
        build.test("g", 1, "check(g)"),
        build.question("why", 1, "YOUR ANSWER HERE"),
    )
    notebook["metadata"] = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return notebook


@pytest.fixture
def source(tmp_path: Path, build: Any, released: dict[str, Any]) -> SourceNotebook:
    path = tmp_path / "lab.ipynb"
    path.write_bytes(build.bytes(*released["cells"]))
    return read_source(path)


@pytest.fixture
def make(build: Any, released: dict[str, Any], source: SourceNotebook) -> Make:
    """Builds the autograded notebook of a submission of these cells; every run cell prints something."""

    def autograded(*cells: dict[str, Any], of: SubmissionResult | None = None) -> Any:
        submission = read_notebook(build.bytes(*cells))
        ran = [step.cell_index for step in plan(submission, source).steps if isinstance(step, RunCell)]
        outputs = dict.fromkeys(ran, (STREAM, RESULT))
        return valid(
            build_autograded(released, source, ExecutedNotebook(submission, outputs), of or result())
        )

    return autograded


def valid(notebook: dict[str, Any]) -> Any:
    """The notebook as Jupyter reads it; fails where nbformat or nbgrader would complain."""
    node = nbformat.from_dict(notebook)
    nbformat.validate(node)
    MetadataValidator().validate_nb(node)
    return node


def grade_ids(notebook: Any) -> list[str | None]:
    return [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]


def complete(build: Any) -> list[dict[str, Any]]:
    return [
        build.code("import numpy", "setup"),
        build.solution("f", F),
        build.code("f(1)"),
        build.test("f", 2, "check(f)"),
        build.markdown("my notes"),
        build.solution("g", G),
        build.test("g", 1, "check(g)"),
        build.question("why", 1, "Because."),
    ]


def test_the_students_cells_keep_their_order_texts_and_outputs(make: Make, build: Any) -> None:
    notebook = make(*complete(build))
    assert ["setup", "f", None, "test_f", None, "g", "test_g", "why"] == grade_ids(notebook)
    assert [F, "f(1)"] == [cell.source for cell in notebook.cells[1:3]]
    assert notebook.cells[1].outputs[0] == STREAM
    assert [1, 2, 3, None] == [cell.execution_count for cell in notebook.cells[:4]]
    assert notebook.cells[2].outputs[1].execution_count == 3
    assert notebook.metadata.kernelspec.name == "python3"


def test_test_cells_have_their_released_text_and_our_verdicts(make: Make, build: Any) -> None:
    cells = complete(build)
    cells[3] = build.test("f", 1000, "f = cheat")
    test = make(*cells).cells[3]
    assert test.source == "check(f)"
    assert test.metadata.nbgrader.points == 2
    assert ["display_data"] == [output.output_type for output in test.outputs]
    assert "✓ values (2 / 2): Right." in test.outputs[0].data["text/plain"]
    assert test.metadata.autograder.checks[0].verdict == "passed"


def test_nothing_for_the_instructor_alone_is_in_the_notebook(make: Make, build: Any) -> None:
    assert "hidden 42" not in nbformat.writes(make(*complete(build)))


def test_marks_come_from_the_release_whatever_the_submission_claims(make: Make, build: Any) -> None:
    cells = complete(build)
    cells[1] = build.code(F, "f", grade=True, points=1000, locked=True)
    cells[0] = build.code("import cheat", "setup")
    notebook = make(*cells)
    marks = notebook.cells[1].metadata.nbgrader
    assert (False, True, False) == (marks.grade, marks.solution, marks.locked)
    assert "points" not in marks
    assert notebook.cells[0].source == "import numpy"
    assert notebook.cells[0].metadata.nbgrader.checksum == "c0" * 16


def test_lost_cells_are_put_back_after_the_one_before_them(make: Make, build: Any) -> None:
    notebook = make(build.code("x = 1"), build.solution("f", F), build.markdown("notes"))
    assert ["setup", None, "f", "test_f", "g", "test_g", "why", None] == grade_ids(notebook)
    assert ["import numpy", MISSING_CODE, MISSING_TEXT] == [notebook.cells[i].source for i in (0, 4, 6)]


def test_an_empty_notebook_gets_every_marked_cell_back(make: Make, build: Any) -> None:
    notebook = make(build.markdown("nothing"))
    assert ["setup", "f", "test_f", "g", "test_g", "why", None] == grade_ids(notebook)


def test_two_functions_in_one_cell_leave_a_pointer_for_the_second(make: Make, build: Any) -> None:
    notebook = make(build.solution("f", f"{F}\n\n{G}"), build.test("f"), build.test("g"))
    place = grade_ids(notebook).index("g")
    assert notebook.cells[place].source == CODE_ELSEWHERE


def test_of_copied_cells_only_the_one_that_counts_keeps_its_mark(make: Make, build: Any) -> None:
    cells = complete(build)
    notebook = make(*cells[:2], *cells[1:4], *cells[3:])
    assert ["setup", None, "f", None, None, "test_f", None, "g", "test_g", "why"] == grade_ids(notebook)


def test_retyped_cells_are_turned_back(make: Make, build: Any) -> None:
    cells = complete(build)
    cells[1] = build.markdown(F, "f")
    cells[7] = build.code("Because.", "why")
    notebook = make(*cells)
    assert ["code", "markdown"] == [notebook.cells[i].cell_type for i in (1, 7)]
    assert notebook.cells[1].outputs[0] == STREAM


def test_a_function_written_into_the_test_cell_is_shown_above_it(make: Make, build: Any) -> None:
    notebook = make(build.test("f", 2, f"{F}\ncheck(f)"), build.solution("g", G))
    place = grade_ids(notebook).index("test_f")
    assert notebook.cells[place - 1].source == f"{F}\ncheck(f)"
    assert notebook.cells[place].source == "check(f)"


def test_pictures_attached_to_an_answer_are_kept(make: Make, build: Any) -> None:
    cells = complete(build)
    cells[7]["attachments"] = {"a.png": {"image/png": "iVBORw0KGgo="}}
    assert make(*cells).cells[7].attachments == {"a.png": {"image/png": "iVBORw0KGgo="}}


def test_an_unreadable_submission_shows_the_release_with_the_reason_on_top(
    released: dict[str, Any], source: SourceNotebook
) -> None:
    of = result(Status.MALFORMED, reason="The file is a <b>web page</b>, not a notebook.")
    notebook = valid(build_autograded(released, source, None, of))
    assert [None, None, "setup", "f", "test_f", "g", "test_g", "why"] == grade_ids(notebook)
    assert notebook.cells[0].source == "**The file is a &#60;b&#62;web page&#60;/b&#62;, not a notebook.**"
    assert notebook.cells[3].source == "raise NotImplementedError"
    assert notebook.metadata.autograder.status == "malformed"


def test_a_fault_of_ours_and_notes_are_said_on_top(make: Make, build: Any) -> None:
    of = result(Status.JUDGE_ERROR, notes=("A note.",))
    assert make(*complete(build), of=of).cells[0].source.split("\n\n") == [
        "**This notebook needs attention:** the grading program failed on it, not the student's code.",
        "- A note.",
    ]


def test_the_release_itself_is_not_changed_by_building(
    released: dict[str, Any], source: SourceNotebook, build: Any
) -> None:
    before = build.bytes(*released["cells"])
    build_autograded(released, source, None, result())
    assert before == build.bytes(*released["cells"])


def test_what_feedback_needs_stands_in_the_metadata(make: Make, build: Any) -> None:
    notebook = make(*complete(build), of=result(notes=("A note.",)))
    assert {"status": "graded", "reason": None, "notes": ["A note."], "handed_in": True} == dict(
        notebook.metadata.autograder
    )
    assert {"summary": True} == dict(notebook.cells[0].metadata.autograder)
    numbers = [cell.metadata.get("autograder", {}).get("cell") for cell in notebook.cells[1:]]
    assert [number for number in numbers if number is not None] == sorted(
        number for number in numbers if number is not None
    )
    assert 1 in numbers


def test_what_only_the_instructor_may_know_stands_in_no_metadata(make: Make, build: Any) -> None:
    check = CheckResult("values", Verdict.FAILED, 0.0, 2.0, "Wrong.", detail="hidden 42", attempt=1)
    of = SubmissionResult(
        "s01", 0.0, 4.0, Status.GRADED, exercises=(ExerciseResult("f", 0.0, 2.0, (check,)),)
    )
    notebook = make(*complete(build), of=of)
    (cell,) = [cell for cell in notebook.cells if "checks" in cell.metadata.get("autograder", {})]
    assert {"name", "verdict", "points", "max_points", "message", "hint", "diagnosis"} == set(
        cell.metadata.autograder.checks[0]
    )


def test_the_reason_for_a_fault_of_ours_stands_in_no_metadata(
    released: dict[str, Any], source: SourceNotebook
) -> None:
    fault = SubmissionResult("s01", None, 4.0, Status.JUDGE_ERROR, "It failed on hidden 42.")
    about = build_autograded(released, source, None, fault)["metadata"]["autograder"]
    assert {"status": "judge_error", "reason": None, "notes": [], "handed_in": False} == about


IDS = st.sampled_from([None, "setup", "f", "test_f", "g", "test_g", "why", "other"])
TEXTS = st.sampled_from([F, f"{F}\n{G}", "x", "", "check(f)", "YOUR ANSWER HERE"])
CELLS = st.lists(st.tuples(st.sampled_from(["code", "markdown", "raw"]), TEXTS, IDS), min_size=1, max_size=10)


@settings(
    max_examples=100,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(CELLS)
def test_whatever_the_submission_nbgrader_finds_every_mark_exactly_once(
    make: Make, build: Any, cells: list[tuple[str, str, str | None]]
) -> None:
    notebook = make(*[getattr(build, kind)(text, grade_id) for kind, text, grade_id in cells])
    marks = sorted(grade_id for grade_id in grade_ids(notebook) if grade_id is not None)
    assert ["f", "g", "setup", "test_f", "test_g", "why"] == marks
