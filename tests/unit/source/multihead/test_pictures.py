"""Pictures of numbers: as text for all, as an image where matplotlib is, and never where nobody looks."""

import base64
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import multihead as reference
import pictures
from pictures import Picture, comparison, show_below, shown, svg_of, text_of, total, weights
from worked_examples import forward_examples, weights_of_three_tokens

SVG = "{http://www.w3.org/2000/svg}"
TWO_HEADS = {"2 heads": np.array([[[1, 0], [0.25, 0.75]], [[1, 0], [0.5, 0.5]]])}
IN_TWO_HEADS = np.array([[[[0, 1], [4, 5]], [[2, 3], [6, 7]]]])


def of_direct_reshape() -> Picture:
    got = np.arange(8).reshape(1, 2, 2, 2)
    return comparison(IN_TWO_HEADS, got, got != IN_TWO_HEADS, "batch heads seq d_head")


def of_row(expected: list[float], got: list[float]) -> str:
    right, came = np.array([expected]), np.array([got])
    return text_of(comparison(right, came, ~(right == came), "rows columns"))


# As text.


def test_expected_stands_beside_got_with_the_names_of_the_axes_and_a_star_at_what_is_wrong() -> None:
    assert [
        "  expected                      got",
        "  batch 0  head 0  head 1       batch 0  head 0  head 1",
        "   d_head  0  1    0  1          d_head  0  1    0  1",
        "    seq 0  0  1    2  3           seq 0  0  1   *4 *5",
        "    seq 1  4  5    6  7           seq 1 *2 *3    6  7",
        "",
        "           *  4 of 8 numbers are not as expected",
    ] == text_of(of_direct_reshape()).splitlines()


def test_what_is_too_wide_stands_below() -> None:
    expected = np.linspace(-1, 1, 24).reshape(1, 3, 8)
    lines = text_of(comparison(expected, -expected, expected != 0, "batch seq d_model")).splitlines()
    assert ["  expected", "  got"] == [lines[0], lines[7]]


def test_whole_numbers_are_written_without_decimals_and_others_with_three() -> None:
    assert "   row 0  2  6        row 0 *3  6" in of_row([2.0, 6.0], [3.0, 6.0])
    assert "0.406  1.749       " in of_row([0.405528, 1.749447], [0.0, 1.749447])


def test_wrong_numbers_that_would_look_right_get_more_decimals() -> None:
    assert "0.4055  1.7494        row 0 *0.4056  1.7494" in of_row([0.405528, 1.749447], [0.405564, 1.749447])


def test_numbers_that_are_none_and_huge_ones_are_written_too() -> None:
    assert re.search(
        r"row 0 +\*nan +\*-inf +\*1e\+30$", of_row([1, 2, 3], [np.nan, -np.inf, 1e30]), re.MULTILINE
    )


def test_weights_are_shown_by_head_and_what_the_mask_hides_stays_empty() -> None:
    lines = text_of(weights(TWO_HEADS, "Weights")).splitlines()
    assert [
        "  2 heads",
        "  batch 0  head 0        head 1",
        "      key     0     1       0     1",
        "  query 0  1.00          1.00",
        "  query 1  0.25  0.75    0.50  0.50",
    ] == lines[2:]


def test_a_sum_is_shown_with_its_signs() -> None:
    parts = {"through Q": np.array([[[1.0]]]), "through K": np.array([[[0.5]]])}
    assert "    seq 0  1.00    +    seq 0  0.50    =    seq 0  1.50" in text_of(
        total(parts, "dx", "batch seq d_model")
    )


def test_the_weights_in_the_picture_are_those_of_the_examples() -> None:
    examples = {one.heads: one for one in forward_examples() if one.x.shape[1] == 3}
    assert [1, 2, 4] == sorted(examples) == list(weights_of_three_tokens())
    for heads, table in weights_of_three_tokens().items():
        one = examples[heads]
        _, cache = reference.multihead(one.x, one.params, one.heads, one.allowed)
        assert table[None] == pytest.approx(cache["attention"]["weights"], abs=1e-6)


# As an alternative text.


def test_the_alternative_text_tells_the_wrong_places() -> None:
    assert of_direct_reshape().alt == (
        "Expected and got. 4 of 8 numbers are not as expected: "
        "batch 0 head 0 seq 1 d_head 0: 2 instead of 4; batch 0 head 0 seq 1 d_head 1: 3 instead of 5; "
        "batch 0 head 1 seq 0 d_head 0: 4 instead of 2; "
        "batch 0 head 1 seq 0 d_head 1: 5 instead of 3."
    )


def test_weights_without_heads_are_one_table() -> None:
    lines = text_of(weights({"all": np.array([[1, 0], [0.25, 0.75]])}, "Weights")).splitlines()
    assert ["  all", "      key     0     1", "  query 0  1.00", "  query 1  0.25  0.75"] == lines[2:]


def test_the_alternative_text_tells_six_places_at_most() -> None:
    alt = comparison(np.zeros((2, 4)), np.ones((2, 4)), np.ones((2, 4), dtype=bool), "rows columns").alt
    assert 6 == alt.count("1 instead of 0")
    assert alt.endswith("; and 2 more.")


def test_the_alternative_text_of_right_numbers_holds_them_all() -> None:
    alt = weights(TWO_HEADS, "Weights").alt
    assert "Weights; a row for each query. 2 heads: head 0: 1.00, 0.25 0.75; head 1: 1.00, 0.50 0.50." == alt
    parts = {"a": np.array([[1.0, 2.0]]), "b": np.array([[3.0, 4.0]])}
    assert "a + b = c. a: 1.00 2.00. b: 3.00 4.00. c: 4.00 6.00." == total(parts, "c", "rows columns").alt


# As an image.


def test_the_image_is_an_svg_file_that_needs_no_other() -> None:
    root = ET.fromstring(svg_of(of_direct_reshape()))  # noqa: S314 - a file of our own
    assert f"{SVG}svg" == root.tag
    tags = {one.tag.removeprefix(SVG) for one in root.iter()}
    assert tags.isdisjoint({"script", "image", "foreignObject", "a"})
    links = [value for one in root.iter() for name, value in one.attrib.items() if name.endswith("href")]
    assert all(link.startswith("#") for link in links)


def test_the_same_picture_gives_the_same_bytes_whatever_the_notebook_has_set() -> None:
    import matplotlib as mpl

    before = svg_of(of_direct_reshape())
    with mpl.rc_context({"text.color": "white", "font.size": 30, "svg.fonttype": "none"}):
        assert before == svg_of(of_direct_reshape())
        assert "white" == mpl.rcParams["text.color"]


def test_wrong_numbers_are_hatched_and_framed_and_missed_ones_are_framed() -> None:
    image = svg_of(of_direct_reshape()).decode().lower()
    thick = [style for style in re.findall(r'style="([^"]*)"', image) if "stroke-width: 2.4" in style]
    frames = ["stroke: #d55e00" in style for style in thick]
    assert (5, 4) == (frames.count(True), frames.count(False))  # four wrong numbers and the key
    assert 5 == image.count("stroke-width: 0.7")  # hatching


def test_drawing_leaves_pyplot_and_its_figures_alone() -> None:
    code = "import pictures, sys; import numpy as np; one = np.ones((2, 2)); "
    code += "pictures.svg_of(pictures.comparison(one, one, one > 1, 'rows columns')); "
    code += "assert 'matplotlib' in sys.modules; assert 'matplotlib.pyplot' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=pictures.__file__.rpartition("/")[0])


# In a notebook.


def test_jupyter_gets_an_image_with_an_alternative_text_and_the_same_as_text() -> None:
    picture = of_direct_reshape()
    bundle = shown(picture)
    assert {"text/plain", "text/html"} == set(bundle)
    assert text_of(picture) == bundle["text/plain"]
    match = re.fullmatch(
        r'<img width="\d+" style="[^"]*" src="data:image/svg\+xml;base64,([^"]*)" alt="([^"]*)">',
        bundle["text/html"],
    )
    assert match is not None
    assert svg_of(picture) == base64.b64decode(match[1])
    assert picture.alt == match[2]


def test_an_alternative_text_cannot_end_its_attribute() -> None:
    assert 'alt="&quot;&gt;&lt;b&gt;"' in shown(of_direct_reshape()._replace(alt='"><b>'))["text/html"]


def test_without_matplotlib_there_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert {"text/plain": text_of(of_direct_reshape())} == shown(of_direct_reshape())


def test_a_matplotlib_that_is_broken_is_named_below_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = ModuleType("matplotlib")
    monkeypatch.setitem(sys.modules, "matplotlib", broken)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    text = shown(of_direct_reshape())["text/plain"]
    assert text.startswith(text_of(of_direct_reshape()))
    assert "(matplotlib could not draw this: ModuleNotFoundError: import of matplotlib.figure halted" in text


class Shell:
    """As much of IPython's shell as shows pictures; a cell ends when the test says so."""

    def __init__(self) -> None:
        self.published: list[dict[str, str]] = []
        self.waiting: list[Callable[[object], None]] = []
        self.display_pub = SimpleNamespace(publish=self.published.append)
        self.events = SimpleNamespace(
            register=lambda _, call: self.waiting.append(call),
            unregister=lambda _, call: self.waiting.remove(call),
        )

    def end_cell(self) -> None:
        for call in list(self.waiting):
            call(None)


def install(monkeypatch: pytest.MonkeyPatch, shell: Any) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


def test_a_picture_comes_once_when_the_cell_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = Shell()
    shell.kernel = object()  # type: ignore[attr-defined]
    install(monkeypatch, shell)
    for _ in range(2):  # IPython renders an error more than once
        show_below(of_direct_reshape)
    assert [] == shell.published
    for _ in range(2):
        shell.end_cell()
    assert [shown(of_direct_reshape())] == shell.published


def never() -> Picture:
    raise AssertionError("nobody looks")


@pytest.mark.parametrize("where", ["a program", "a shell without Jupyter", "nbgrader"])
def test_elsewhere_nothing_is_made_and_nothing_shown(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = Shell()
    install(monkeypatch, None if where == "a program" else shell)
    if where == "nbgrader":
        shell.kernel = object()  # type: ignore[attr-defined]
        monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    show_below(never)
    shell.end_cell()
    assert [] == shell.published


def test_a_program_without_ipython_is_no_notebook_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    show_below(never)
    assert "IPython" not in sys.modules
