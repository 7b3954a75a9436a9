"""What every answer looked like when it was last recorded, as digests.

An answer that did not change since keeps the state that people gave it. The pages in ``autograded/`` could
tell as well, but nbgrader removes them before it grades again. On disk, private to the instructor:
``.autograder/<assignment>/answers/<student>.json``. A file that cannot be read counts as absent.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.assignments.private import private_folder, student_file
from autograder.errors import CourseError
from autograder.files import read_plain_file, write_atomically
from autograder.gradebook.autograded import marked_cells, text_of

MAX_BYTES = 16 * 2**20

#: The digests of a notebook's cells by their grade ids.
Digests = Mapping[str, str]


def digests_of(notebook: dict[str, Any]) -> dict[str, str]:
    """The digests of all cells of a released or autograded notebook that carry a grade id."""
    return {
        grade_id: hashlib.sha256(text_of(cell).encode("utf-8", "surrogatepass")).hexdigest()
        for grade_id, cell in marked_cells(notebook).items()
    }


class Answers:
    """The digests of one assignment's answers; raises CourseError where they cannot be written."""

    def __init__(self, course: Path, assignment: str) -> None:
        self._folder = private_folder(course, assignment, "answers")

    def read(self, student: str) -> dict[str, Digests]:
        """The digests of a student's notebooks by their names; empty where nothing was kept."""
        try:
            data = json.loads(read_plain_file(student_file(self._folder, student), max_bytes=MAX_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(data, dict) or data.get("student") != student:
            return {}
        notebooks = data.get("notebooks")
        if not isinstance(notebooks, dict):
            return {}
        return {name: cells for name, cells in notebooks.items() if isinstance(cells, dict)}

    def write(self, student: str, notebooks: Mapping[str, Digests]) -> None:
        """Keep these digests in place of the student's last ones, in one step."""
        path = student_file(self._folder, student)
        content = json.dumps({"student": student, "notebooks": notebooks}, indent=1)
        try:
            write_atomically(path, content.encode(), mode=0o600)
        except OSError as error:
            raise CourseError(f"{path} cannot be written: {error.strerror}.") from error
