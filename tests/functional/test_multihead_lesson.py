"""The lesson in a real kernel: solved it runs through, a mistake shows one sentence, a missing file too."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

SOURCE = Path(__file__).parents[2] / "source" / "multihead"
EXERCISES = ("split_heads", "merge_heads", "multihead", "multihead_backward")
HIDDEN = re.compile(r"^### BEGIN HIDDEN TESTS.*^### END HIDDEN TESTS\n?", re.DOTALL | re.MULTILINE)
SOLUTION = re.compile(r"### BEGIN SOLUTION.*### END SOLUTION", re.DOTALL)
DIRECT_RESHAPE = "return x.reshape(x.shape[0], heads, x.shape[1], x.shape[2] // heads)"

Bench = Any  # tests/conftest.py

pytestmark = pytest.mark.functional


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a student gets, solved, without the hidden regions."""
    shutil.copytree(SOURCE, tmp_path, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    notebook = nbformat.read(tmp_path / "multihead.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = HIDDEN.sub("", cell.source).rstrip("\n")
    nbformat.write(notebook, tmp_path / "multihead.ipynb")
    return tmp_path


def solve_wrongly(folder: Path) -> None:
    """Write a direct reshape into split_heads."""
    notebook = nbformat.read(folder / "multihead.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "split_heads":
            cell.source = SOLUTION.sub(DIRECT_RESHAPE, cell.source)
    nbformat.write(notebook, folder / "multihead.ipynb")


def run(folder: Path, first: str = "") -> dict[str, list[Any]]:
    """Run all cells, after one with the code ``first``; the outputs of each code cell, by cell id."""
    notebook = nbformat.read(folder / "multihead.ipynb", as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(first, id="first"))
    client = NotebookClient(notebook, allow_errors=True, resources={"metadata": {"path": str(folder)}})
    client.execute()
    return {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}


def test_the_solved_notebook_runs_from_top_to_bottom(folder: Path) -> None:
    outputs = run(folder)
    assert [] == [one for cell in outputs.values() for one in cell if one.output_type == "error"]
    for number, name in enumerate(EXERCISES, start=1):
        told, *shown = outputs[f"test-{name.replace('_', '-')}"]
        sentence = (
            rf"{name}: (\d) of \1 visible checks pass\. Milestone: {number} of 4 done; next: [a-z_ ]+\.\n"
        )
        assert re.fullmatch(sentence, told.text)
        assert (number >= 3) * ["display_data"] == [one.output_type for one in shown]
    assert "at time 0: [0 1] and at time 1: [2 3]" in outputs["direct-reshape-shown"][0].text
    assert "H = 8: 256 parameters, scores of shape (2, 8, 5, 5)" in outputs["growth-shown"][0].text
    assert "[[[[1.]]]]\n" * 3 == outputs["one-key-shown"][0].text


def failed_split(folder: Path, first: str = "") -> Any:
    """What is shown below the sentence of the check of a direct reshape, by type."""
    solve_wrongly(folder)
    error, picture = run(folder, first)["test-split-heads"]
    assert "CheckFailed" == error.ename
    assert " ".join(error.traceback) == error.evalue
    assert error.evalue.startswith("split_heads(x, 2) with x = np.arange(8).reshape(1, 2, 4): 4 of 8 numbers")
    assert "  seq 1  4  5    6  7           seq 1 *2 *3    6  7" in picture.data["text/plain"]
    return picture.data


def test_a_failing_check_shows_its_sentence_and_a_picture_with_an_alternative_text(folder: Path) -> None:
    html = failed_split(folder)["text/html"]
    assert re.search(r'^<img .*src="data:image/svg.*alt="Expected and got\. 4 of 8 numbers', html)


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ('import sys; sys.modules["matplotlib"] = None', ""),
        ('import sys; sys.modules["matplotlib"] = sys', "(matplotlib could not draw this: "),
    ],
    ids=["absent", "broken"],
)
def test_without_a_usable_matplotlib_the_same_is_shown_as_text(first: str, told: str, folder: Path) -> None:
    data = failed_split(folder, first)
    assert {"text/plain"} == set(data)
    assert bool(told) == ("matplotlib" in data["text/plain"])
    assert told in data["text/plain"]


def test_without_the_module_that_draws_the_sentence_stands_alone(folder: Path) -> None:
    (folder / "pictures.py").unlink()
    solve_wrongly(folder)
    outputs = run(folder)
    (error,) = outputs["test-split-heads"]
    assert "CheckFailed" == error.ename
    (told,) = outputs["test-merge-heads"]
    assert "Milestone: 1 of 4 done; next: split_heads." in told.text


def test_validate_fails_with_the_sentence_of_the_check(folder: Path) -> None:
    solve_wrongly(folder)
    command = [sys.executable, "-m", "nbgrader", "validate", "multihead.ipynb"]
    told = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    assert "VALIDATION FAILED" in told
    error = re.sub(r"\s+", " ", told.split("The error was:")[1])
    assert "(batch=1, heads=2, seq=2, d_head=2): expected 4, got 2. Head 0 is [[0, 1], [4, 5]]." in error
    assert "Traceback" not in error


def test_validate_succeeds_with_the_solution(folder: Path) -> None:
    command = [sys.executable, "-m", "nbgrader", "validate", "multihead.ipynb"]
    told = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert "Success! Your notebook passes all the tests.\n" == told.stdout
    assert "Cell output is" not in told.stderr


@pytest.mark.parametrize(
    "missing", ["attention.py", "layer_examples.py", "outcomes.py", "visible_checks.py", "worked_examples.py"]
)
def test_a_missing_file_is_named_with_what_to_do(missing: str, folder: Path) -> None:
    (folder / missing).unlink()
    (error,) = run(folder)["setup"]
    assert "ModuleNotFoundError" == error.ename
    assert (
        f"{missing} is not beside this notebook: put it into the same folder (it came with the notebook), "
        "restart the kernel and run this cell again."
    ) == error.evalue


CHECK = """
import pathlib, sys
from autograder.cli.main import main

main(["check", sys.argv[1], "--course", sys.argv[2]])
sys.stdout.write(f"matplotlib: {'matplotlib' in sys.modules}")
"""


def test_grading_wrong_work_never_imports_matplotlib(folder: Path) -> None:
    solve_wrongly(folder)
    command = [sys.executable, "-c", CHECK, folder / "multihead.ipynb", SOURCE.parents[1]]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "4 of 8 numbers are wrong" in re.sub(r"\s+", " ", told)
    assert told.endswith("matplotlib: False")


def test_a_check_that_a_submission_calls_itself_draws_nothing_while_it_is_graded(bench: Bench) -> None:
    files = {path.name: path.read_text(encoding="utf-8") for path in SOURCE.glob("*.py")}
    call = (
        "import sys, visible_checks\nvisible_checks.check_split_heads(lambda x, heads: x.reshape(1, 2, 2, 2))"
    )
    look = "print('matplot' 'lib' in sys.modules)"  # a notebook that names it gets it from the worker
    run = bench.run(call, look, files=files)
    (error,), (told,) = run.outputs[0], run.outputs[1]
    assert "CheckFailed" == error["ename"]
    assert "False\n" == told["text"]


def test_plain_nbgrader_draws_nothing_while_it_grades(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    solve_wrongly(folder)
    (error,) = run(folder)["test-split-heads"]
    assert "CheckFailed" == error.ename
