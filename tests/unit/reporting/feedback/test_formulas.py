import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.assignments.catalog import KIT
from autograder.reporting.feedback.formulas import MAX_LENGTH, formula

Dangers = Callable[[str], list[str]]


def test_a_formula_becomes_mathml_that_keeps_its_tex() -> None:
    expected = '<math display="inline" alttext="a^2"><mrow><msup><mi>a</mi><mn>2</mn></msup></mrow></math>'
    assert expected == str(formula("a^2", block=False))


def test_a_formula_of_its_own_line_is_marked_as_a_block() -> None:
    assert formula("x", block=True).startswith('<span class="formula"><math display="block"')


def lesson_formulas() -> list[str]:
    cells = json.loads((KIT.parent / "source/multihead/multihead.ipynb").read_text())["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return sorted({one or other for one, other in re.findall(r"\$\$(.*?)\$\$|\$(.+?)\$", text, re.DOTALL)})


@pytest.mark.parametrize("tex", lesson_formulas())
def test_every_formula_of_the_lesson_is_understood(tex: str) -> None:
    shown = str(formula(tex, block=False))
    assert shown.startswith("<math")
    assert "\\" not in re.sub(r'alttext="[^"]*"', "", shown)


@pytest.mark.parametrize(
    "tex",
    [
        r"\text{<img src=x onerror=alert(1)>}",
        r"\text{</math><script>alert(1)</script>}",
        r"\text{&lt;script&gt;}",
        r"\unicode{x3c}script\unicode{x3e}",
        r"\href{javascript:alert(1)}{x}",
        r"\style{background:url(http://evil.example)}{x}",
        r"\class{x}{y}",
        r"\color{red;background:url(x)}x",
        '" onload="alert(1)',
        "<b>&amp;\"'",
    ],
)
def test_no_formula_can_bring_markup_of_its_own(tex: str, dangers: Dangers) -> None:
    shown = str(formula(tex, block=False))
    assert [] == dangers(shown)
    assert "href" not in re.sub(r'alttext="[^"]*"|<code>.*</code>', "", shown)


@pytest.mark.parametrize(
    "tex", ["", r"\frac", "}{", "{" * 3000, "x" * (MAX_LENGTH + 1), r"a^b^c", r"\begin{matrix}", r"\left("]
)
def test_what_is_not_understood_is_shown_as_it_was_typed(tex: str) -> None:
    assert f"<code>{tex}</code>" == str(formula(tex, block=False))


@pytest.mark.parametrize(
    "tex",
    [
        r"\newcommand{\a}{\b\b}\newcommand{\b}{\c\c}\a",
        r"\def\a{\a\a}\a",
        r"\let\a\b",
        r"\renewcommand{\a}{x}\a",
    ],
)
def test_macros_which_could_grow_without_end_are_not_expanded(tex: str) -> None:
    assert formula(tex, block=False).startswith("<code>")


def test_commands_that_merely_begin_like_macros_are_shown() -> None:
    assert formula(r"\left( \frac{a}{b} \right)", block=False).startswith("<math")


@given(st.text(alphabet="\\{}_^&<>\"'$abfrctextleigh123 %#~", max_size=60))
def test_any_text_is_harmless_as_a_formula(dangers: Dangers, tex: str) -> None:
    assert [] == dangers(str(formula(tex, block=True)))
