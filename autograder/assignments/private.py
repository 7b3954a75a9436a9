"""The course's private folder ``.autograder/``: what students must never see, and nobody edits by hand.

``.autograder/`` (mode 0700, ignored by git through a file of its own)
    ``secret``                       32 random bytes from which all seeds are drawn (mode 0600)
    ``lock``                         held by the grader at work
    ``<assignment>/records/``        one file a student with the last result (``reporting.records``)
    ``<assignment>/answers/``        one file a student with digests of the answers (``gradebook.answers``)
    ``<assignment>/certificate.*``   the last certificate of the checks, as JSON and as a page
    ``<assignment>/released/``       the notebooks as students get them (``gradebook.opening``)
    ``<assignment>/scratch-*/``      what the grader at work throws away in the end

What a grader that was killed has left there is removed by the next one.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from autograder.errors import CourseError
from autograder.files import place_new_file, read_plain_file, remove_partial_files, write_new_file

FOLDER_NAME = ".autograder"
SECRET_BYTES = 32
#: How often a grader that waits for another one looks again.
LOOK_SECONDS = 0.1
#: Begins the names of folders that only the grader at work needs.
SCRATCH = "scratch-"
#: Student names that make the same file name on every system; others are told by a digest.
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


def private_folder(course: Path, *below: str) -> Path:
    """The private folder, or one below it, made where missing; raises CourseError where that fails."""
    folder = course / FOLDER_NAME
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
        with contextlib.suppress(FileExistsError):
            write_new_file(folder / ".gitignore", b"*\n", mode=0o644)
        for name in below:
            folder = folder / name
            folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise CourseError(
            f"The private folder {folder} cannot be used: {error.strerror}. Grading needs to write there."
        ) from error
    return folder


def student_file(folder: Path, student: str) -> Path:
    """The JSON file below ``folder`` that belongs to one student, whatever the student is called."""
    if _PLAIN_NAME.fullmatch(student):
        return folder / f"{student}.json"
    digest = hashlib.sha256(student.encode("utf-8", "surrogateescape")).hexdigest()
    return folder / f"~{digest}.json"


def course_secret(course: Path) -> bytes:
    """The course's 32 secret bytes, made at first use; raises CourseError where they are damaged."""
    path = private_folder(course) / "secret"
    try:
        if not path.exists():
            _make_secret(path)
        secret = read_plain_file(path, max_bytes=SECRET_BYTES)
    except OSError as error:
        raise CourseError(f"The course's secret {path} cannot be used: {error.strerror}.") from error
    if len(secret) != SECRET_BYTES:
        raise CourseError(
            f"{path} is damaged: it must hold {SECRET_BYTES} bytes. Put back a copy, or delete it to draw "
            "new seeds for the whole course."
        )
    return secret


def _make_secret(path: Path) -> None:
    """Make the file with its whole content in one step; of two graders at once the first one wins."""
    partial = path.with_name(f".{secrets.token_hex(8)}.partial")
    write_new_file(partial, secrets.token_bytes(SECRET_BYTES), mode=0o600)
    try:
        place_new_file(partial, path)
    finally:
        partial.unlink(missing_ok=True)


@contextlib.contextmanager
def grading_lock(course: Path, *, wait_seconds: float = 0.0) -> Iterator[None]:
    """Hold the course for one grader; raises CourseError where another one holds it for longer than that.

    The lock (``.autograder/lock``) is the operating system's and ends with the process, however that ends.
    """
    path = private_folder(course) / "lock"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise CourseError(f"{path} cannot be opened: {error.strerror}.") from error
    try:
        _lock(descriptor, course, time.monotonic() + wait_seconds)
        _remove_leftovers(path.parent)
        yield
    finally:
        os.close(descriptor)


def _remove_leftovers(private: Path) -> None:
    """Remove what graders that were killed have left; only whoever holds the lock may."""
    try:
        for folder in private.glob("*/*/"):
            if folder.name.startswith(SCRATCH):
                shutil.rmtree(folder)
            else:
                remove_partial_files(folder)
    except OSError as error:
        raise CourseError(f"{error.filename} cannot be removed: {error.strerror}.") from error


def _lock(descriptor: int, course: Path, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                raise CourseError(
                    f"Another grader is at work on {course}. Wait until it has finished."
                ) from error
            time.sleep(LOOK_SECONDS)
        else:
            return
