"""The files of one run: the given files of the assignment over plain copies of what the student handed in.

Only regular files and folders are copied; links, FIFOs, sockets and devices are left out and named. The worker gets
no other view of the submission.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

#: A submission folder may hold so many files and bytes; what is beyond is left out.
FILES_LIMIT = 1000
BYTES_LIMIT = 64 * 2**20


def stage(parent: Path, submission: Path | None, given: Mapping[str, Path]) -> tuple[Path, tuple[str, ...]]:
    """A new folder below ``parent`` with the files of one run, and notes on what was left out.

    ``given`` maps names, relative to the folder, to the trusted files that are laid over the student's.
    """
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=parent))
    folder.chmod(0o755)
    notes: list[str] = []
    if submission is not None:
        copied = _copy_plain(submission, folder, notes)
        if copied is not None:
            notes.append(copied)
    for name, path in given.items():
        target = folder / name
        if target.is_dir():
            shutil.rmtree(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return folder, tuple(notes)


def _copy_plain(source: Path, target: Path, notes: list[str]) -> str | None:
    """Copy regular files; returns a note if the limits were reached."""
    files = total = 0
    for path, kind in _walk(source, Path()):
        if stat.S_ISDIR(kind.st_mode):
            (target / path).mkdir(exist_ok=True)
        elif not stat.S_ISREG(kind.st_mode):
            notes.append(f"{path} was left out: it is not a plain file.")
        else:
            files, total = files + 1, total + kind.st_size
            if files > FILES_LIMIT or total > BYTES_LIMIT:
                return f"{path} and later files were left out: the folder holds too many or too large files."
            _copy_file(source / path, target / path)
    return None


def _walk(root: Path, below: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """All entries below a folder in a fixed order, links not followed."""
    with os.scandir(root / below) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        kind = entry.stat(follow_symlinks=False)
        yield below / entry.name, kind
        if stat.S_ISDIR(kind.st_mode):
            yield from _walk(root, below / entry.name)


def _copy_file(source: Path, target: Path) -> None:
    # O_NOFOLLOW and O_NONBLOCK: the entry may have been exchanged for a link or a FIFO since we looked.
    descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as reader, target.open("wb") as writer:
        shutil.copyfileobj(reader, writer)


def unstage(folder: Path) -> None:
    """Remove a staged folder, whatever a student's code has made of it."""
    shutil.rmtree(folder, ignore_errors=True)
