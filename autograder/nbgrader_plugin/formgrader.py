"""Formgrader's page of one submission, made safe and readable without a network.

By itself formgrader turns a student's Markdown into HTML as it is: a script in an answer would run with the
rights of the person who grades it. It loads MathJax from a content network, and without one its own script
stops half-way. In nbgrader_config.py, which formgrader reads where JupyterLab was started::

    c.HTMLExporter.filters = {"markdown2html": "autograder.nbgrader_plugin.formgrader.harmless_markdown"}
    c.HTMLExporter.extra_template_basedirs = [..., nbgrader's own]

``templates/formgrade/mathjax.html.j2`` takes the place of nbconvert's file of that name: it brings the style
of what this module makes, and the few names of MathJax that formgrader's script asks for.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import pass_context
from markupsafe import Markup

from autograder.reporting.feedback.cells import Lesson
from autograder.reporting.feedback.markdown import SafeMarkdown


@pass_context
def harmless_markdown(context: Mapping[str, Any], text: str) -> Markup:
    """Markdown of the cell at hand, or of one of its outputs, as HTML in which nothing can run or load.

    The lesson's own text keeps its figures and the parts that fold; outputs in Markdown are verdicts of ours.
    """
    cell = context.get("cell") or {}
    resources = context.get("resources") or {}
    lesson = _lesson_of(resources)
    if lesson is None:
        return SafeMarkdown({}).foreign(text, cell.get("attachments"))
    if _is_ours(cell, text) or lesson.has(cell):
        return lesson.laid_out(text)
    return lesson.markdown.foreign(text, cell.get("attachments"))


def _is_ours(cell: Mapping[str, Any], text: str) -> bool:
    """Whether the text is a table of verdicts or the summary on top; both have no marks of students'."""
    about = cell.get("metadata", {}).get("autograder")
    return isinstance(about, Mapping) and (bool(about.get("summary")) or text != cell.get("source"))


def _lesson_of(resources: Mapping[str, Any]) -> Lesson | None:
    """The lesson that the notebook at hand belongs to; None where its source cannot be found or read."""
    path = resources.get("metadata", {}).get("path")
    if not path:
        return None
    folder = Path(path).absolute()
    sources = (above / "source" / folder.name for above in folder.parents)
    source = next((one for one in sources if one.is_dir()), None)
    if source is None:
        return None
    try:
        return _read_lesson(source, max(one.stat().st_mtime_ns for one in source.rglob("*")))
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=4)
def _read_lesson(source: Path, changed_ns: int) -> Lesson:
    """A lesson as it is since ``changed_ns``; the page is then made without reading it again."""
    lesson = Lesson(source)
    lesson.has({"cell_type": "markdown", "source": ""})  # reads now what cannot be read later
    lesson.markdown  # noqa: B018 (likewise)
    return lesson
