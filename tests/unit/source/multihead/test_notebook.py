"""The source notebook: cells, points and stubs as agreed, and the code of the reference."""

import ast
import inspect
import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

import multihead as reference
import visible_checks

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "source" / "multihead"
NOTEBOOK = FOLDER / "multihead.ipynb"
POINTS = {
    "test_split_heads": 3,
    "test_merge_heads": 2,
    "test_multihead": 6,
    "test_multihead_backward": 9,
    "one_key": 2,
}
EXERCISES = ("split_heads", "merge_heads", "multihead", "multihead_backward")
IN_KERNEL = '__import__("autograder.usecases.in_kernel", fromlist=["score"])'
#: What would give a solution away in a hint.
GIVEAWAYS = ("0, 2, 1, 3", "->", ".T", "swapaxes", "moveaxis", "np.inexact", "astype", "np.integer)")
BEGIN, END = "    ### BEGIN SOLUTION\n", "    ### END SOLUTION"


@pytest.fixture(scope="module")
def cells() -> list[Any]:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    return list(notebook.cells)


@pytest.fixture(scope="module")
def graded(cells: list[Any]) -> dict[str, Any]:
    """The cells that nbgrader knows, by grade id and in order."""
    return {cell.metadata.nbgrader.grade_id: cell for cell in cells if "nbgrader" in cell.metadata}


def marks(cell: Any) -> tuple[bool, bool, bool, bool]:
    nbgrader = cell.metadata.nbgrader
    return nbgrader.grade, nbgrader.solution, nbgrader.locked, nbgrader.task


def plain(code: str) -> str:
    """The syntax tree of a function without docstring and annotations, as text."""
    (function,) = ast.parse(code).body
    assert isinstance(function, ast.FunctionDef)
    assert ast.get_docstring(function) is not None
    function.body = function.body[1:]
    function.returns = None
    for argument in function.args.args:
        argument.annotation = None
    return ast.dump(function)


def test_each_solution_cell_is_followed_by_its_test_cell_and_the_question_comes_last(
    graded: dict[str, Any],
) -> None:
    in_pairs = [one for name in EXERCISES for one in (name, f"test_{name}")]
    assert [*in_pairs, "one_key"] == list(graded)


def test_points_add_up_to_22(graded: dict[str, Any]) -> None:
    points = {name: cell.metadata.nbgrader.points for name, cell in graded.items() if marks(cell)[0]}
    assert POINTS == points
    assert 22 == sum(points.values())


def test_headings_name_the_points_that_nbgrader_gives(cells: list[Any]) -> None:
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    for name in EXERCISES:
        assert f"`{name}` ({POINTS[f'test_{name}']} points)" in text
    assert f"one key ({POINTS['one_key']} points)" in text


def test_test_cells_are_locked_solutions_are_not_and_the_question_is_graded_by_hand(
    graded: dict[str, Any],
) -> None:
    for name in EXERCISES:
        assert ("code", (False, True, False, False)) == (graded[name].cell_type, marks(graded[name]))
        test = graded[f"test_{name}"]
        assert ("code", (True, False, True, False)) == (test.cell_type, marks(test))
    assert ("markdown", (True, True, False, False)) == (graded["one_key"].cell_type, marks(graded["one_key"]))
    assert {3} == {cell.metadata.nbgrader.schema_version for cell in graded.values()}


@pytest.mark.parametrize("name", EXERCISES)
def test_a_test_cell_calls_the_visible_check_then_names_the_exercise_in_a_hidden_region(
    name: str, graded: dict[str, Any]
) -> None:
    check = getattr(visible_checks, f"check_{name}")
    arguments = ", ".join(inspect.signature(check).parameters)
    assert [
        f"visible_checks.check_{name}({arguments})",
        "### BEGIN HIDDEN TESTS",
        f'{IN_KERNEL}.score("multihead", "{name}", globals())',
        "### END HIDDEN TESTS",
    ] == graded[f"test_{name}"].source.splitlines()


@pytest.mark.parametrize("name", EXERCISES)
def test_a_solution_cell_holds_the_code_of_the_reference(name: str, graded: dict[str, Any]) -> None:
    assert plain(inspect.getsource(getattr(reference, name))) == plain(graded[name].source)


@pytest.mark.parametrize("name", EXERCISES)
def test_students_keep_the_signature_and_a_docstring_with_shapes(name: str, graded: dict[str, Any]) -> None:
    kept, rest = graded[name].source.split(BEGIN)
    assert rest.endswith(END)
    (function,) = ast.parse(kept).body
    assert isinstance(function, ast.FunctionDef)
    assert 1 == len(function.body)
    assert "shape (B, T, " in (ast.get_docstring(function) or "")


def test_the_reference_imports_the_given_attention_and_there_is_no_other() -> None:
    given = FOLDER / "attention.py"
    assert given.samefile(inspect.getfile(reference.attention))
    assert given.samefile(inspect.getfile(reference.attention_backward))
    # Folders in solutions/ are generated from source/ as a whole.
    written = [*(ROOT / "solutions").glob("attention.py"), *(ROOT / "source").rglob("attention.py")]
    assert [given] == written


def test_nothing_but_solution_cells_the_test_cells_and_the_answer_is_hidden(cells: list[Any]) -> None:
    for cell in cells:
        if "nbgrader" not in cell.metadata:
            assert "BEGIN SOLUTION" not in cell.source
            assert "HIDDEN TESTS" not in cell.source


def test_the_file_has_no_outputs_stable_ids_and_the_form_that_nbformat_writes(cells: list[Any]) -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    raw = json.loads(text)
    assert (4, 5) == (raw["nbformat"], raw["nbformat_minor"])
    assert nbformat.writes(nbformat.read(NOTEBOOK, as_version=4)) + "\n" == text
    assert len(cells) == len({cell.id for cell in cells})
    for cell in cells:
        assert cell.cell_type == "markdown" or (cell.outputs, cell.execution_count) == ([], None)


@pytest.mark.parametrize("name", EXERCISES)
def test_hints_stand_below_the_check_and_each_opens_within_the_one_before(
    name: str, cells: list[Any], graded: dict[str, Any]
) -> None:
    hints = cells[cells.index(graded[f"test_{name}"]) + 1]
    assert f"{name.replace('_', '-')}-hints" == hints.id
    assert "markdown" == hints.cell_type
    tags = re.findall(r"</?details>", hints.source)
    assert ["<details>"] * 3 + ["</details>"] * 3 == tags
    assert ["1", "2", "3"] == re.findall(r"<summary>.*?Hint (\d): .*</summary>", hints.source)


@pytest.mark.parametrize("name", EXERCISES)
def test_no_text_holds_a_line_of_the_solution(name: str, cells: list[Any], graded: dict[str, Any]) -> None:
    _, rest = graded[name].source.split(BEGIN)
    lines = {line.strip() for line in rest.removesuffix(END).splitlines() if len(line.strip()) > 1}
    text = "\n".join(cell.source for cell in cells if "nbgrader" not in cell.metadata)
    assert lines
    assert set() == {one for one in {*lines, *GIVEAWAYS} if one in text}


def test_code_cells_of_the_lesson_draw_nothing(cells: list[Any]) -> None:
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert not re.search(r"^[%!]|matplotlib|display", code, re.MULTILINE)


def test_only_what_students_need_travels_with_the_notebook() -> None:
    files = {path.name for path in FOLDER.iterdir() if not path.name.startswith((".", "__"))}
    modules = {
        "attention.py",
        "layer_examples.py",
        "outcomes.py",
        "pictures.py",
        "visible_checks.py",
        "worked_examples.py",
    }
    assert modules | {"README.md", "figures", "multihead.ipynb", "requirements.txt"} == files
    assert {".svg"} == {path.suffix for path in (FOLDER / "figures").iterdir()}
