"""The lesson on PyTorch where that is not installed, or a file is missing: a few lines say what to do."""

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
#: Whether there is a PyTorch here or not, from now on there is none.
NO_TORCH = 'import sys; sys.modules["torch"] = None\n'
#: What the checks import, apart from what draws.
MODULES = sorted(path.stem for path in SOURCE.glob("*.py") if path.stem not in {"pictures", "numpy_numbers"})

pytestmark = pytest.mark.functional


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SOURCE, tmp_path / "lesson", ignore=shutil.ignore_patterns("__pycache__")))


def first_cell(folder: Path) -> Any:
    notebook = nbformat.read(folder / f"{SOURCE.name}.ipynb", as_version=4)
    return next(cell for cell in notebook.cells if cell.cell_type == "code")


def test_a_notebook_says_what_to_install_and_shows_no_traceback(folder: Path) -> None:
    cell = first_cell(folder)
    cell.source = NO_TORCH + cell.source
    notebook = nbformat.v4.new_notebook(cells=[cell])
    NotebookClient(notebook, allow_errors=True, resources={"metadata": {"path": str(folder)}}).execute()
    (error,) = notebook.cells[0].outputs
    assert (
        "This lesson needs PyTorch, and this notebook's Python does not have it. Run `%pip install torch` in "
        "a cell of its own (once; it takes some minutes), restart the kernel and run this cell again."
    ) == error.evalue
    assert error.evalue == " ".join(error.traceback)


@pytest.mark.parametrize("missing", MODULES)
def test_a_missing_file_is_named_with_what_to_do(missing: str, folder: Path) -> None:
    (folder / f"{missing}.py").unlink()
    command = [sys.executable, "-c", NO_TORCH + first_cell(folder).source]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert re.search(
        rf"^ModuleNotFoundError: {missing}\.py is not beside this notebook: put it into the same folder",
        done.stderr,
        re.MULTILINE,
    )


def test_the_checks_need_no_pytorch_themselves(folder: Path) -> None:
    code = NO_TORCH + "import growing, pictures, numpy_numbers, visible_checks"
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
