"""The source notebooks: cells, points and stubs as agreed, and the code of the references."""

import ast
import inspect
import json
import re
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

import attention
import multihead
from autograder.assignments.loading import load_module
from autograder.notebooks.source import Exercise, Question, read_source_folder

ROOT = Path(__file__).parents[3]
POINTS = {
    "multihead": {
        "test_split_heads": 3,
        "test_merge_heads": 2,
        "test_multihead": 6,
        "test_multihead_backward": 9,
        "one_key": 2,
    },
    "weighted_attention": {
        "test_causal_mask": 2,
        "test_attention": 6,
        "test_attention_backward": 6,
        "test_weighted_attention": 4,
        "test_weighted_attention_backward": 6,
        "which_projection": 2,
    },
    "gpt": {
        "test_CausalMask": 4,
        "test_MultiHeadAttention": 12,
        "test_build_gpt": 4,
        "more_heads": 2,
    },
    "torch_multihead": {
        "test_MultiHeadAttention": 3,
        "test_split_heads": 3,
        "test_compute_attention": 6,
        "test_combine_heads": 2,
        "test_forward": 8,
        "who_needs_backward": 2,
    },
}


@dataclass(frozen=True)
class Lesson:
    """A lesson as far as it can be read without what its students have installed."""

    name: str
    source_dir: Path
    exercises: tuple[Exercise, ...]
    questions: tuple[Question, ...]
    visible: ModuleType
    reference: str


def read_lesson(name: str) -> Lesson:
    folder = ROOT / "source" / name
    (notebook,) = read_source_folder(folder)
    visible = load_module(folder / "visible_checks.py", helpers=folder)
    reference = (ROOT / "solutions" / f"{name}.py").read_text(encoding="utf-8")
    return Lesson(name, folder, notebook.exercises, notebook.questions, visible, reference)


LESSONS = {name: read_lesson(name) for name in POINTS}
EXERCISES = [(name, exercise.name) for name, one in LESSONS.items() for exercise in one.exercises]
EACH = pytest.mark.parametrize(("lesson", "name"), EXERCISES, indirect=["lesson"])
#: The modules that travel along, packages by their names.
MODULES = {
    "multihead": {"attention", "layer_examples", "outcomes", "pictures", "visible_checks", "worked_examples"},
    "weighted_attention": {
        *("attention_examples", "attention_layer", "autodiff", "experiment", "layer_examples", "outcomes"),
        *("pictures", "visible_checks"),
    },
    "gpt": {
        *("attention_examples", "autodiff", "experiment", "gpt_examples", "layer_examples", "outcomes"),
        *("pictures", "tensor_outcomes", "visible_checks", "worked_examples"),
    },
    "torch_multihead": {
        *("growing", "layer_examples", "module_outcomes", "numpy_numbers", "outcomes", "pictures"),
        *("torch_examples", "visible_checks", "worked_examples"),
    },
}
IN_KERNEL = '__import__("autograder.usecases.in_kernel", fromlist=["score"])'
#: What would give a solution away in a hint.
IN_NUMPY = (
    *("0, 2, 1, 3", "->", ".T", "swapaxes", "moveaxis", "np.inexact", "astype", "np.integer)"),
    *("np.tri", "-np.inf"),
)
IN_TORCH = (
    *("transpose(1, 2)", "transpose(-2", ".mT", "masked_fill(", "math.inf", "softmax(", "sqrt(", "bias="),
    *("super()", "d_model //", "self.output("),
)
GIVEAWAYS = dict.fromkeys(POINTS, IN_NUMPY) | {"torch_multihead": IN_TORCH}
REGION = re.compile(r"^ +### BEGIN SOLUTION\n(.*?)^ +### END SOLUTION$", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module", params=list(LESSONS))
def lesson(request: pytest.FixtureRequest) -> Lesson:
    return LESSONS[request.param]


@pytest.fixture(scope="module")
def cells(lesson: Lesson) -> list[Any]:
    notebook = nbformat.read(lesson.source_dir / f"{lesson.name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    return list(notebook.cells)


@pytest.fixture(scope="module")
def graded(cells: list[Any]) -> dict[str, Any]:
    """The cells that nbgrader knows, by grade id and in order."""
    return {cell.metadata.nbgrader.grade_id: cell for cell in cells if "nbgrader" in cell.metadata}


def marks(cell: Any) -> tuple[bool, bool, bool, bool]:
    nbgrader = cell.metadata.nbgrader
    return nbgrader.grade, nbgrader.solution, nbgrader.locked, nbgrader.task


class Plainer(ast.NodeTransformer):
    """Takes away what a notebook may say in other words: docstrings, and annotations."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        for argument in node.args.args:
            argument.annotation = None
        return self._without_docstring(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._without_docstring(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        assert node.value is not None
        return ast.Assign(targets=[node.target], value=node.value)

    def _without_docstring(self, node: Any) -> Any:
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        return self.generic_visit(node)


def plain(code: str, name: str) -> str:
    """The syntax tree of a function or class without docstrings and annotations, as text."""
    (definition,) = (
        one
        for one in ast.parse(code).body
        if isinstance(one, ast.FunctionDef | ast.ClassDef) and one.name == name
    )
    assert ast.get_docstring(definition) is not None
    return ast.dump(Plainer().visit(definition))


def names(lesson: Lesson) -> list[str]:
    return [one.name for one in lesson.exercises]


def test_each_solution_cell_is_followed_by_its_test_cell_and_the_question_comes_last(
    lesson: Lesson, graded: dict[str, Any]
) -> None:
    in_pairs = [one for name in names(lesson) for one in (name, f"test_{name}")]
    assert [*in_pairs, *(one.name for one in lesson.questions)] == list(graded)


def test_points_are_as_agreed(lesson: Lesson, graded: dict[str, Any]) -> None:
    points = {name: cell.metadata.nbgrader.points for name, cell in graded.items() if marks(cell)[0]}
    assert POINTS[lesson.name] == points


def test_headings_name_the_points_that_nbgrader_gives(lesson: Lesson, cells: list[Any]) -> None:
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    for exercise in lesson.exercises:
        assert f"`{exercise.name}` ({exercise.max_points:g} points)" in text
    for question in lesson.questions:
        assert re.search(rf"^## Question: .* \({question.max_points:g} points\)$", text, re.MULTILINE)


def test_test_cells_are_locked_solutions_are_not_and_the_question_is_graded_by_hand(
    lesson: Lesson, graded: dict[str, Any]
) -> None:
    for name in names(lesson):
        assert ("code", (False, True, False, False)) == (graded[name].cell_type, marks(graded[name]))
        test = graded[f"test_{name}"]
        assert ("code", (True, False, True, False)) == (test.cell_type, marks(test))
    for question in lesson.questions:
        cell = graded[question.name]
        assert ("markdown", (True, True, False, False)) == (cell.cell_type, marks(cell))
    assert {3} == {cell.metadata.nbgrader.schema_version for cell in graded.values()}


@EACH
def test_a_test_cell_calls_the_visible_check_then_names_the_exercise_in_a_hidden_region(
    lesson: Lesson, name: str, graded: dict[str, Any]
) -> None:
    check = getattr(lesson.visible, f"check_{name}")
    arguments = ", ".join(inspect.signature(check).parameters)
    assert [
        f"visible_checks.check_{name}({arguments})",
        "### BEGIN HIDDEN TESTS",
        f'{IN_KERNEL}.score("{lesson.name}", "{name}", globals())',
        "### END HIDDEN TESTS",
    ] == graded[f"test_{name}"].source.splitlines()


@EACH
def test_a_solution_cell_holds_the_code_of_the_reference(
    lesson: Lesson, name: str, graded: dict[str, Any]
) -> None:
    assert plain(lesson.reference, name) == plain(graded[name].source, name)
    assert 1 == len(ast.parse(graded[name].source).body)


@EACH
def test_students_keep_the_signature_and_a_docstring_with_shapes(
    lesson: Lesson, name: str, graded: dict[str, Any]
) -> None:
    source = graded[name].source
    assert source.endswith("### END SOLUTION")
    (kept,) = ast.parse(REGION.sub("", source)).body
    assert isinstance(kept, ast.FunctionDef | ast.ClassDef)
    assert kept.name == name
    functions = [one for one in ast.walk(kept) if isinstance(one, ast.FunctionDef)]
    shapes = r"shape (\((B|T|\.\.\.), |of what)|: the number of "  # an __init__ takes sizes alone
    assert re.search(shapes, ast.get_docstring(functions[-1]) or "")
    for function in functions:  # nothing is left to read but how a class makes itself known to its base
        left = function.body[1:] if ast.get_docstring(function) else function.body
        assert [ast.unparse(one) for one in left] in ([], ["super().__init__()"])


@pytest.mark.parametrize("name", ["attention", "attention_backward"])
def test_what_one_lesson_asks_for_the_next_one_gives(name: str) -> None:
    asked, given = LESSONS["weighted_attention"].reference, inspect.getsource(attention)
    assert plain(asked, name) == plain(given, name)


def test_the_reference_imports_the_given_attention_and_there_is_no_other() -> None:
    given = LESSONS["multihead"].source_dir / "attention.py"
    assert given.samefile(inspect.getfile(multihead.attention))
    assert given.samefile(inspect.getfile(multihead.attention_backward))
    # Folders in solutions/ are generated from source/ as a whole.
    written = [*(ROOT / "solutions").glob("attention.py"), *(ROOT / "source").rglob("attention.py")]
    assert [given] == written


def test_nothing_but_solution_cells_the_test_cells_and_the_answer_is_hidden(cells: list[Any]) -> None:
    for cell in cells:
        if "nbgrader" not in cell.metadata:
            assert "BEGIN SOLUTION" not in cell.source
            assert "HIDDEN TESTS" not in cell.source


def test_the_file_has_no_outputs_stable_ids_and_the_form_that_nbformat_writes(
    lesson: Lesson, cells: list[Any]
) -> None:
    path = lesson.source_dir / f"{lesson.name}.ipynb"
    text = path.read_text(encoding="utf-8")
    raw = json.loads(text)
    assert (4, 5) == (raw["nbformat"], raw["nbformat_minor"])
    assert nbformat.writes(nbformat.read(path, as_version=4)) + "\n" == text
    assert len(cells) == len({cell.id for cell in cells})
    for cell in cells:
        assert cell.cell_type == "markdown" or (cell.outputs, cell.execution_count) == ([], None)


@EACH
def test_hints_stand_below_the_check_and_each_opens_within_the_one_before(
    lesson: Lesson, name: str, cells: list[Any], graded: dict[str, Any]
) -> None:
    hints = cells[cells.index(graded[f"test_{name}"]) + 1]
    assert f"{name.replace('_', '-')}-hints" == hints.id
    assert "markdown" == hints.cell_type
    tags = re.findall(r"</?details>", hints.source)
    assert ["<details>"] * 3 + ["</details>"] * 3 == tags
    assert ["1", "2", "3"] == re.findall(r"<summary>.*?Hint (\d): .*</summary>", hints.source)


@EACH
def test_no_text_holds_a_line_of_the_solution(
    lesson: Lesson, name: str, cells: list[Any], graded: dict[str, Any]
) -> None:
    hidden = "\n".join(REGION.findall(graded[name].source))
    lines = {line.strip() for line in hidden.splitlines() if len(line.strip()) > 11}
    text = "\n".join(cell.source for cell in cells if "nbgrader" not in cell.metadata)
    assert lines
    assert set() == {one for one in {*lines, *GIVEAWAYS[lesson.name]} if one in text}


def test_code_cells_of_the_lesson_draw_nothing(cells: list[Any]) -> None:
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert not re.search(r"^[%!]|matplotlib|display", code, re.MULTILINE)


def test_only_what_students_need_travels_with_the_notebook(lesson: Lesson) -> None:
    files = {path.name for path in lesson.source_dir.iterdir() if not path.name.startswith((".", "__"))}
    others = {"README.md", "figures", f"{lesson.name}.ipynb", "requirements.txt"}
    assert MODULES[lesson.name] == {name.removesuffix(".py") for name in files - others}
    assert others <= files
    assert {".svg"} == {path.suffix for path in (lesson.source_dir / "figures").iterdir()}
