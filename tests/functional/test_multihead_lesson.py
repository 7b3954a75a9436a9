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
HIDDEN = re.compile(r"^### BEGIN HIDDEN TESTS.*^### END HIDDEN TESTS\n?", re.DOTALL | re.MULTILINE)
SOLUTION = re.compile(r"### BEGIN SOLUTION.*### END SOLUTION", re.DOTALL)
DIRECT_RESHAPE = "return x.reshape(x.shape[0], heads, x.shape[1], x.shape[2] // heads)"

pytestmark = pytest.mark.functional


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a student gets, solved, without the hidden regions."""
    for path in SOURCE.glob("*.*"):
        shutil.copy(path, tmp_path)
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


def run(folder: Path) -> dict[str, list[Any]]:
    """Run all cells; the outputs of each code cell, by cell id."""
    notebook = nbformat.read(folder / "multihead.ipynb", as_version=4)
    client = NotebookClient(notebook, allow_errors=True, resources={"metadata": {"path": str(folder)}})
    client.execute()
    return {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}


def test_the_solved_notebook_runs_from_top_to_bottom(folder: Path) -> None:
    outputs = run(folder)
    assert [] == [one for cell in outputs.values() for one in cell if one.output_type != "stream"]
    for name in ("split_heads", "merge_heads", "multihead", "multihead_backward"):
        (told,) = outputs[f"test-{name.replace('_', '-')}"]
        assert re.fullmatch(rf"{name}: all \d visible examples come out right\.\n", told.text)
    assert "at time 0: [0 1] and at time 1: [2 3]" in outputs["direct-reshape-shown"][0].text
    assert "H = 8: 256 parameters, scores of shape (2, 8, 5, 5)" in outputs["growth-shown"][0].text
    assert "[[[[1.]]]]\n" * 3 == outputs["one-key-shown"][0].text


def test_a_failing_check_shows_its_sentence_alone(folder: Path) -> None:
    solve_wrongly(folder)
    (error,) = run(folder)["test-split-heads"]
    assert "CheckFailed" == error.ename
    assert " ".join(error.traceback) == error.evalue
    assert error.evalue.startswith("split_heads(x, 2) with x = np.arange(8).reshape(1, 2, 4): 4 of 8 numbers")


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


@pytest.mark.parametrize("missing", ["attention.py", "visible_checks.py"])
def test_a_missing_file_is_named_with_what_to_do(missing: str, folder: Path) -> None:
    (folder / missing).unlink()
    (error,) = run(folder)["setup"]
    assert "ModuleNotFoundError" == error.ename
    assert (
        f"{missing} is not beside this notebook: put it into the same folder (it came with the notebook), "
        "restart the kernel and run this cell again."
    ) == error.evalue
