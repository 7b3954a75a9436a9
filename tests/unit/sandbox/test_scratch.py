"""Temporary folders: each its owner's, and gone when that is gone."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from autograder.errors import JudgeError
from autograder.sandbox import scratch
from autograder.sandbox.launcher import PlainLauncher
from autograder.sandbox.scratch import LOCK, PREFIX, ScratchFolder

KILLED = """
import os, signal
from autograder.sandbox.launcher import PlainLauncher
launcher = PlainLauncher()
(launcher.folder / "answers.txt").write_text("mine")
print(launcher.folder.parent, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for temporary folders that no other test uses."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_is_there_until_it_is_closed() -> None:
    folder = ScratchFolder()
    (folder.path / "more").mkdir()
    assert folder.path.is_dir()
    folder.close()
    folder.close()
    assert not folder.path.exists()


def test_folders_of_living_owners_stay() -> None:
    first, second = ScratchFolder(), ScratchFolder()
    ScratchFolder().close()
    assert first.path.is_dir()
    assert second.path.is_dir()
    for one in (first, second):
        one.close()


def test_what_a_killed_process_leaves_is_removed_by_the_next(place: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED],
        env=os.environ | {"TMPDIR": str(place)},
        capture_output=True,
        text=True,
        check=False,
    )
    left = Path(done.stdout.strip())
    assert (-9, "mine") == (done.returncode, (left / "runs" / "answers.txt").read_text())
    launcher = PlainLauncher()
    assert not left.exists()
    launcher.close()
    assert [] == list(place.iterdir())


def test_what_is_no_folder_of_ours_stays(place: Path) -> None:
    (place / f"{PREFIX}file").write_text("mine")
    (place / f"{PREFIX}unlocked").mkdir()
    (place / "elsewhere").mkdir()
    (place / "elsewhere" / LOCK).touch()
    (place / f"{PREFIX}link").symlink_to(place / "elsewhere")
    ScratchFolder().close()
    assert (place / "elsewhere" / LOCK).exists()
    assert 4 == len(list(place.iterdir()))


def test_what_cannot_be_removed_is_no_hindrance(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / f"{PREFIX}left").mkdir()
    (place / f"{PREFIX}left" / LOCK).touch()

    def fail(path: Path) -> None:
        raise JudgeError(f"{path} could not be removed.")

    monkeypatch.setattr(scratch, "remove", fail)
    assert ScratchFolder().path.is_dir()
