"""The files of one run: the given files of the assignment over plain copies of what the student handed in.

Only regular files and folders are copied; links, FIFOs, sockets and devices are left out and named. The
worker gets no other view of the submission.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.files import readable, too_deep

#: A submission may hold so many entries and bytes; what is beyond is left out, and what lies too deep.
ENTRIES_LIMIT = 1000
BYTES_LIMIT = 64 * 2**20


def stage(parent: Path, submission: Path | None, given: Mapping[str, Path]) -> tuple[Path, tuple[str, ...]]:
    """A new folder below ``parent`` with the files of one run, and notes on what was left out.

    ``given`` maps names, relative to the folder, to the trusted files that are laid over the student's.
    """
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=parent))
    folder.chmod(0o755)
    notes = () if submission is None else tuple(_copy_plain(submission, folder))
    for name, path in given.items():
        target = folder / name
        for above in reversed(Path(name).parents[:-1]):
            if (folder / above).is_file():
                (folder / above).unlink()
        if target.is_dir():
            shutil.rmtree(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return folder, notes


def _copy_plain(source: Path, target: Path) -> Iterator[str]:
    """Copy regular files and the folders that they lie in; says what was left out."""
    total = 0
    for entries, (path, kind) in enumerate(_walk(source, Path()), start=1):
        total += kind.st_size if stat.S_ISREG(kind.st_mode) else 0
        if entries > ENTRIES_LIMIT or total > BYTES_LIMIT:
            yield f"{readable(path)} and what follows it was left out: too many files, or too large ones."
            return
        if too_deep(path):
            yield f"{readable(path)[:50]}... was left out: it lies too deep."
        elif stat.S_ISDIR(kind.st_mode):
            (target / path).mkdir(exist_ok=True)
        elif not stat.S_ISREG(kind.st_mode):
            yield f"{readable(path)} was left out: it is not a plain file."
        elif not _copy_file(source / path, target / path):
            yield f"{readable(path)} was left out: it could not be read."


def _walk(root: Path, below: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """All entries below a folder in a fixed order; links are not followed, what cannot be read is empty."""
    try:
        with os.scandir(root / below) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        try:
            kind = entry.stat(follow_symlinks=False)
        except OSError:  # it is gone
            continue
        path = below / entry.name
        yield path, kind
        if stat.S_ISDIR(kind.st_mode) and not too_deep(path):
            yield from _walk(root, path)


def _copy_file(source: Path, target: Path) -> bool:
    """Copy one file; says whether it could be opened."""
    try:
        # O_NOFOLLOW and O_NONBLOCK: the entry may have been exchanged for a link or a FIFO since we looked.
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    with os.fdopen(descriptor, "rb") as reader, target.open("wb") as writer:
        shutil.copyfileobj(reader, writer)
    return True


def unstage(folder: Path) -> None:
    """Remove a staged folder, whatever a student's code has made of it."""
    shutil.rmtree(folder, ignore_errors=True)
