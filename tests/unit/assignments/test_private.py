import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from autograder.assignments.private import course_secret, grading_lock, private_folder, student_file
from autograder.errors import CourseError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_folder_is_the_owners_alone_and_ignored_by_git(tmp_path: Path) -> None:
    folder = private_folder(tmp_path, "toy", "records")
    assert folder == tmp_path / ".autograder" / "toy" / "records"
    assert 0o700 == mode(tmp_path / ".autograder") == mode(folder)
    assert (tmp_path / ".autograder" / ".gitignore").read_text() == "*\n"


def test_a_folder_that_was_opened_to_others_is_closed_again(tmp_path: Path) -> None:
    private_folder(tmp_path).chmod(0o755)
    assert mode(private_folder(tmp_path)) == 0o700


def test_a_folder_that_cannot_be_made_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / ".autograder").write_text("in the way")
    with pytest.raises(CourseError, match=r"private folder .* cannot be used"):
        private_folder(tmp_path)


def test_the_secret_is_drawn_once_for_a_course(tmp_path: Path) -> None:
    secret = course_secret(tmp_path)
    assert len(secret) == 32
    assert secret == course_secret(tmp_path)
    assert mode(tmp_path / ".autograder" / "secret") == 0o600
    (tmp_path / "other").mkdir()
    assert secret != course_secret(tmp_path / "other")
    assert [".gitignore", "secret"] == sorted(path.name for path in (tmp_path / ".autograder").iterdir())


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_damaged_secret_is_not_replaced_in_silence(tmp_path: Path, content: bytes) -> None:
    (private_folder(tmp_path) / "secret").write_bytes(content)
    with pytest.raises(CourseError, match="secret"):
        course_secret(tmp_path)
    assert (tmp_path / ".autograder" / "secret").read_bytes() == content


def test_a_second_grader_is_refused_or_waits_for_the_first(tmp_path: Path) -> None:
    with grading_lock(tmp_path):
        with pytest.raises(CourseError, match="Another grader is at work"), grading_lock(tmp_path):
            pytest.fail("both hold the course")
        with (
            pytest.raises(CourseError, match="Another grader is at work"),
            grading_lock(tmp_path, wait_seconds=0.2),
        ):
            pytest.fail("both hold the course")
    first = grading_lock(tmp_path)
    first.__enter__()
    threading.Timer(0.2, first.__exit__, (None, None, None)).start()
    with grading_lock(tmp_path, wait_seconds=30):
        pass


def test_the_lock_ends_with_the_process_however_that_ends(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from autograder.assignments.private import grading_lock\n"
        "with grading_lock(pathlib.Path(sys.argv[1])):\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert "held\n" == other.stdout.readline()
        with (
            pytest.raises(CourseError, match="Another grader is at work on") as caught,
            grading_lock(tmp_path),
        ):
            pytest.fail("both hold the course")
        assert f"{tmp_path}. Wait until it has finished." in str(caught.value)
        other.kill()
    with grading_lock(tmp_path):
        assert (tmp_path / ".autograder" / "lock").exists()


def test_a_lock_that_cannot_be_opened_is_said_in_words(tmp_path: Path) -> None:
    (private_folder(tmp_path) / "lock").mkdir()
    with pytest.raises(CourseError, match="lock cannot be opened: Is a directory"), grading_lock(tmp_path):
        pytest.fail("a folder was locked")


def test_a_students_file_has_a_name_of_its_own_on_every_system(tmp_path: Path) -> None:
    students = ["ada", "Ada", "a/b", "..", "", "o'hara", "caf\u00e9", "caf\udce9", "x" * 200]
    paths = [student_file(tmp_path, student) for student in students]
    assert {tmp_path} == {path.parent for path in paths}
    assert len(students) == len({path.name.lower() for path in paths})
    assert paths[0] == tmp_path / "ada.json"
