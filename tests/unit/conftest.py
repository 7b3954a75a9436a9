"""A tiny course, notebooks written in a line each, and what in a page could run or load something."""

import json
import textwrap
from collections.abc import Callable
from html.parser import HTMLParser
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


TAG_NAMES = """
html head meta title style body header main section article h1 h2 h3 h4 h5 h6 p div span a strong em del
table thead tbody tr th td ul ol li blockquote pre code br hr img svg rect details summary figure
figcaption b i sub sup kbd small wbr
math mrow mi mo mn ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mtable mtr
mtd mstyle mpadded mphantom menclose merror
"""
TAGS = frozenset(TAG_NAMES.split())
VOID = frozenset({"meta", "br", "hr", "img", "wbr", "rect"})
LINKS = ("#", "http://", "https://")
PICTURES = (
    "data:image/png;",
    "data:image/jpeg;",
    "data:image/gif;",
    "data:image/webp;",
    "data:image/svg+xml;",
)


class _Dangers(HTMLParser):
    """Collects unknown tags, attributes that do something, addresses, and tags that are left open."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            self.found.append(f"<{tag}>")
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            self._attribute(tag, name, value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.found.append(f"</{tag}> closes something else")

    def handle_comment(self, data: str) -> None:
        self.found.append(f"a comment: {data}")

    def _attribute(self, tag: str, name: str, value: str) -> None:
        refused = name.startswith("on") or name in {
            "style",
            "srcset",
            "srcdoc",
            "action",
            "formaction",
            "xlink:href",
        }
        bad_link = name == "href" and not (tag == "a" and value.startswith(LINKS))
        bad_picture = name == "src" and not (tag == "img" and value.startswith(PICTURES))
        if refused or bad_link or bad_picture:
            self.found.append(f"<{tag} {name}={value!r}>")


@pytest.fixture(scope="session")
def dangers() -> Callable[[str], list[str]]:
    """Says what in a piece of HTML could run, load, or break the page around it."""

    def find(page: str) -> list[str]:
        parser = _Dangers()
        parser.feed(page)
        parser.close()
        return [*parser.found, *(f"<{tag}> is never closed" for tag in parser.open)]

    return find
