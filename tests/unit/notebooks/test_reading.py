import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import SubmissionError
from autograder.notebooks import reading
from autograder.notebooks.reading import Cell, read_notebook, read_notebook_file

PIXEL = "iVBORw0KGgo="


def sources(data: bytes) -> list[str]:
    return [cell.source for cell in read_notebook(data).cells]


def one_cell(**raw: Any) -> Cell:
    return read_notebook(json.dumps({"cells": [raw]}).encode()).cells[0]


def test_cells_keep_order_type_text_and_id(build: Any) -> None:
    data = build.bytes(build.markdown("# A"), build.code("x = 1", "f"), build.raw("r"))
    assert read_notebook(data).cells == (
        Cell(0, "markdown", "# A"),
        Cell(1, "code", "x = 1", "f"),
        Cell(2, "raw", "r"),
    )


def test_a_text_in_lines_is_joined_and_has_unix_line_ends() -> None:
    assert one_cell(cell_type="code", source=["a\r\n", "b\r", "c"]).source == "a\nb\nc"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_other_unicode_encodings_are_read(build: Any, encoding: str) -> None:
    data = build.bytes(build.code("x = 'ü'"))
    assert ["x = 'ü'"] == sources(data.decode().encode(encoding))


def test_dos_line_ends_between_the_parts_do_no_harm(build: Any) -> None:
    text = json.dumps(build.notebook(build.code("x")), indent=1)
    assert ["x"] == sources(text.replace("\n", "\r\n").encode())


def test_invalid_utf_8_is_replaced_and_said() -> None:
    notebook = read_notebook(b'{"cells": [{"cell_type": "code", "source": "x = \'\xff\'"}]}')
    assert notebook.cells[0].source == "x = '\ufffd'"
    assert notebook.notes == ("The file was not clean UTF-8; what could not be read shows as \ufffd.",)


def test_raw_control_characters_and_half_characters_do_no_harm() -> None:
    notebook = read_notebook(b'{"cells": [{"cell_type": "code", "source": "a\tb \\ud800"}]}')
    assert notebook.cells[0].source == "a\tb \ufffd"
    notebook.cells[0].source.encode()


def test_what_python_does_not_take_and_nobody_typed_is_dropped() -> None:
    assert "x = 1" == one_cell(cell_type="code", source="\ufeffx = \0001").source


def test_nbformat_3_is_read_with_its_worksheets_inputs_and_headings() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Title"},
        {"cell_type": "code", "input": "x = 1", "metadata": {"nbgrader": {"grade_id": "f"}}},
    ]
    data = json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}, 7, {}]}).encode()
    assert read_notebook(data).cells == (Cell(0, "markdown", "## Title"), Cell(1, "code", "x = 1", "f"))


def test_missing_metadata_and_foreign_kernels_do_not_matter() -> None:
    data = json.dumps({"metadata": {"kernelspec": {"name": "ir"}}, "cells": [{"cell_type": "code"}]})
    assert read_notebook(data.encode()).cells == (Cell(0, "code", ""),)


def test_cells_that_cannot_be_read_are_left_out_and_named() -> None:
    cells = [1, {"cell_type": "code", "source": "x"}, {"cell_type": "code", "source": {"a": 1}}, None]
    notebook = read_notebook(json.dumps({"cells": cells}).encode())
    assert notebook.cells == (Cell(0, "code", "x"),)
    assert notebook.notes == ("Left out, since nothing in them could be read: cells 1, 3, 4 of the file.",)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"cell_type": "strange", "source": "x", "outputs": []}, "code"),
        ({"cell_type": "strange", "source": "x"}, "raw"),
        ({"source": "x"}, "raw"),
        ({"cell_type": ["code"], "source": "x"}, "raw"),
        ({"cell_type": "html", "source": "x"}, "markdown"),
    ],
)
def test_a_strange_cell_type_becomes_a_known_one(raw: dict[str, Any], expected: str) -> None:
    assert one_cell(**raw).cell_type == expected


@pytest.mark.parametrize("grade_id", [7, None, "", ["f"], "x" * 201])
def test_only_a_short_text_is_a_grade_id(grade_id: object) -> None:
    assert (
        one_cell(cell_type="code", source="", metadata={"nbgrader": {"grade_id": grade_id}}).grade_id is None
    )


@pytest.mark.parametrize("metadata", [None, [], "x", {"nbgrader": None}, {"nbgrader": []}])
def test_metadata_of_any_shape_is_survived(metadata: object) -> None:
    assert one_cell(cell_type="code", source="x", metadata=metadata).grade_id is None


def test_attached_pictures_are_kept_and_everything_else_is_not() -> None:
    attachments = {
        "a.png": {"image/png": PIXEL},
        "b.svg": {"image/svg+xml": "<svg onload='x'/>"},
        "c.png": {"image/png": "<script>"},
        "d.png": 7,
    }
    cell = one_cell(cell_type="markdown", source="![a](attachment:a.png)", attachments=attachments)
    assert cell.attachments == {"a.png": {"image/png": PIXEL}}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is empty (0 bytes). Open the notebook you worked in, in Jupyter, save it, and hand in"),
        (b"\0\0 \n", "is empty (4 bytes, all of them blank)"),
        (b"\xef\xbb\xbf", "no valid JSON"),
        (b"PK\x03\x04abc", "a zip archive"),
        (b"%PDF-1.4", "a PDF document"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"import numpy as np\n", "no valid JSON"),
        (b'{"cells": [{"cell_type": "code", "sou', "damaged or incomplete"),
        (b'<<<<<<< HEAD\n{"cells": []}', "unfinished merge"),
        (b'{"cells": [\n<<<<<<< HEAD\n1]}', "unfinished merge"),
        (b"[" * 200_000, "nested too deeply"),
        (b"[]", "it holds no cells"),
        (b"17", "it holds no cells"),
        (b'{"metadata": {}}', "no list of cells"),
        (b'{"cells": {}}', "no list of cells"),
        (b'{"cells": []}', "holds no cells"),
    ],
)
def test_a_hopeless_file_gets_a_sentence_that_says_what_to_hand_in(data: bytes, sentence: str) -> None:
    with pytest.raises(SubmissionError, match=re.escape(sentence)) as caught:
        read_notebook(data)
    assert "and hand in that .ipynb file." in str(caught.value)


def test_what_follows_the_end_of_the_notebook_is_ignored_and_said(build: Any) -> None:
    notebook = read_notebook(build.bytes(build.code("x")) + b"\n}}")
    assert notebook.notes == ("The file went on after the end of the notebook; the rest was ignored.",)
    assert read_notebook(build.bytes(build.code("x")) + b"\n\0\0").notes == ()


def test_numbers_that_python_refuses_do_not_spoil_the_rest() -> None:
    data = (
        b'{"nbformat": 4, "x": ['
        + b"9" * 10_000
        + b', NaN, 1e999], "cells": [{"cell_type": "code", "source": "x"}]}'
    )
    assert ["x"] == sources(data)


def test_millions_of_tiny_parts_are_refused_before_they_are_decoded() -> None:
    data = b'{"cells": [' + b"[]," * reading.MAX_PARTS + b"1]}"
    with pytest.raises(SubmissionError, match="more data than can be read"):
        read_notebook(data)


def test_a_long_line_full_of_commas_is_no_such_thing(build: Any) -> None:
    text = 'x = "' + '1, \\" [' * 1_500_000 + '"'
    assert [text] == sources(build.bytes(build.code(text)))


def test_thousands_of_cells_are_read_and_a_flood_is_not(monkeypatch: pytest.MonkeyPatch, build: Any) -> None:
    assert len(sources(build.bytes(*[build.code("x")] * 5000))) == 5000
    monkeypatch.setattr(reading, "MAX_CELLS", 10)
    with pytest.raises(SubmissionError, match="has 11 cells; at most 10"):
        read_notebook(build.bytes(*[build.code("x")] * 11))


def test_a_file_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch, build: Any) -> None:
    monkeypatch.setattr(reading, "MAX_BYTES", 2**20)
    with pytest.raises(SubmissionError, match="larger than 1 MB"):
        read_notebook(build.bytes(build.code("x" * 2**20)))


def test_a_link_or_fifo_instead_of_a_notebook_is_refused(tmp_path: Path, build: Any) -> None:
    (tmp_path / "real.ipynb").write_bytes(build.bytes(build.code("x")))
    (tmp_path / "link.ipynb").symlink_to("real.ipynb")
    os.mkfifo(tmp_path / "fifo.ipynb")
    assert read_notebook_file(tmp_path / "real.ipynb").cells == (Cell(0, "code", "x"),)
    for name, sentence in (("link", "it is a link"), ("fifo", "not a plain file"), ("none", "No such file")):
        with pytest.raises(SubmissionError, match=sentence):
            read_notebook_file(tmp_path / f"{name}.ipynb")


KEYS = ["cells", "source", "cell_type", "metadata", "nbgrader", "grade_id", "attachments", "level", "input"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(KEYS) | st.text(), inner),
)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.fixed_dictionaries({"cells": st.lists(JSON)}) | st.fixed_dictionaries({"worksheets": JSON}) | JSON)
def test_any_json_is_either_read_or_refused_in_words(content: object) -> None:
    try:
        notebook = read_notebook(json.dumps(content).encode())
    except SubmissionError:
        return
    assert [cell.index for cell in notebook.cells] == list(range(len(notebook.cells)))
    for cell in notebook.cells:
        assert cell.cell_type in reading.CELL_TYPES
        cell.source.encode()


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_either_read_or_refused_in_words(data: bytes) -> None:
    with pytest.raises(SubmissionError):
        read_notebook(data)
