"""The notebook as a page shows it: the student's code, texts and outputs; the lesson's own parts folded away.

What is the lesson's own is told by its text alone: a cell that stands in the source, word for word. Test
cells are left out, whatever is in them: their verdicts are shown elsewhere.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

from markupsafe import Markup

from autograder.reporting.feedback.code import code_lines
from autograder.reporting.feedback.facts import marks_of
from autograder.reporting.feedback.harmless import harmless
from autograder.reporting.feedback.markdown import MAX_LENGTH, SafeMarkdown
from autograder.reporting.feedback.outputs import Part, error_name, shown_outputs
from autograder.reporting.feedback.pictures import lesson_figures

Json = Mapping[str, Any]

MAX_CELLS = 300
#: The text of all cells of one page, and of one cell that is shown as it was typed.
MAX_TEXT = 2_000_000
MAX_TYPED = 100_000
#: All Markdown of a student that is laid out on one page; what comes after it is shown as it was typed.
MAX_MARKDOWN = 200_000


@dataclass(frozen=True)
class ShownCell:
    """One cell: ``lines`` of code with ``parts`` that it showed, or a ``text``.

    ``number`` is its place in what was handed in, from 1; ``grade_id`` and ``title`` say what it stands for.
    """

    kind: str
    is_lesson: bool = False
    number: int | None = None
    grade_id: str | None = None
    lines: tuple[Markup, ...] = ()
    text: Markup = field(default_factory=Markup)
    parts: tuple[Part, ...] = ()
    headings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Block:
    """Neighbouring cells, all of the lesson or all of the student."""

    is_lesson: bool
    cells: tuple[ShownCell, ...]

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings within, to name a block that is folded."""
        return tuple(heading for cell in self.cells for heading in cell.headings)


class Lesson:
    """The source of an assignment: its texts, its figures, and how its Markdown is laid out.

    Raises OSError or ValueError, at first use, where a source notebook or a figure cannot be read.
    """

    def __init__(self, source_dir: Path) -> None:
        self._source_dir = source_dir
        self._laid_out: dict[str, Markup] = {}

    @cached_property
    def markdown(self) -> SafeMarkdown:
        """Lays Markdown out with the lesson's figures."""
        return SafeMarkdown(lesson_figures(self._source_dir))

    @cached_property
    def _texts(self) -> frozenset[tuple[str, str]]:
        """The types and texts of all cells that hold no solution and no hidden region."""
        return frozenset(
            (cell["cell_type"], _source(cell))
            for path in sorted(self._source_dir.glob("*.ipynb"))
            for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
            if not any(marks_of(cell).get(mark) for mark in ("grade", "solution", "task"))
        )

    def has(self, cell: Json) -> bool:
        """Whether a cell stands in the source like this."""
        return (str(cell.get("cell_type")), _source(cell)) in self._texts

    def laid_out(self, text: str) -> Markup:
        """The lesson's own Markdown; laid out once for a whole class."""
        if text not in self._laid_out:
            self._laid_out[text] = self.markdown.lesson(text)
        return self._laid_out[text]


@dataclass(frozen=True)
class ShownNotebook:
    """The blocks of a notebook; ``left_out`` says how many cells more there were."""

    blocks: tuple[Block, ...]
    left_out: int = 0

    @property
    def grade_ids(self) -> frozenset[str]:
        """The cells that can be linked to."""
        return frozenset(cell.grade_id for block in self.blocks for cell in block.cells if cell.grade_id)


def show_notebook(content: Json, lesson: Lesson) -> ShownNotebook:
    """Everything of an autograded notebook that its student should see again.

    Of a notebook that is far too large the beginning is shown, and all cells that count.
    """
    cells = [cell for cell in content.get("cells", ()) if _is_shown(cell)]
    lengths = accumulate(min(len(_source(cell)), MAX_TYPED) for cell in cells)
    room = min(MAX_CELLS, sum(length <= MAX_TEXT for length in lengths))
    kept = [cell for place, cell in enumerate(cells) if place < room or marks_of(cell)]
    shown = _show(kept, lesson)
    blocks = tuple(
        Block(is_lesson, tuple(group)) for is_lesson, group in groupby(shown, lambda cell: cell.is_lesson)
    )
    return ShownNotebook(blocks, left_out=len(cells) - len(kept))


def _is_shown(cell: Json) -> bool:
    """Test cells, the summary on top (its facts stand elsewhere) and empty cells are not."""
    marks = marks_of(cell)
    if marks.get("grade") and not marks.get("solution"):
        return False
    about = cell.get("metadata", {}).get("autograder")
    if isinstance(about, Mapping) and about.get("summary"):
        return False
    return bool(_source(cell) or cell.get("outputs"))


def _show(cells: list[Json], lesson: Lesson) -> Iterator[ShownCell]:
    markdown_left = MAX_MARKDOWN
    for cell in cells:
        source = _source(cell)
        common = _common(cell, lesson)
        if cell.get("cell_type") == "code":
            yield _code_cell(cell, source, common)
        elif common["is_lesson"] and cell.get("cell_type") == "markdown":
            yield ShownCell("text", text=lesson.laid_out(source), headings=_headings(source), **common)
        elif cell.get("cell_type") == "markdown" and len(source) <= min(MAX_LENGTH, markdown_left):
            markdown_left -= len(source)
            attachments = cell.get("attachments")
            attached = attachments if isinstance(attachments, Mapping) else {}
            yield ShownCell("text", text=lesson.markdown.foreign(source, attached), **common)
        else:
            yield ShownCell("raw", text=_as_typed(source), **common)


def _common(cell: Json, lesson: Lesson) -> dict[str, Any]:
    """What cells of every kind are told by."""
    grade_id = marks_of(cell).get("grade_id")
    about = cell.get("metadata", {}).get("autograder")
    number = about.get("cell") if isinstance(about, Mapping) else None
    return {
        "is_lesson": lesson.has(cell) and error_name(cell.get("outputs")) is None,
        "number": number if isinstance(number, int) else None,
        "grade_id": grade_id if isinstance(grade_id, str) else None,
    }


def _as_typed(text: str) -> Markup:
    cut = "\n[the rest of this cell is not shown here]" if len(text) > MAX_TYPED else ""
    return Markup("{}{}").format(harmless(text[:MAX_TYPED]), cut)


def _code_cell(cell: Json, source: str, common: dict[str, Any]) -> ShownCell:
    number, grade_id = common["number"], common["grade_id"]
    where = f"the cell of {grade_id}" if grade_id else f"cell {number}" if number else "a cell"
    return ShownCell(
        "code",
        lines=code_lines(source),
        parts=shown_outputs(cell.get("outputs"), where),
        **common,
    )


def _headings(text: str) -> tuple[str, ...]:
    """The headings of a text, without their marks."""
    lines = (line.strip() for line in text.splitlines())
    return tuple(line.lstrip("#").replace("`", "").strip() for line in lines if line.startswith("#"))


def _source(cell: Json) -> str:
    """A cell's text without blanks at its end."""
    text = cell.get("source", "")
    return ("".join(text) if isinstance(text, list) else str(text)).rstrip()
