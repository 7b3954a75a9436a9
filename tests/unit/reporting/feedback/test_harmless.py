import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.reporting.feedback.harmless import REPLACEMENT, as_displayed, harmless, one_line


@pytest.mark.parametrize(
    "sequence",
    [
        "\x1b[31m",
        "\x1b[2J",
        "\x1b]0;title\x07",
        "\x1b]8;;http://evil.example\x1b\\",
        "\x1b(B",
        "\x1bc",
        "\x1b[?25l",
    ],
)
def test_commands_to_a_terminal_vanish(sequence: str) -> None:
    assert "before after" == harmless(f"before {sequence}after")


@pytest.mark.parametrize(
    "sign", ["\x00", "\x07", "\x08", "\x1b", "\x7f", "\x9b", "\u202e", "\u2066", "\u2028", "\ud800"]
)
def test_other_control_characters_show_as_such(sign: str) -> None:
    assert f"a{REPLACEMENT}" == harmless(f"a{sign}")


@pytest.mark.parametrize("text", ["tab\there", "two\nlines", "müßig", "日本語", "👩‍🔬", "می‌خواهم"])
def test_what_people_write_stays(text: str) -> None:
    assert text == harmless(text)


@given(st.text())
def test_no_control_character_survives_in_any_text(text: str) -> None:
    kept = harmless(text)
    assert all(sign in "\n\t" or sign.isprintable() or sign not in "\x1b\x00\r\u202e" for sign in kept)
    assert kept == harmless(kept)


def test_what_a_carriage_return_overwrites_is_gone() -> None:
    assert "100 %\nnext" == as_displayed("1 %\r50 %\r100 %\r\nnext\r")


def test_a_line_without_end_takes_no_longer_than_others() -> None:
    start = time.process_time()
    assert 4_000_000 == len(as_displayed("x" * 4_000_000))
    assert time.process_time() - start < 2


def test_a_single_line_has_no_line_breaks() -> None:
    assert "a b c" == one_line(" a\n b\t\r\nc ")
