"""The lesson on heads in a real kernel: solved, it runs through; a mistake shows a sentence."""

import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

SOURCE = Path(__file__).parents[2] / "source" / "gpt"
EXERCISES = ("CausalMask", "MultiHeadAttention", "build_gpt")
HIDDEN = re.compile(r"^### BEGIN HIDDEN TESTS.*^### END HIDDEN TESTS\n?", re.DOTALL | re.MULTILINE)
RIGHT_SPLIT = "x.reshape(batch, seq, self.heads, d_model // self.heads).transpose(0, 2, 1, 3)"
DIRECT_RESHAPE = "x.reshape(batch, self.heads, seq, d_model // self.heads)"
#: A text of some sentences and a training of some steps, by which the experiment takes no time.
SMALL = """
from dataclasses import replace
import experiment
from autodiff.corpus import make_corpus
small = make_corpus(4000)
experiment.compare.__kwdefaults__.update(
    text=replace(experiment.embedded_text(), text=small.text, is_sense=small.is_sense),
    settings=replace(experiment.SHORT, steps=10),
)
"""

pytestmark = pytest.mark.functional


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a student gets, solved, without the hidden regions."""
    shutil.copytree(SOURCE, tmp_path, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    return tmp_path


def run(folder: Path, first: str = "", replaced: tuple[str, str] = ("", "")) -> dict[str, list[Any]]:
    """Run all cells, after one with the code ``first``; the outputs of each code cell, by cell id."""
    notebook = nbformat.read(folder / "gpt.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = HIDDEN.sub("", cell.source).rstrip("\n").replace(*replaced)
        if first:
            cell.metadata.pop("tags", None)  # the experiment, too
    notebook.cells.insert(0, nbformat.v4.new_code_cell(first, id="first"))
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=120, allow_errors=True, resources=resources).execute()
    return {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}


def test_the_solved_notebook_runs_from_top_to_bottom_with_its_experiment(folder: Path) -> None:
    outputs = run(folder, SMALL)
    assert [] == [one for cell in outputs.values() for one in cell if one.output_type == "error"]
    for number, name in enumerate(EXERCISES, start=1):
        told = outputs[f"test-{name.replace('_', '-')}"][0]
        sentence = (
            rf"{name}: (\d) of \1 visible checks pass\. Milestone: {number} of 3 done; next: [\w ]+\.\n"
        )
        assert re.fullmatch(sentence, told.text)
    assert "the square: [9.]    its gradient, when 10 arrives: [60.]\n" == outputs["square-shown"][0].text
    assert (
        "d = 32: scores are about 5.6; divided by the root of d, about 1.0" in outputs["scale-shown"][0].text
    )
    _, compared = outputs["experiment-run"]
    lines = compared.data["text/plain"].splitlines()
    assert ["heads", "1", "2", "4", "8"] == [line.split()[0] for line in lines]
    assert 'alt="Training loss over 10 steps: heads 1 from' in compared.data["text/html"]
    assert "ms a step" in outputs["experiment-times-shown"][0].text
    assert "block 1 head 1 looks from the last" in outputs["experiment-look"][0].data["text/html"]
    assert 4 == outputs["experiment-speak"][0].text.count("--- heads ")


def test_a_mistake_is_told_in_a_sentence_with_a_picture_and_nothing_is_trained_with_it(folder: Path) -> None:
    outputs = run(folder, replaced=(RIGHT_SPLIT, DIRECT_RESHAPE))
    error, picture = outputs["test-MultiHeadAttention"]
    assert "CheckFailed" == error.ename
    assert " ".join(error.traceback) == error.evalue
    assert error.evalue.startswith(
        "MultiHeadAttention(8, 2, rng), three tokens with C = 8 and the causal mask, y: "
    )
    assert 'alt="Expected and got. ' in picture.data["text/html"]
    assert "Milestone: 2 of 3 done; next: MultiHeadAttention." in outputs["test-build-gpt"][0].text
    assert [] == outputs["experiment-run"]


def test_a_missing_folder_is_named_with_what_to_do(folder: Path) -> None:
    shutil.rmtree(folder / "autodiff")
    (error,) = run(folder)["setup"]
    assert (
        "autodiff is not beside this notebook: put all files that came with it, and the folder autodiff, "
        "into the same folder, restart the kernel and run this cell again."
    ) == error.evalue
