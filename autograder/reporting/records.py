"""What the last grading of each submission brought, so that an unchanged one need not be graded again.

On disk, private to the instructor: ``.autograder/<assignment>/records/<student>.json`` with the
fingerprint of the submission, that of the assignment, and the whole result with its details. A file that
cannot be read counts as absent.
"""

import hashlib
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from autograder.assignments.private import private_folder, student_file
from autograder.errors import CourseError
from autograder.files import MAX_DEPTH, read_plain_file, write_atomically
from autograder.model import SubmissionResult
from autograder.reporting.result_format import submission_from_data, submission_to_data

RECORD_VERSION = 1
MAX_RECORD_BYTES = 64 * 2**20
#: So much of a submission is read for its fingerprint: far more than is graded of one. A file beyond that
#: counts by its size and its time of change, lest one with a hole of a terabyte keeps the class waiting.
MAX_FINGERPRINT_BYTES = 256 * 2**20


@dataclass(frozen=True)
class Record:
    """One student's last result, and the fingerprints of what it was made from."""

    submission_fingerprint: str
    assignment_fingerprint: str
    result: SubmissionResult


class Records:
    """The records of one assignment; raises CourseError where they cannot be written."""

    def __init__(self, course: Path, assignment: str) -> None:
        self._folder = private_folder(course, assignment, "records")

    def read(self, student: str) -> Record | None:
        """The student's record, or None where there is none that can be read."""
        try:
            data = json.loads(
                read_plain_file(student_file(self._folder, student), max_bytes=MAX_RECORD_BYTES)
            )
            if data["record_version"] != RECORD_VERSION or data["result"]["student"] != student:
                return None
            result = submission_from_data(data["result"])
            return Record(data["submission_fingerprint"], data["assignment_fingerprint"], result)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def write(self, record: Record) -> None:
        """Keep a record in place of the student's last one, in one step."""
        data = {
            "record_version": RECORD_VERSION,
            "submission_fingerprint": record.submission_fingerprint,
            "assignment_fingerprint": record.assignment_fingerprint,
            "result": submission_to_data(record.result, with_details=True),
        }
        path = student_file(self._folder, record.result.student)
        try:
            write_atomically(path, json.dumps(data, allow_nan=False, indent=1).encode(), mode=0o600)
        except OSError as error:
            raise CourseError(f"The record {path} cannot be written: {error.strerror}.") from error


def submission_fingerprint(folder: Path) -> str:
    """A digest of everything in a submission's folder: names, kinds, contents.

    Links are not followed; what cannot be read counts by its name. Raises nothing but MemoryError.
    """
    digest = hashlib.sha256()
    room = MAX_FINGERPRINT_BYTES
    waiting = [Path()]
    while waiting:
        below = waiting.pop()
        try:
            names = sorted(entry.name for entry in (folder / below).iterdir())
        except OSError:
            names = []
        for name in names:
            path = below / name
            kind, content, size = _describe(folder / path, room)
            room -= size
            digest.update(f"{kind} {os.fsencode(path)!r} {content}\n".encode())
            if kind == "folder" and len(path.parts) < MAX_DEPTH:
                waiting.append(path)
    return digest.hexdigest()


def _describe(path: Path, room: int) -> tuple[str, str, int]:
    """What an entry is, a digest of what it holds, and how many bytes were read for that."""
    try:
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            return "link", repr(os.fsencode(path.readlink())), 0
        if stat.S_ISDIR(found.st_mode):
            return "folder", "", 0
        if not stat.S_ISREG(found.st_mode):
            return "special", "", 0
        if found.st_size > room:
            return "large", f"{found.st_size} {found.st_mtime_ns}", 0
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return "file", hashlib.file_digest(file, "sha256").hexdigest(), found.st_size
    except OSError as error:
        return "unreadable", str(error.errno), 0
