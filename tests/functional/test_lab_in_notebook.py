"""The experiment in a real kernel shows a table, curves, and no line of progress; a judge trains nothing."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.functional

SOURCE = Path(__file__).parents[2] / "source" / "weighted_attention"
CELLS = (
    """from dataclasses import replace
import experiment
from autodiff.corpus import make_corpus
text = replace(experiment.embedded_text(), text=make_corpus(4000).text, is_sense=None)""",
    "results = experiment.compare(text=text, settings=replace(experiment.SHORT, steps=20))\nresults",
    "results.maps('none')",
)


@pytest.fixture(scope="module")
def outputs() -> list[list[Any]]:
    """What the cells show, each a list of outputs."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(SOURCE)}}).execute()
    return [cell.outputs for cell in notebook.cells]


def test_the_experiment_shows_a_table_and_curves_with_an_alternative_text(outputs: list[list[Any]]) -> None:
    progress, result = outputs[1]
    assert ("display_data", {"text/plain": ""}) == (progress.output_type, dict(progress.data))
    lines = result.data["text/plain"].splitlines()
    assert ["replace", "none", "query", "key", "value"] == [line.split()[0] for line in lines]
    assert 'alt="Training loss over 20 steps: replace none from' in result.data["text/html"]
    assert "<img" in outputs[2][0].data["text/html"]


def test_a_judge_trains_nothing(bench: Any) -> None:
    module = (SOURCE / "autodiff" / "progress.py").read_text()
    run = bench.run("import progress\nprint(progress.is_graded())", files={"progress.py": module})
    assert ["True\n"] == [output["text"] for output in run.outputs[0]]
