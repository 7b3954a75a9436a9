import html
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.reporting.feedback.code import MAX_COLOURED, MAX_LENGTH, code_lines

TEXT = 'def f(x):\n    """Two\n\n    lines."""\n\n    return "<b>"  # 1 < 2'


def text_of(line: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", line))


def test_every_line_of_the_code_is_one_line_of_the_page() -> None:
    assert TEXT.split("\n") == [text_of(line) for line in code_lines(TEXT)]


def test_signs_of_markup_are_escaped() -> None:
    assert not any("<b>" in line for line in code_lines(TEXT))


@pytest.mark.parametrize("text", ["x = 1\n" * MAX_COLOURED, "(" * (MAX_COLOURED + 1)])
def test_long_code_is_shown_without_colours(text: str) -> None:
    assert not any("<span" in line for line in code_lines(text))


def test_code_that_is_far_too_long_ends_early_and_says_so() -> None:
    lines = code_lines("x\n" * MAX_LENGTH)
    assert "[the rest of this cell is not shown here]" == lines[-1]
    assert len(lines) < MAX_LENGTH


@given(st.text(alphabet="\"'#\\\n\r\t ()[]{}<>&abfr0", max_size=80))
def test_any_code_is_harmless_and_keeps_its_lines(dangers: Callable[[str], list[str]], text: str) -> None:
    lines = code_lines(text)
    assert [] == dangers("".join(f"<span>{line}</span>" for line in lines))
    assert len(lines) == text.replace("\r\n", "\n").count("\n") + 1
