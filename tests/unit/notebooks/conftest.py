"""A small lesson with two exercises, and plans of what students made of it, in short."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.notebooks.reading import read_notebook
from autograder.notebooks.salvage import Examine, Plan, plan
from autograder.notebooks.source import SourceNotebook, read_source


@pytest.fixture
def source(tmp_path: Path, build: Any) -> SourceNotebook:
    """Exercises ``f`` and ``g``, a question ``why``, a locked cell ``setup``."""
    path = tmp_path / "lab.ipynb"
    cells = [
        build.code("import numpy", "setup", locked=True),
        build.solution("f", "def f(x):\n    return x"),
        build.test("f", 1, "check(f)\n### BEGIN HIDDEN TESTS\nhidden\n### END HIDDEN TESTS"),
        build.solution("g", "def g(x):\n    return f(x)"),
        build.test("g", 1, "check(g)"),
        build.markdown("Why does it work?"),
        build.question("why", 1),
    ]
    path.write_bytes(build.bytes(*cells))
    return read_source(path)


@pytest.fixture
def plan_of(source: SourceNotebook, build: Any) -> Callable[..., Plan]:
    """The plan of a submission with these cells."""

    def make(*cells: dict[str, Any]) -> Plan:
        return plan(read_notebook(build.bytes(*cells)), source)

    return make


@pytest.fixture(scope="session")
def steps() -> Callable[[Plan], list[str]]:
    """The plan in short: ``3`` for running cell 3, ``f?`` for examining f."""

    def shorten(planned: Plan) -> list[str]:
        return [
            f"{one.exercise}?" if isinstance(one, Examine) else str(one.cell_index) for one in planned.steps
        ]

    return shorten
