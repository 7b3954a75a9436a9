import io
import json
import os
import stat
import threading
from pathlib import Path

import pytest
from rich.text import Text

from autograder.cli.results import progress_bar, show, write_json
from autograder.errors import CourseError
from autograder.model import Status, SubmissionResult

RESULTS = [SubmissionResult(student, 1.0, 2.0, Status.GRADED) for student in ("ada", "Zoë", "caf\udce9")]
STUDENTS = [one.student for one in RESULTS]


def students(data: bytes) -> list[str]:
    return [one["student"] for one in json.loads(data.decode("utf-8"))["submissions"]]


def test_without_a_target_nothing_is_written(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_json(None, "toy", RESULTS)
    assert (b"", b"") == capfdbinary.readouterr()


def test_standard_output_carries_utf8_and_nothing_else(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    write_json("-", "toy", RESULTS)
    show("a table", "-")
    out, err = capsysbinary.readouterr()
    assert (STUDENTS, b"") == (students(out), err)


def test_what_is_wide_is_not_broken_in_a_pipe_unless_columns_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    line = " ".join(["word"] * 39 + ["end."])
    show(Text(line), wide=True)
    assert [line] == capsys.readouterr().out.splitlines()
    show(Text(line))
    assert 1 < len(capsys.readouterr().out.splitlines())
    monkeypatch.setenv("COLUMNS", "100")
    show(Text(line), wide=True)
    assert 2 == len(capsys.readouterr().out.splitlines())


def test_a_file_appears_whole_with_the_rights_that_new_files_have(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    before = os.umask(0o027)
    try:
        write_json(str(path), "toy", RESULTS)
    finally:
        os.umask(before)
    assert STUDENTS == students(path.read_bytes())
    assert 0o640 == stat.S_IMODE(path.stat().st_mode)
    assert [path] == list(tmp_path.iterdir())


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    write_json(str(tmp_path / "link.json"), "toy", RESULTS)
    assert (tmp_path / "link.json").is_symlink()
    assert STUDENTS == students((tmp_path / "real.json").read_bytes())


def test_a_pipe_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    write_json(str(path), "toy", RESULTS)
    reader.join(10)
    assert STUDENTS == students(read[0])
    assert path.is_fifo()


@pytest.mark.parametrize(
    ("name", "reason"), [("no/such/r.json", "No such file"), (".", "Is a directory"), ("f/r", "Not a dir")]
)
def test_what_cannot_be_written_is_said_in_words(name: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    with pytest.raises(CourseError, match=f"The results cannot be written to .*: {reason}"):
        write_json(str(tmp_path / name), "toy", RESULTS)


def test_lines_of_text_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    line = "[bold]/tmp/" + "x" * 100 + "[/bold] :smile: 1.5"
    show(line)
    assert f"{line}\n" == capsys.readouterr().out


def test_a_terminal_that_has_no_such_sign_shows_another(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding="latin-1", write_through=True))
    show("✓✗ café…, 1 → 2 – \u4e2d")
    assert "+x café., 1 > 2 - ?\n".encode("latin-1") == written.getvalue()


def test_progress_is_for_people_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("grading") as advance:
        advance(1, 2, "ada")
    assert ("", "") == capsys.readouterr()


def test_on_a_terminal_progress_shows_the_last_name_as_plain_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with progress_bar("grading [b]") as advance:
        advance(1, 2, "[red]ada\x1b]0;title\x07")
    out, err = capsys.readouterr()
    assert "" == out
    assert "[red]ada\ufffd]0;title\ufffd" in err
    assert "\x1b]0;title" not in err
