"""The files of one run: the given files of the assignment over plain copies of what the student handed in.

Only regular files and folders are copied; links, FIFOs, sockets and devices are left out and named. The
worker gets no other view of the submission. Every file is opened relative to the folder in which it was
found, so that a folder that is exchanged for a link meanwhile leads nowhere.
"""

import contextlib
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.errors import JudgeError
from autograder.files import megabytes, readable, too_deep

#: A submission may hold so many files and folders, so many bytes; what is beyond is left out.
ENTRIES_LIMIT = 1000
BYTES_LIMIT = 64 * 2**20
#: So many notes say what was left out.
NOTES_LIMIT = 10
NAME_LIMIT = 100
#: Never follow a link, never wait for a FIFO.
OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def stage(parent: Path, submission: Path | None, given: Mapping[str, bytes]) -> tuple[Path, tuple[str, ...]]:
    """A new folder below ``parent`` with the files of one run, and notes on what was left out.

    ``given`` are the trusted files, by their names relative to the folder, that are laid over the student's.
    """
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=parent))
    folder.chmod(0o755)
    copy = _Copy(folder)
    if submission is not None:
        copy.run(submission)
    for name, data in given.items():
        _lay_over(data, folder, Path(name))
    return folder, copy.notes


def unstage(folder: Path) -> None:
    """Remove a staged folder, whatever a student's code has made of it; raises JudgeError where it stays."""
    remove(folder)


def remove(folder: Path) -> None:
    """Remove a folder, however deep it is, rights taken away or not; raises JudgeError where it stays."""
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(folder)
    if not folder.exists():
        return
    for command in (["chmod", "-R", "u+rwx", "--"], ["rm", "-rf", "--"]):
        done = subprocess.run([*command, str(folder)], capture_output=True, text=True, check=False)
    if folder.exists():
        raise JudgeError(
            f"{folder}, where a notebook has run, could not be removed: {done.stderr.strip()[:500]}. "
            "Remove it by hand."
        )


class _LeftOut(Exception):
    """Why an entry is not copied."""


class _Copy:
    """Plain copies of the regular files below a folder; never raises, whatever lies there."""

    def __init__(self, target: Path):
        self._target = target
        self._entries_left = ENTRIES_LIMIT
        self._bytes_left = BYTES_LIMIT
        self._notes: list[str] = []

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, in sentences; only the first few are told one by one."""
        more = len(self._notes) - NOTES_LIMIT
        return (*self._notes[:NOTES_LIMIT], *([f"{more} more were left out."] if more > 0 else []))

    def run(self, source: Path) -> None:
        """Copy what can be copied."""
        with self._noting(Path(source.name)):
            self._folder(_open(source, None, stat.S_IFDIR), Path())

    def _folder(self, descriptor: int, path: Path) -> None:
        """All entries of an open folder, in a fixed order; closes it in the end."""
        try:
            for name in sorted(os.listdir(descriptor)):
                self._entries_left -= 1
                with self._noting(path / name):
                    if self._entries_left < 0:
                        raise _LeftOut(f"the folder holds more than {ENTRIES_LIMIT} files")
                    self._entry(descriptor, path / name)
                if self._entries_left < 0:
                    return
        finally:
            os.close(descriptor)

    def _entry(self, parent: int, path: Path) -> None:
        kind = stat.S_IFMT(os.stat(path.name, dir_fd=parent, follow_symlinks=False).st_mode)
        if kind not in (stat.S_IFREG, stat.S_IFDIR):
            raise _LeftOut("it is a link" if kind == stat.S_IFLNK else "it is not a plain file")
        if too_deep(path):
            raise _LeftOut("it lies too deep")
        descriptor = _open(path.name, parent, kind)
        if kind == stat.S_IFDIR:
            (self._target / path).mkdir()
            self._folder(descriptor, path)
            return
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(self._bytes_left + 1)
        if len(data) > self._bytes_left:
            raise _LeftOut(f"all files together may hold {megabytes(BYTES_LIMIT)}")
        self._bytes_left -= len(data)
        (self._target / path).write_bytes(data)

    @contextlib.contextmanager
    def _noting(self, path: Path) -> Iterator[None]:
        """Note what was left out and why."""
        try:
            yield
        except (OSError, _LeftOut) as error:
            why = error.strerror if isinstance(error, OSError) else error
            shown = "".join(letter if letter.isprintable() else "?" for letter in readable(path))
            self._notes.append(f"{shown[:NAME_LIMIT]} was left out: {why}.")


def _open(name: str | Path, parent: int | None, kind: int) -> int:
    """Open a file or folder of that kind, even if it was exchanged for something else since we looked."""
    descriptor = os.open(name, OPEN, dir_fd=parent)
    if stat.S_IFMT(os.fstat(descriptor).st_mode) != kind:
        os.close(descriptor)
        raise _LeftOut("it is not a plain file")
    return descriptor


def _lay_over(data: bytes, folder: Path, name: Path) -> None:
    """Write a given file to its place, whatever the student has handed in under that name."""
    place = folder
    for part in name.parts[:-1]:
        place /= part
        if not place.is_dir():
            place.unlink(missing_ok=True)
            place.mkdir()
    if (folder / name).is_dir():
        shutil.rmtree(folder / name)
    (folder / name).write_bytes(data)
