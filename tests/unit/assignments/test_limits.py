from pathlib import Path

import pytest

from autograder.assignments.limits import read_limits
from autograder.errors import CourseError
from autograder.model import Limits


def write(course: Path, text: str) -> Path:
    (course / "limits.toml").write_text(text)
    return course


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert Limits() == read_limits(tmp_path, "toy")


def test_an_assignments_own_table_takes_precedence_over_the_top(tmp_path: Path) -> None:
    write(tmp_path, "call_seconds = 3\nprocesses = 9\n[toy]\nprocesses = 7\n[other]\ncall_seconds = 99\n")
    assert Limits(call_seconds=3.0, processes=7) == read_limits(tmp_path, "toy")
    assert Limits(call_seconds=3.0, processes=9) == read_limits(tmp_path, "third")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("call_second = 3", "there is no limit 'call_second'. Did you mean 'call_seconds'?"),
        ("[toy]\nnonsense = 3", "there is no limit 'nonsense'. Known are: call_seconds"),
        ("call_seconds = '3'", "call_seconds must be a number, not '3'"),
        ("call_seconds = true", "call_seconds must be a number, not True"),
        ("processes = 2.5", "processes must be a whole number, not 2.5"),
        ("call_seconds = 0", "call_seconds must be greater than 0, not 0"),
        ("call_seconds = nan", "call_seconds must be greater than 0, not nan"),
        ("call_seconds = inf", "call_seconds must be greater than 0, not inf"),
        ("call_seconds", "is not valid TOML"),
        ("toy = 3", "must be a table"),
    ],
)
def test_limits_that_make_no_sense_are_refused_in_words(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(CourseError, match=r"limits\.toml") as caught:
        read_limits(write(tmp_path, text), "toy")
    assert sentence in str(caught.value)
