"""Formgrader's page as its exporter makes it, with this kit's configuration and, as a control, without."""

import json
import os
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbgrader
import pytest
from nbconvert.exporters import HTMLExporter

from autograder.assignments.catalog import KIT
from autograder.gradebook.configuration import CourseConfiguration
from autograder.gradebook.verdicts import verdict_output
from autograder.model import CheckResult, ExerciseResult, Verdict

Page = Callable[..., str]
Json = dict[str, Any]

TEMPLATES = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src='x' onerror='alert(1)'>",
    "[a](JavaScript:alert(1))",
    "![a](https://tracker.example/x.png)",
    "<style>@import url(https://tracker.example/x.css)</style>",
    "<details ontoggle=alert(1) open><summary>x</summary></details>",
    "<iframe src='https://tracker.example'></iframe>",
    "$\\text{<script>alert(1)</script>}$",
)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    shutil.copytree(KIT.parent / "source", tmp_path / "source")
    return tmp_path


@pytest.fixture
def page(course: Path) -> Page:
    """Lays out a notebook of these cells as formgrader does; ``ours`` says with which configuration."""

    def make(*cells: Json, ours: bool = True, folder: Path = course) -> str:
        path = folder / "autograded" / "s01" / "multihead" / "multihead.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": list(cells)})
        )
        # Formgrader sets the template's name, and reads the course's configuration after that.
        stock: Json = {"extra_template_basedirs": [str(TEMPLATES)]}
        options = {"config": CourseConfiguration(KIT.parent).config} if ours else stock
        exporter = HTMLExporter(template_name="formgrade", **options)
        resources: Json = {"base_url": "", "index": 0, "total": 1, "student": "s01"}
        text, _ = exporter.from_filename(str(path), resources=resources)
        return str(text)

    return make


class Active(HTMLParser):
    """Collects what could run or load something: elements of some kinds, handlers, addresses."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "style", "iframe", "link", "object", "embed", "form"}:
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            local = (value or "").startswith(("/", "#", "data:image/"))
            if name.startswith("on") or (name in {"src", "href"} and not local):
                self.found.append(f"{tag} {name}={value}")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_students_text_can_neither_run_nor_load_anything(build: Any, page: Page, hostile: str) -> None:
    harmless = Active(page(build.markdown("x"), build.question("one_key", 2, "x"), build.raw("x")))
    text = page(build.markdown(hostile), build.question("one_key", 2, hostile), build.raw(hostile))
    assert harmless.found == Active(text).found


@pytest.mark.parametrize("hostile", HOSTILE[:-1])
def test_the_control_without_this_configuration_it_could(build: Any, page: Page, hostile: str) -> None:
    harmless = Active(page(build.markdown("x"), ours=False))
    assert len(harmless.found) < len(Active(page(build.markdown(hostile), ours=False)).found)


def test_the_page_loads_nothing_from_other_places(build: Any, page: Page) -> None:
    def elsewhere(text: str) -> list[str]:
        return [one for one in Active(text).found if "//" in one]

    assert [] == elsewhere(page(build.markdown("$x$")))
    assert any("mathjax" in one for one in elsewhere(page(build.markdown("$x$"), ours=False)))


def test_the_lessons_own_text_keeps_figures_formulas_and_hints(course: Path, page: Page) -> None:
    lesson = json.loads((course / "source/multihead/multihead.ipynb").read_text())
    text = page(*(cell for cell in lesson["cells"] if cell["cell_type"] == "markdown"))
    assert text.count('src="data:image/svg+xml;base64,') >= 4
    assert "<details>" in text
    assert "<math " in text
    assert (
        "$" not in re.sub(r"<(script|style|math).*?</\1>", "", text, flags=re.DOTALL).partition("<body>")[2]
    )


def test_verdicts_are_laid_out_as_a_table(build: Any, page: Page) -> None:
    check = CheckResult("values", Verdict.FAILED, 0.0, 1.5, "Wrong <numbers> in `x`, at_a_place.", "Look.")
    cell = build.test("double", 3)
    cell["outputs"] = [verdict_output(ExerciseResult("double", 0.0, 3.0, (check,)))]
    cell["metadata"]["autograder"] = {}
    text = page(cell)
    assert "Wrong &lt;numbers&gt; in <code>x</code>, at_a_place.<br/>Hint: Look." in text
    assert '<td class="align-right">0\N{NO-BREAK SPACE}/\N{NO-BREAK SPACE}1.5</td>' in text


def test_the_summary_on_top_reads_as_it_was_meant(build: Any, page: Page) -> None:
    cell = build.markdown("**It costs <code>&#36;</code>5.**\n\n- A <b>note</b>.")
    assert "<strong>It costs &lt;code&gt;$&lt;/code&gt;5.</strong>" in page(cell)
    cell["metadata"]["autograder"] = {"summary": True}
    assert "<strong>It costs <code>$</code>5.</strong>" in page(cell)


def test_pictures_that_a_student_attached_are_shown(build: Any, page: Page) -> None:
    cell = build.markdown("![mine](attachment:a.png)")
    dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    cell["attachments"] = {"a.png": {"image/png": dot}}
    assert f'<img alt="mine" src="data:image/png;base64,{dot}"/>' in page(cell)


def test_a_notebook_outside_of_any_course_is_shown_all_the_same(
    build: Any, page: Page, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = page(build.markdown("*Hello* <b>you</b>"), folder=tmp_path_factory.mktemp("elsewhere"))
    assert "<em>Hello</em> &lt;b&gt;you&lt;/b&gt;" in text


def test_a_lesson_that_was_changed_is_read_anew(build: Any, page: Page, course: Path) -> None:
    cell = build.markdown("Fold <b>me</b>.")
    assert "Fold &lt;b&gt;me&lt;/b&gt;." in page(cell)
    path = course / "source/multihead/multihead.ipynb"
    lesson = json.loads(path.read_text())
    lesson["cells"].append(cell | {"id": "new"})
    path.write_text(json.dumps(lesson))
    os.utime(path, (2_000_000_000, 2_000_000_000))
    assert "Fold <b>me</b>." in page(cell)


def test_a_lesson_that_cannot_be_read_does_not_hide_the_submission(
    build: Any, page: Page, course: Path
) -> None:
    (course / "source/multihead/multihead.ipynb").write_text("{")
    assert "<em>Hello</em>" in page(build.markdown("*Hello*"))
