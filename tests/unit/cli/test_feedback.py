"""What ``autograder feedback`` says at its end."""

from pathlib import Path

import pytest

from autograder.cli.feedback import summary
from autograder.usecases.feedback import ClassFeedback, Entry


def entry(student: str, **more: object) -> Entry:
    return Entry(student, Path("feedback") / student / "toy", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("feedback", "lines"),
    [
        (
            ClassFeedback((entry("ada", written=3), entry("bob")), ()),
            ["1 written, 1 as they were.", "For example: feedback/ada/toy (.html, .md, .txt)"],
        ),
        (
            ClassFeedback((entry("ada", waiting=("why",)), entry("bob", waiting=("why", "how"))), ("cyd",)),
            [
                "0 written, 2 as they were.",
                "For example: feedback/ada/toy (.html, .md, .txt)",
                "Still to be graded by hand (why, how): 2 of 2, and their feedback says so.",
                "Handed in, but not graded yet: cyd",
            ],
        ),
        (
            ClassFeedback((entry("ada", fault="ValueError: no", trace=""),), ()),
            ["0 written, 0 as they were."],
        ),
    ],
)
def test_it_says_what_was_done_and_what_is_still_to_do(feedback: ClassFeedback, lines: list[str]) -> None:
    assert lines == summary(feedback).splitlines()


def test_a_students_name_cannot_command_the_terminal() -> None:
    assert "\x1b" not in summary(ClassFeedback((entry("a\x1b[31m", written=1),), ("\x1b[2J",)))
