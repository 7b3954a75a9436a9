"""A tiny course, and notebooks written in a line each, for the tests of everything that reads them."""

import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Json = dict[str, Any]


class Build:
    """Cells and notebooks as Jupyter would save them."""

    def code(self, source: str, grade_id: str | None = None, **marks: Any) -> Json:
        cell = self._cell("code", source, grade_id, marks)
        return {**cell, "outputs": [], "execution_count": None}

    def markdown(self, source: str, grade_id: str | None = None, **marks: Any) -> Json:
        return self._cell("markdown", source, grade_id, marks)

    def raw(self, source: str, grade_id: str | None = None, **marks: Any) -> Json:
        return self._cell("raw", source, grade_id, marks)

    def solution(self, name: str, source: str) -> Json:
        return self.code(source, name, solution=True)

    def test(self, name: str, points: float = 1, source: str | None = None) -> Json:
        text = f"check_{name}({name})" if source is None else source
        return self.code(text, f"test_{name}", grade=True, locked=True, points=points)

    def question(self, name: str, points: float = 2, source: str = "An answer.") -> Json:
        return self.markdown(source, name, grade=True, solution=True, points=points)

    def notebook(self, *cells: Json) -> Json:
        return {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": list(cells)}

    def bytes(self, *cells: Json) -> bytes:
        return json.dumps(self.notebook(*cells)).encode()

    def _cell(self, kind: str, source: str, grade_id: str | None, marks: Json) -> Json:
        metadata: Json = {}
        if grade_id is not None:
            default = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
            metadata = {"nbgrader": {**default, "grade_id": grade_id, **marks}}
        return {"cell_type": kind, "metadata": metadata, "source": source}


@pytest.fixture(scope="session")
def build() -> Build:
    return Build()


CHECKS = '''
from autograder.checking.framework import CheckFailure, CheckSet

checks = CheckSet("toy")


@checks.value("double", weight=1)
def doubles(student, reference, rng):
    """It doubles."""
    if student.call("double", 4).value != reference.double(4):
        raise CheckFailure("It does not double.")
'''


def write_toy_course(folder: Path, build: Build) -> Path:
    """A course with the assignment ``toy``: one exercise of 3 points and one question of 2."""
    source = folder / "source" / "toy"
    source.mkdir(parents=True)
    cells = [
        build.markdown("# Doubling"),
        build.code("from given import two"),
        build.solution(
            "double", "def double(x):\n    ### BEGIN SOLUTION\n    return two * x\n    ### END SOLUTION"
        ),
        build.test(
            "double", 3, "assert double(1) == 2\n### BEGIN HIDDEN TESTS\nassert 0\n### END HIDDEN TESTS"
        ),
        build.markdown("Why does it work?"),
        build.question("why"),
    ]
    (source / "toy.ipynb").write_bytes(build.bytes(*cells))
    (source / "given.py").write_text("two = 2\n")
    (folder / "solutions").mkdir()
    (folder / "solutions" / "toy.py").write_text(
        "from given import two\n\n\ndef double(x):\n    return two * x\n"
    )
    hidden = folder / "autograder" / "assignments" / "toy"
    hidden.mkdir(parents=True)
    (hidden / "checks.py").write_text(textwrap.dedent(CHECKS))
    return folder


@pytest.fixture(scope="session")
def write_toy(build: Build) -> Callable[[Path], Path]:
    return lambda folder: write_toy_course(folder, build)


@pytest.fixture
def toy_course(tmp_path: Path, build: Build) -> Path:
    return write_toy_course(tmp_path / "course", build)
