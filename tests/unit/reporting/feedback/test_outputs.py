import base64
from typing import Any

from autograder.reporting.feedback.outputs import MAX_PARTS, MAX_TEXT, Part, error_name, shown_outputs

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nrest").decode()


def display(**data: Any) -> dict[str, Any]:
    return {
        "output_type": "display_data",
        "metadata": {},
        "data": {k.replace("_", "/"): v for k, v in data.items()},
    }


def test_text_warnings_and_errors_are_told_apart() -> None:
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["one\n", "two\n"]},
        {"output_type": "stream", "name": "stderr", "text": "careful\n"},
        {
            "output_type": "error",
            "ename": "ValueError",
            "evalue": "no",
            "traceback": ["\x1b[31mTrace\x1b[0m", "no"],
        },
        {"output_type": "execute_result", "data": {"text/plain": "7"}, "metadata": {}, "execution_count": 1},
    ]
    expected = (
        Part("text", "one\ntwo"),
        Part("warning", "careful"),
        Part("error", "Trace\nno"),
        Part("text", "7"),
    )
    assert expected == shown_outputs(outputs, "cell 3")


def test_a_picture_is_shown_with_words_in_place_of_its_text() -> None:
    (part,) = shown_outputs([display(image_png=PNG, text_plain="<Figure>")], "cell 3")
    assert Part("picture", "A picture made by cell 3", f"data:image/png;base64,{PNG}") == part


def test_html_svg_and_scripts_are_never_shown() -> None:
    active = {"text/html": "<b>bold</b>", "image/svg+xml": "<svg/>", "application/javascript": "x"}
    with_text = {"output_type": "display_data", "data": {**active, "text/plain": "plain"}}
    assert (Part("text", "plain"),) == shown_outputs([with_text], "a cell")
    (part,) = shown_outputs([{"output_type": "display_data", "data": active}], "a cell")
    assert "[an output that is neither text nor a picture is not shown here]" == part.text


def test_a_false_picture_gives_way_to_the_text_beside_it() -> None:
    assert (Part("text", "plain"),) == shown_outputs(
        [display(image_png="PHN2Zy8+", text_plain="plain")], "a cell"
    )


def test_endless_outputs_are_cut_and_say_so() -> None:
    (part,) = shown_outputs(
        [{"output_type": "stream", "name": "stdout", "text": "x" * (MAX_TEXT + 5)}], "a cell"
    )
    assert (MAX_TEXT, 5) == (len(part.text), part.left_out)
    many = shown_outputs([display(text_plain="x")] * (MAX_PARTS + 3), "a cell")
    assert "[3 further outputs are not shown here]" == many[-1].text


def test_outputs_of_any_shape_do_no_harm() -> None:
    strange: list[Any] = [None, 7, {}, {"output_type": "stream"}, {"output_type": "display_data", "data": []}]
    strange += [{"output_type": "error", "traceback": 3}, {"output_type": "stream", "text": [1, "a"]}]
    assert [Part("text", ""), Part("error", ": "), Part("text", "a")] == list(
        shown_outputs(strange, "a cell")
    )
    for outputs in (None, 3, "text", {}):
        assert () == shown_outputs(outputs, "a cell")


def test_the_error_with_which_a_cell_ended_is_named_in_one_short_line() -> None:
    assert "Value Error" == error_name([{"output_type": "error", "ename": "Value\n\x1b[1mError"}])
    assert 60 == len(error_name([{"output_type": "error", "ename": "E" * 500}]) or "")
    assert "an error" == error_name([{"output_type": "error"}])
    assert error_name([{"output_type": "stream", "text": "x"}]) is None
