"""Run a notebook where only the standard library, NumPy, IPython and files beside the notebook exist.

    python only_numpy_and_ipython.py NOTEBOOK

The last line that it prints is a JSON object: for each code cell (its grade id, else its number) null, or
the error that ended it.
"""

import importlib.abc
import importlib.machinery
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy  # noqa: F401, ICN001 - with all that it needs, before the rest is blocked
from IPython.core.interactiveshell import InteractiveShell


class Blocker(importlib.abc.MetaPathFinder):
    """Refuses every module that a student need not have installed."""

    def __init__(self, allowed: frozenset[str]) -> None:
        self.allowed = allowed

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Raise ModuleNotFoundError, or leave the module to the finders after this one."""
        top = fullname.partition(".")[0]
        if top not in self.allowed and not Path(f"{top}.py").exists():
            raise ModuleNotFoundError(f"{top} is not NumPy, IPython or given", name=top)
        return None


def main() -> None:
    """Run all code cells in order and say how each ended."""
    shell = InteractiveShell.instance()
    shell.run_cell("1 / 0")  # what IPython imports to show an error belongs to IPython
    loaded = {name.partition(".")[0] for name in sys.modules}
    sys.meta_path.insert(0, Blocker(sys.stdlib_module_names | loaded))
    sys.path.insert(0, "")
    ended = {}
    cells = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["cells"]
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            result = shell.run_cell("".join(cell["source"]))
            error = result.error_before_exec or result.error_in_exec
            name = cell["metadata"].get("nbgrader", {}).get("grade_id", str(number))
            ended[name] = None if error is None else f"{type(error).__name__}: {error}"
    sys.stdout.write(f"\n{json.dumps(ended)}\n")


if __name__ == "__main__":
    main()
