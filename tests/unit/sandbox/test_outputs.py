"""Outputs from the worker are untrusted: what is kept is harmless, and nothing raises."""

import base64
import json
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.sandbox.outputs import OUTPUTS_LIMIT, UNREADABLE, clean_outputs

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n and so on").decode()
JPEG = base64.b64encode(b"\xff\xd8\xff and so on").decode()

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=20,
)
near_outputs = st.lists(
    st.fixed_dictionaries(
        {"output_type": st.sampled_from(["stream", "error", "execute_result", "display_data", "x"])},
        optional={
            "name": st.sampled_from(["stdout", "stderr", "x"]) | json_values,
            "text": st.text() | json_values,
            "ename": st.text() | json_values,
            "evalue": st.text() | json_values,
            "traceback": st.lists(st.text() | json_values) | json_values,
            "data": st.dictionaries(st.sampled_from(["text/plain", "image/png", "text/html"]), json_values)
            | json_values,
            "execution_count": json_values,
        },
    )
    | json_values,
    max_size=5,
)


def cleaned(*outputs: Any) -> tuple[Any, ...]:
    return clean_outputs(json.dumps(outputs).encode())


def shown(**data: Any) -> dict[str, Any]:
    bundle = {name.replace("_", "/"): value for name, value in data.items()}
    return {"output_type": "display_data", "data": bundle, "metadata": {}}


def test_harmless_outputs_stay_as_they_are() -> None:
    outputs = (
        {"output_type": "stream", "name": "stdout", "text": "a\n"},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t"]},
        {"output_type": "execute_result", "data": {"text/plain": "1"}, "metadata": {}, "execution_count": 3},
        shown(text_plain="figure", image_png=PNG, image_jpeg=JPEG),
    )
    assert outputs == cleaned(*outputs)


@pytest.mark.parametrize(
    "kind", ["text/html", "image/svg+xml", "application/javascript", "text/markdown", "x"]
)
def test_kinds_that_a_page_could_run_are_left_out(kind: str) -> None:
    data = {kind: "<script>alert(1)</script>", "text/plain": "plain"}
    assert (shown(text_plain="plain"),) == cleaned({"output_type": "display_data", "data": data})
    del data["text/plain"]
    assert () == cleaned({"output_type": "display_data", "data": data})


@pytest.mark.parametrize("picture", [JPEG, "<svg/>", "", "not base64!", [PNG], None, "\ud800", PNG + "é"])
def test_a_picture_that_is_none_is_left_out(picture: Any) -> None:
    assert (shown(text_plain="x"),) == cleaned(shown(text_plain="x", image_png=picture))


def test_metadata_and_transient_data_are_left_out() -> None:
    output = shown(text_plain="x") | {
        "metadata": {"isolated": True},
        "transient": {"display_id": "a"},
        "x": 1,
    }
    assert (shown(text_plain="x"),) == cleaned(output)


@pytest.mark.parametrize("count", [True, -1, 1.5, "1", 10**9, None])
def test_an_execution_count_that_is_none_is_left_out(count: Any) -> None:
    output = {"output_type": "execute_result", "data": {"text/plain": "1"}, "execution_count": count}
    assert cleaned(output)[0]["execution_count"] is None


def test_lone_surrogates_become_question_marks() -> None:
    output = {"output_type": "error", "ename": "\ud800", "evalue": "\ud800", "traceback": ["\ud800", 3]}
    assert ({"output_type": "error", "ename": "?", "evalue": "?", "traceback": ["?"]},) == cleaned(output)


@pytest.mark.parametrize("body", [b"{", b"{}", b"3", b"\xff\xfe", b"[" * 100_000, b"[" + b"9" * 5000 + b"]"])
def test_what_cannot_be_read_is_noted(body: bytes) -> None:
    assert (UNREADABLE,) == clean_outputs(body)


def test_no_bytes_are_no_outputs() -> None:
    assert () == clean_outputs(b"")


def test_all_texts_are_as_they_are_to_be_shown() -> None:
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": "at /x"},
        {"output_type": "error", "ename": "E", "evalue": "of /x", "traceback": ["in /x", "to /x"]},
        {"output_type": "display_data", "data": {"text/plain": "'/x'", "image/png": PNG}},
        {"output_type": "display_data", "data": {"image/png": PNG}},
    ]
    cleaned = clean_outputs(json.dumps(outputs).encode(), lambda text: text.replace("/x", "y"))
    assert ("at y", "of y", ["in y", "to y"]) == (
        cleaned[0]["text"],
        cleaned[1]["evalue"],
        cleaned[1]["traceback"],
    )
    assert [{"text/plain": "'y'", "image/png": PNG}, {"image/png": PNG}] == [
        one["data"] for one in cleaned[2:]
    ]


def test_too_many_outputs_are_cut_with_a_note() -> None:
    *kept, note = cleaned(*[{"output_type": "stream", "name": "stdout", "text": "a"}] * (OUTPUTS_LIMIT + 1))
    assert OUTPUTS_LIMIT == len(kept)
    assert "left out" in note["text"]


def check(body: bytes) -> None:
    """What comes back is valid in a notebook, can be written to a file, and holds known kinds alone."""
    outputs = clean_outputs(body)
    json.dumps(outputs, ensure_ascii=False, allow_nan=False).encode("utf-8")
    cell = nbformat.v4.new_code_cell(outputs=[nbformat.from_dict(dict(one)) for one in outputs])
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))
    for output in outputs:
        assert set(output.get("data", {})) <= {"text/plain", "image/png", "image/jpeg"}


@given(json_values | near_outputs)
def test_any_json_becomes_valid_outputs(value: Any) -> None:
    check(json.dumps(value).encode())


@given(st.binary(max_size=100))
def test_any_bytes_become_valid_outputs(body: bytes) -> None:
    check(body)
