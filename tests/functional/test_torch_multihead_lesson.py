"""The lesson on PyTorch in a real kernel: solved it runs through, mistakes show a sentence and a picture."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

SOURCE = Path(__file__).parents[2] / "source" / "torch_multihead"
EXERCISES = ("MultiHeadAttention", "split_heads", "compute_attention", "combine_heads", "forward")
HIDDEN = re.compile(r"^### BEGIN HIDDEN TESTS.*^### END HIDDEN TESTS\n?", re.DOTALL | re.MULTILINE)
SOLUTION = re.compile(r"### BEGIN SOLUTION.*### END SOLUTION", re.DOTALL)
WRONG = {
    "split_heads": "return x.view(batch_size, self.num_heads, -1, self.head_dim)",
    "combine_heads": "return x.transpose(1, 2).view(batch_size, -1, self.d_model)",
}

pytestmark = pytest.mark.functional


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a student gets, solved, without the hidden regions."""
    copied = Path(shutil.copytree(SOURCE, tmp_path / "lesson", ignore=shutil.ignore_patterns("__pycache__")))
    notebook = nbformat.read(copied / "torch_multihead.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = HIDDEN.sub("", cell.source).rstrip("\n")
    nbformat.write(notebook, copied / "torch_multihead.ipynb")
    return copied


def solve_wrongly(folder: Path, code: dict[str, str]) -> None:
    """Write other code into the places of solutions, by grade id."""
    notebook = nbformat.read(folder / "torch_multihead.ipynb", as_version=4)
    for cell in notebook.cells:
        wrong = code.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
        if wrong is not None:
            cell.source = SOLUTION.sub(wrong, cell.source)
    nbformat.write(notebook, folder / "torch_multihead.ipynb")


def run(folder: Path) -> dict[str, list[Any]]:
    """Run all cells; the outputs of each code cell, by cell id."""
    notebook = nbformat.read(folder / "torch_multihead.ipynb", as_version=4)
    again = [cell for cell in notebook.cells if cell.id in ("MultiHeadAttention", "test-split-heads")]
    notebook.cells += [nbformat.v4.new_code_cell(cell.source, id=f"{cell.id}-again") for cell in again]
    client = NotebookClient(notebook, allow_errors=True, resources={"metadata": {"path": str(folder)}})
    client.execute()
    return {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}


def test_the_solved_notebook_runs_from_top_to_bottom_to_the_numbers_of_numpy(folder: Path) -> None:
    outputs = run(folder)
    said = outputs.pop("test-split-heads-again")[0]
    assert said.evalue.startswith("split_heads(x, 1) in 2 heads")
    assert "the class has no method split_heads. Run the cell that adds it, and again" in said.evalue
    assert [] == [one for cell in outputs.values() for one in cell if one.output_type == "error"]
    for number, name in enumerate(EXERCISES, start=1):
        told, *shown = outputs[f"test-{name.replace('_', '-')}"]
        sentence = (
            rf"{name}: (\d) of \1 visible checks pass\. Milestone: {number} of 5 done; next: [a-z_ ]+\.\n"
        )
        assert re.fullmatch(sentence, told.text)
        assert (name in ("compute_attention", "forward")) == bool(shown)
    assert 6 == outputs["same-numbers"][0].text.count("agrees to within 1e-12\n")
    assert "view refuses: view size is not compatible" in outputs["views-shown"][0].text
    assert "detached: SumBackward0 from MulBackward0  a.grad = [1.0, 2.0]" in str(
        outputs["who-needs-backward-shown"][0].text
    )


def test_mistakes_are_told_in_a_sentence_and_drawn(folder: Path) -> None:
    solve_wrongly(folder, WRONG)
    outputs = run(folder)
    error, picture = outputs["test-split-heads"]
    assert "CheckFailed" == error.ename
    assert " ".join(error.traceback) == error.evalue
    assert "4 of 8 numbers are wrong, the first at [batch 0, head 0, seq 1, head_dim 0]" in error.evalue
    assert "  seq 1  4  5    6  7            seq 1 *2 *3    6  7" in picture.data["text/plain"]
    (error,) = outputs["test-combine-heads"]
    assert "RuntimeError" == error.ename
    assert "view size is not compatible with input tensor's size and stride" in error.evalue
    (error,) = outputs["test-forward"]
    assert "RuntimeError" == error.ename


@pytest.mark.parametrize("code", [{}, {"forward": "return query"}], ids=["right", "wrong"])
def test_validate_tells_right_from_wrong(code: dict[str, str], folder: Path) -> None:
    solve_wrongly(folder, code)
    command = [sys.executable, "-m", "nbgrader", "validate", "torch_multihead.ipynb"]
    told = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if code:
        error = re.sub(r"\s+", " ", told.stdout.split("The error was:")[1])
        assert "expected 2, got 1. With one key its weight is 1" in error
        assert "Traceback" not in error
    else:
        assert "Success! Your notebook passes all the tests.\n" == told.stdout
