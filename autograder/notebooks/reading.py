"""Submitted bytes to cells, for notebooks of any shape.

Nothing here trusts the file or needs nbformat (whose import takes seconds): of a submission we take the
cells' types, their texts, the grade ids as hints, and pictures attached to Markdown. Outputs, tags,
points, kernelspecs and all other metadata are ignored. What cannot be read raises ``SubmissionError``
with a sentence that tells the student what to hand in; what can be read in part is kept, and said.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.errors import SubmissionError
from autograder.files import megabytes, read_plain_file
from autograder.notebooks.damaged import whole_cells

MAX_BYTES = 64 * 2**20
#: Commas and brackets outside of strings: bounds the memory that decoding can take to a few hundred MB.
MAX_PARTS = 3_000_000
MAX_CELLS = 20_000
MAX_GRADE_ID = 200

CELL_TYPES = frozenset({"code", "markdown", "raw"})

_REMEDY = "Open it in Jupyter, save it there, and hand in that .ipynb file."
_REMEDY_OF_NOTHING = "Open the notebook you worked in, in Jupyter, save it, and hand in that .ipynb file."
_MERGE_MARK = b"<<<<<<<"
_LOOKS_LIKE = (
    (b"PK\x03\x04", "a zip archive"),
    (b"%PDF", "a PDF document"),
    (b"<", "a web page"),
    (b"\x1f\x8b", "a compressed file"),
    (b"\x89PNG", "a picture"),
)
_STRING = re.compile(rb'"[^"]*"')
_SURROGATE = re.compile("[\ud800-\udfff]")
_PICTURE = re.compile(r"image/(?:png|jpeg|gif|webp)")
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")


@dataclass(frozen=True)
class Cell:
    """One cell of a submission; ``index`` is its place in ``Notebook.cells``.

    ``cell_type`` is code, markdown or raw. ``grade_id`` is what the file claims, a hint only.
    ``attachments`` are the pictures of a Markdown cell: name -> media type -> base64.
    """

    index: int
    cell_type: str
    source: str
    grade_id: str | None = None
    attachments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Notebook:
    """The cells of a submission in order, and sentences on what could not be kept."""

    cells: tuple[Cell, ...]
    notes: tuple[str, ...] = ()


def read_notebook_file(path: Path) -> Notebook:
    """Read a submitted notebook; raises SubmissionError where it is no plain, readable notebook."""
    try:
        data = read_plain_file(path, max_bytes=MAX_BYTES)
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise SubmissionError(f"The notebook could not be opened: {reason}. {_REMEDY}") from error
    return read_notebook(data)


def read_notebook(data: bytes) -> Notebook:
    """Read a submitted notebook of nbformat 2, 3 or 4; raises SubmissionError where that is hopeless."""
    if len(data) > MAX_BYTES:
        raise SubmissionError(
            f"The notebook is larger than {megabytes(MAX_BYTES)}. Clear its outputs and hand it in again."
        )
    notes: list[str] = []
    text = _decode(data, notes)
    content = _parse(text, notes)
    raw_cells = _raw_cells(content)
    if len(raw_cells) > MAX_CELLS:
        raise SubmissionError(
            f"The notebook has {len(raw_cells)} cells; at most {MAX_CELLS} can be read. "
            "Remove the cells that do not belong to your work and hand it in again."
        )
    cells = tuple(_cells(raw_cells, notes))
    if not cells:
        raise SubmissionError(f"The notebook holds no cells. {_REMEDY}")
    return Notebook(cells, tuple(notes))


def _decode(data: bytes, notes: list[str]) -> str:
    """Bytes to text: any UTF with or without a byte order mark; what is no UTF-8 becomes U+FFFD."""
    if not data.strip(b"\0 \t\r\n"):
        size = f"{len(data)} bytes, all of them blank" if data else "0 bytes"
        raise SubmissionError(f"The file that was handed in is empty ({size}). {_REMEDY_OF_NOTHING}")
    encoding = json.detect_encoding(data)
    try:
        text = data.decode(encoding).lstrip()
    except UnicodeDecodeError:
        text = data.decode(encoding, errors="replace").lstrip()
        notes.append("The file was not clean UTF-8; what could not be read shows as \ufffd.")
    plain = text.encode("utf-8")
    for prefix, name in _LOOKS_LIKE:
        if plain.startswith(prefix) and not plain.startswith(_MERGE_MARK):
            raise SubmissionError(f"The file is {name}, not a notebook. {_REMEDY}")
    _bound_parts(plain)
    return text


def _bound_parts(data: bytes) -> None:
    """Refuse JSON with millions of tiny parts, which would need far more memory than its bytes."""
    if _count_parts(data) <= MAX_PARTS:
        return
    without_escapes = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    if _count_parts(_STRING.sub(b"", without_escapes)) > MAX_PARTS:
        raise SubmissionError(
            "The notebook holds more data than can be read. Clear its outputs and hand it in again."
        )


def _count_parts(data: bytes) -> int:
    return data.count(b",") + data.count(b"[") + data.count(b"{")


def _parse(text: str, notes: list[str]) -> dict[str, Any]:
    """Text to the notebook's outermost object."""
    decoder = json.JSONDecoder(strict=False, parse_int=_integer)
    try:
        content, end = decoder.raw_decode(text)
    except RecursionError as error:
        raise SubmissionError(f"The notebook's parts are nested too deeply. {_REMEDY}") from error
    except ValueError as error:
        if _MERGE_MARK.decode() in text:
            raise SubmissionError(
                "The notebook holds the marks of an unfinished merge (<<<<<<<). "
                f"Finish the merge first. {_REMEDY}"
            ) from error
        return _damaged(text, decoder, notes, error)
    if text[end:].strip("\0 \t\r\n"):
        notes.append("The file went on after the end of the notebook; the rest was ignored.")
    if not isinstance(content, dict):
        raise SubmissionError(f"The file is not a notebook: it holds no cells. {_REMEDY}")
    return content


def _damaged(text: str, decoder: json.JSONDecoder, notes: list[str], error: ValueError) -> dict[str, Any]:
    """A notebook of the cells that can still be read in a file that is no valid JSON."""
    try:
        cells = whole_cells(text, decoder)
    except RecursionError:
        cells = []
    if not cells:
        raise SubmissionError(
            f"The file is not a notebook: it is damaged or incomplete (no valid JSON). {_REMEDY}"
        ) from error
    notes.append(
        f"The file is damaged or incomplete (no valid JSON): only {len(cells)} cells could be read, and only "
        f"they count. {_REMEDY}"
    )
    return {"cells": cells}


def _integer(digits: str) -> int:
    """Integers as JSON has them; absurdly long ones, which Python refuses, are of no use to us."""
    return int(digits) if len(digits) < 20 else 0


def _raw_cells(content: dict[str, Any]) -> list[Any]:
    """The list of cells, from nbformat 4's ``cells`` or the worksheets of older formats."""
    cells = content.get("cells")
    if isinstance(cells, list):
        return cells
    worksheets = content.get("worksheets")
    if isinstance(worksheets, list):
        sheets = [sheet.get("cells") for sheet in worksheets if isinstance(sheet, dict)]
        return [cell for sheet in sheets if isinstance(sheet, list) for cell in sheet]
    raise SubmissionError(f"The file is not a notebook: it holds no list of cells. {_REMEDY}")


def _cells(raw_cells: list[Any], notes: list[str]) -> Iterator[Cell]:
    """Keep every cell that has a text; name the others by their place in the file, from 1."""
    unreadable = []
    index = 0
    for place, raw in enumerate(raw_cells, start=1):
        source = _source(raw) if isinstance(raw, dict) else None
        if source is None:
            unreadable.append(place)
            continue
        yield Cell(index, _cell_type(raw), source, _grade_id(raw), _attachments(raw))
        index += 1
    if unreadable:
        first = ", ".join(str(place) for place in unreadable[:5])
        more = f" and {len(unreadable) - 5} more" if len(unreadable) > 5 else ""
        notes.append(f"Left out, since nothing in them could be read: cells {first}{more} of the file.")


def _source(raw: dict[str, Any]) -> str | None:
    """The cell's text with Unix line ends, or None where it has none that could be read."""
    text = raw.get("source", raw.get("input", ""))
    if isinstance(text, list):
        text = "".join(line for line in text if isinstance(line, str))
    if not isinstance(text, str):
        return None
    if raw.get("cell_type") == "heading":
        level = raw.get("level")
        text = "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1) + " " + text
    text = _SURROGATE.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n")
    return text.removeprefix("\ufeff").replace("\0", "")  # Python takes neither, and nobody typed them


def _cell_type(raw: dict[str, Any]) -> str:
    claimed = raw.get("cell_type")
    if isinstance(claimed, str) and claimed in CELL_TYPES:
        return claimed
    if claimed in ("heading", "html"):
        return "markdown"
    return "code" if "outputs" in raw or "input" in raw else "raw"


def _grade_id(raw: dict[str, Any]) -> str | None:
    metadata = raw.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = marks.get("grade_id") if isinstance(marks, dict) else None
    if isinstance(grade_id, str) and 0 < len(grade_id) <= MAX_GRADE_ID:
        return grade_id
    return None


def _attachments(raw: dict[str, Any]) -> dict[str, dict[str, str]]:
    """The pictures of a Markdown cell; whatever is not base64 of a picture without scripts is left out."""
    attached = raw.get("attachments")
    if not isinstance(attached, dict) or _cell_type(raw) != "markdown":
        return {}
    pictures = {
        _SURROGATE.sub("\ufffd", name): {
            kind: data
            for kind, data in bundle.items()
            if _PICTURE.fullmatch(kind) and isinstance(data, str) and _BASE64.fullmatch(data)
        }
        for name, bundle in attached.items()
        if isinstance(bundle, dict)
    }
    return {name: bundle for name, bundle in pictures.items() if bundle}
