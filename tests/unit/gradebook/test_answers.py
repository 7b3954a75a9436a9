from pathlib import Path
from typing import Any

import pytest

from autograder.errors import CourseError
from autograder.gradebook.answers import Answers, digests_of


def test_cells_with_grade_ids_have_digests_of_their_texts(build: Any) -> None:
    notebook = build.notebook(build.markdown("# Title"), build.question("why", source="  Because.\n"))
    same = build.notebook(build.question("why", source="Because."))
    other = build.notebook(build.question("why", source="Because!"))
    assert {"why"} == digests_of(notebook).keys()
    assert digests_of(notebook) == digests_of(same) != digests_of(other)


@pytest.mark.parametrize("student", ["s01", "Zo\u00eb", "-rf", "a/b", "a b", "o'hara", "%s"])
def test_digests_are_read_back_whatever_the_student_is_called(tmp_path: Path, student: str) -> None:
    answers = Answers(tmp_path, "toy")
    assert answers.read(student) == {}
    answers.write(student, {"toy": {"why": "abc"}})
    answers.write("another", {"toy": {"why": "xyz"}})
    assert answers.read(student) == {"toy": {"why": "abc"}}
    assert {tmp_path / ".autograder/toy/answers"} == {path.parent for path in tmp_path.rglob("*.json")}


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"[" * 100_000, b'{"student": "s01"}', b'{"student": "x", "notebooks": {}}'],
)
def test_a_damaged_file_counts_as_none(tmp_path: Path, content: bytes) -> None:
    answers = Answers(tmp_path, "toy")
    (tmp_path / ".autograder/toy/answers/s01.json").write_bytes(content)
    assert answers.read("s01") == {}


def test_digests_that_cannot_be_written_are_said_in_words(tmp_path: Path) -> None:
    answers = Answers(tmp_path, "toy")
    (tmp_path / ".autograder/toy/answers").rmdir()
    with pytest.raises(CourseError, match=r"s01\.json cannot be written"):
        answers.write("s01", {})
