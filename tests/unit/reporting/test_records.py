import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.errors import CourseError
from autograder.model import CheckResult, ExerciseResult, Status, SubmissionResult, Verdict
from autograder.reporting.records import Record, Records, submission_fingerprint


def record(student: str = "s01") -> Record:
    check = CheckResult("values", Verdict.FAILED, 0.0, 1.0, "Wrong.", detail="hidden 42", attempt=3)
    result = SubmissionResult(
        student, 0.0, 1.0, Status.GRADED, exercises=(ExerciseResult("f", 0.0, 1.0, (check,)),)
    )
    return Record("submission", "assignment", result)


@pytest.mark.parametrize(
    "student", ["s01", "S01", "-rf", "a b", "Zoë", "x" * 250, "..", "caf\udce9", "con/../x"]
)
def test_a_record_is_read_back_whole_whatever_the_student_is_called(tmp_path: Path, student: str) -> None:
    records = Records(tmp_path, "toy")
    assert records.read(student) is None
    records.write(record(student))
    assert records.read(student) == record(student)
    assert [tmp_path / ".autograder/toy/records"] == list({p.parent for p in tmp_path.rglob("*.json")})


def test_names_that_differ_only_in_case_have_records_of_their_own(tmp_path: Path) -> None:
    records = Records(tmp_path, "toy")
    for student in ("s01", "S01"):
        records.write(record(student))
    names = {path.name.lower() for path in (tmp_path / ".autograder/toy/records").iterdir()}
    assert len(names) == 2


def test_records_are_the_owners_alone(tmp_path: Path) -> None:
    Records(tmp_path, "toy").write(record())
    folder = tmp_path / ".autograder" / "toy" / "records"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [0o600] == [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"record_version": 2}', b"[" * 100_000, b"\xff"])
def test_a_damaged_record_counts_as_none(tmp_path: Path, content: bytes) -> None:
    records = Records(tmp_path, "toy")
    records.write(record())
    (tmp_path / ".autograder/toy/records/s01.json").write_bytes(content)
    assert records.read("s01") is None


def test_a_record_that_cannot_be_written_is_said_in_words(tmp_path: Path) -> None:
    records = Records(tmp_path, "toy")
    (tmp_path / ".autograder/toy/records").rmdir()
    with pytest.raises(CourseError, match=r"s01\.json cannot be written"):
        records.write(record())


def make_submission(folder: Path) -> Path:
    (folder / "sub").mkdir(parents=True)
    (folder / "lab.ipynb").write_text("{}")
    (folder / "sub" / "a.txt").write_text("a")
    (folder / "link").symlink_to("lab.ipynb")
    return folder


def relink(folder: Path) -> None:
    (folder / "link").unlink()
    (folder / "link").symlink_to("sub")


CHANGES: dict[str, Callable[[Path], object]] = {
    "content": lambda folder: (folder / "sub" / "a.txt").write_text("b"),
    "new": lambda folder: (folder / "b.txt").write_text(""),
    "name": lambda folder: (folder / "lab.ipynb").rename(folder / "my lab.ipynb"),
    "gone": lambda folder: (folder / "lab.ipynb").unlink(),
    "folder": lambda folder: (folder / "empty").mkdir(),
    "link": relink,
    "fifo": lambda folder: os.mkfifo(folder / "fifo"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_fingerprint_tells_every_change_of_a_submission(tmp_path: Path, change: str) -> None:
    folder = make_submission(tmp_path / "s")
    before = submission_fingerprint(folder)
    assert before == submission_fingerprint(make_submission(tmp_path / "same"))
    CHANGES[change](folder)
    assert before != submission_fingerprint(folder)


def test_a_file_with_a_hole_of_a_terabyte_takes_no_longer_than_others(tmp_path: Path) -> None:
    with (tmp_path / "hole").open("wb") as file:
        file.truncate(2**40)
    before = submission_fingerprint(tmp_path)
    assert before == submission_fingerprint(tmp_path)
    os.utime(tmp_path / "hole", (1, 1))
    assert before != submission_fingerprint(tmp_path)


def test_a_missing_folder_and_odd_file_names_have_fingerprints(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9\n")).write_text("x")
    assert len({submission_fingerprint(tmp_path / "nowhere"), submission_fingerprint(tmp_path)}) == 2
