"""Cells show in the worker what they show in a real kernel, as far as outputs are kept at all."""

import json
import re
from typing import Any

import nbclient
import nbformat
import pytest

from autograder.sandbox.machine_paths import MachinePaths
from autograder.sandbox.outputs import Output, clean_outputs

pytestmark = pytest.mark.functional

Bench = Any  # tests/conftest.py

CELLS = [
    "1 + 1",
    "import numpy as np\nnp.arange(3)",
    "np.ones(2).sum()",
    "x = 3;",
    "3;",
    "None",
    "print('a')\nprint('b', end='')\nprint('c')",
    "display(1)\nprint('x')\ndisplay({'a': 2})\n3",
    "shown = display(1, display_id='k')\nshown.update(5)",
    "from IPython.display import clear_output\nprint(1)\nclear_output()\nprint(2)",
    "print(1)\nclear_output(wait=True)\nprint(2)",
    "from IPython.display import HTML, Latex, Markdown\nHTML('<b>x</b>')",
    "display(Markdown('# x'), Latex('$x$'))",
    "1 / 0",
    "raise ValueError('text')",
    "def f():\n    return undefined\nf()",
    "class Own(Exception):\n    def _render_traceback_(self): return ['only this']\nraise Own('x')",
    "assert 1 == 2, 'not equal'",
    "raise KeyboardInterrupt",
    "import sys\nsys.exit(3)",
    "!echo hi",
    "!echo err >&2",
    "%%bash\necho out",
    "%pwd\n2",
    "%nosuchmagic",
    "%%nosuchmagic\nx",
    "import asyncio\nawait asyncio.sleep(0, 7)",
    "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1]);",
    "fig, ax = plt.subplots()\nplt.show()\nprint('after')",
    "len?",
    "_, __",
    "In[1], Out[1]",
    "if True:\n    3",
    "for number in range(2):\n    number",
    "np.ones(2) @ np.ones(2)",
    "import logging\nlogging.warning('careful')",
    "import warnings\nwarnings.warn('old')",
    "__name__",
]
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
#: By what a kernel and the worker call the file of a cell.
CELL_FILE = re.compile(r"/\S*/ipykernel_\d+/\d+\.py|<ipython-input[^>]*>")


def plain(outputs: list[Output]) -> list[Output]:
    """Outputs without what differs between any two kernels, nor where things lie on this machine."""
    kept = clean_outputs(json.dumps(outputs).encode(), MachinePaths({}).shown)
    cleaned = [json.loads(json.dumps(one)) for one in kept]
    for output in cleaned:
        if output["output_type"] == "error":
            output["traceback"] = COLOURS.sub("", "\n".join(output["traceback"])).splitlines()
        if "text" in output:
            output["text"] = CELL_FILE.sub("the cell's file", output["text"])
        if "image/png" in output.get("data", {}):
            output["data"]["image/png"] = "a picture"
    return cleaned


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_cells_show_what_they_show_in_a_real_kernel(bench: Bench) -> None:
    pytest.importorskip("matplotlib")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    client = nbclient.NotebookClient(
        notebook, kernel_name="python3", allow_errors=True, timeout=120, store_widget_state=False
    )
    client.execute()
    run = bench.run(*CELLS)
    expected = {cell.source: plain(cell.outputs) for cell in notebook.cells}
    shown = {source: plain(list(run.outputs[index])) for index, source in enumerate(CELLS)}
    assert expected == shown
