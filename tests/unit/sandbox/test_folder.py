"""The files of a run: plain copies, whatever was handed in."""

import os
import shutil
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.errors import JudgeError
from autograder.sandbox import folder as module
from autograder.sandbox.folder import remove, stage, unstage


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    folder = tmp_path / "submission"
    folder.mkdir()
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder


def files(folder: Path) -> dict[str, str]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


def test_files_and_folders_are_copied(submission: Path, runs: Path) -> None:
    (submission / "deep" / "er").mkdir(parents=True)
    (submission / "a.py").write_text("a")
    (submission / "deep" / "er" / "b.txt").write_text("b")
    staged, notes = stage(runs, submission, {})
    assert {"a.py": "a", "deep/er/b.txt": "b"} == files(staged)
    assert () == notes
    assert runs == staged.parent


def test_without_a_submission_there_are_the_given_files_alone(runs: Path) -> None:
    staged, notes = stage(runs, None, {"given.py": b"given", "data/given.py": b"given"})
    assert ({"given.py": "given", "data/given.py": "given"}, ()) == (files(staged), notes)


@pytest.mark.parametrize("handed_in", ["file", "folder", "link", "file in the way", "read-only file"])
def test_given_files_lie_over_those_of_the_student(
    submission: Path, runs: Path, tmp_path: Path, handed_in: str
) -> None:
    original = tmp_path / "given.py"
    original.write_text("given")
    name = "data/given.py"
    if handed_in == "file in the way":
        (submission / "data").write_text("mine")
    else:
        (submission / "data").mkdir()
    match handed_in:
        case "file" | "read-only file":
            (submission / name).write_text("mine")
            (submission / name).chmod(0o644 if handed_in == "file" else 0o444)
        case "folder":
            (submission / name / "inside").mkdir(parents=True)
        case "link":
            (submission / name).symlink_to(original)
    staged, _ = stage(runs, submission, {name: b"given"})
    assert {name: "given"} == files(staged)
    assert "given" == original.read_text()


def link_to_file(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def link_to_folder(path: Path) -> None:
    path.symlink_to("/etc")


def fifo(path: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        os.chdir(path.parent)  # the names of sockets must be short
        one.bind(path.name)
        os.chdir(here)


@pytest.mark.parametrize("make", [link_to_file, link_to_folder, fifo, unix_socket])
def test_what_is_no_plain_file_is_left_out_and_named(
    submission: Path, runs: Path, make: Callable[[Path], None]
) -> None:
    make(submission / "odd")
    (submission / "plain").write_text("x")
    start = time.monotonic()
    staged, notes = stage(runs, submission, {})
    assert {"plain": "x"} == files(staged)
    assert 1 == len(notes)
    assert notes[0].startswith("odd was left out: it is ")
    assert time.monotonic() - start < 1


def test_a_submission_that_is_itself_a_link_is_left_out(submission: Path, runs: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(submission)
    (submission / "a").write_text("a")
    staged, notes = stage(runs, tmp_path / "link", {})
    assert {} == files(staged)
    assert "link was left out" in notes[0]


def test_a_submission_that_is_missing_is_noted(runs: Path, tmp_path: Path) -> None:
    staged, notes = stage(runs, tmp_path / "nowhere", {})
    assert ({}, ("nowhere was left out: No such file or directory.",)) == (files(staged), notes)


@pytest.mark.parametrize("exchange", [link_to_file, fifo])
def test_a_file_that_is_exchanged_after_we_looked_is_left_out(
    submission: Path, runs: Path, exchange: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    (submission / "file").write_text("x")
    look = os.stat

    def look_and_exchange(path: str, **options: object) -> os.stat_result:
        seen = look(path, **options)  # type: ignore[arg-type]
        if path == "file" and stat.S_ISREG(seen.st_mode):
            (submission / "file").unlink()
            exchange(submission / "file")
        return seen

    monkeypatch.setattr(module.os, "stat", look_and_exchange)
    staged, notes = stage(runs, submission, {})
    monkeypatch.undo()
    assert {} == files(staged)
    assert notes[0].startswith("file was left out")


def test_a_folder_that_is_exchanged_for_a_link_leads_nowhere(
    submission: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (submission / "folder").mkdir()
    (submission / "folder" / "hostname").write_text("mine")
    listing = os.listdir

    def list_and_exchange(folder: int) -> list[str]:
        names = listing(folder)
        if names == ["hostname"]:
            shutil.rmtree(submission / "folder")
            (submission / "folder").symlink_to("/etc")
        return names

    monkeypatch.setattr(module.os, "listdir", list_and_exchange)
    staged, notes = stage(runs, submission, {})
    monkeypatch.undo()
    assert {} == files(staged)
    assert notes[0].startswith("folder/hostname was left out")


def test_too_many_files_are_cut(submission: Path, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ENTRIES_LIMIT", 3)
    for name in "abcde":
        (submission / name).write_text(name)
    staged, notes = stage(runs, submission, {})
    assert {"a": "a", "b": "b", "c": "c"} == files(staged)
    assert ("d was left out: the folder holds more than 3 files.",) == notes


def test_files_that_are_too_large_are_left_out_and_the_others_are_not(
    submission: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BYTES_LIMIT", 2**20)
    with (submission / "large").open("wb") as large:
        large.truncate(2**40)
    (submission / "small").write_text("x")
    staged, notes = stage(runs, submission, {})
    assert {"small": "x"} == files(staged)
    assert ("large was left out: all files together may hold 1 MB.",) == notes


def test_what_lies_too_deep_is_left_out(submission: Path, runs: Path) -> None:
    (submission / "/".join("d" * 60)).mkdir(parents=True)
    _, notes = stage(runs, submission, {})
    assert 1 == len(notes)
    assert notes[0].startswith("d/d/d")
    assert notes[0].endswith(" was left out: it lies too deep.")


def test_notes_are_few_and_can_be_printed(submission: Path, runs: Path) -> None:
    for number in range(30):
        (submission / f"{number:02}\n\udcff").symlink_to("x")
    _, notes = stage(runs, submission, {})
    assert module.NOTES_LIMIT + 1 == len(notes)
    assert ("00?\ufffd was left out: it is a link.", "20 more were left out.") == (notes[0], notes[-1])


def test_no_descriptor_stays_open(submission: Path, runs: Path, open_descriptors: Callable[[], int]) -> None:
    (submission / "folder").mkdir()
    (submission / "file").write_text("x")
    os.mkfifo(submission / "fifo")
    before = open_descriptors()
    stage(runs, submission, {})
    assert before == open_descriptors()


def test_a_folder_is_removed_however_deep_it_is(tmp_path: Path) -> None:
    here = Path.cwd()
    top = tmp_path / "top"
    top.mkdir()
    os.chdir(top)
    for _ in range(1100):
        Path("d").mkdir()
        os.chdir("d")
    os.chdir(here)
    unstage(top)
    assert not top.exists()


def test_removing_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("x")
    (tmp_path / "top").mkdir()
    (tmp_path / "top" / "link").symlink_to(tmp_path / "kept")
    remove(tmp_path / "top")
    remove(tmp_path / "top")
    assert (tmp_path / "kept" / "file").exists()


def test_a_folder_that_will_not_go_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "top").mkdir()

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(module.shutil, "rmtree", refuse)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    for name in ("chmod", "rm"):
        (tmp_path / "bin" / name).write_text("#!/bin/sh\necho not today >&2\n")
        (tmp_path / "bin" / name).chmod(0o755)
    with pytest.raises(JudgeError, match=r"top, where a notebook has run, could not be removed: not today"):
        remove(tmp_path / "top")
