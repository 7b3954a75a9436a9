"""Feedback through nbgrader's own converter, one student after another, into memory.

nbgrader decides by time stamps what is out of date, finds students by patterns, removes a folder before it
writes it anew, and ends where one notebook fails. Here the students are named, a failure is one student's
own, and what to write is left to whoever asked.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbgrader.converters.generate_feedback import GenerateFeedback
from traitlets.config import Config

from autograder.gradebook.configuration import CourseConfiguration
from autograder.gradebook.grades import RecordedGrades

#: The files of one notebook's feedback, by their names.
Files = Mapping[str, bytes]


class FeedbackConverter:
    """Makes the feedback of students of one assignment with the exporter of that dotted name."""

    def __init__(
        self, configuration: CourseConfiguration, assignment: str, exporter: str, grades: RecordedGrades
    ) -> None:
        config = Config(configuration.config)
        config.GenerateFeedback.exporter_class = exporter
        # nbgrader's own would open the gradebook anew for every notebook; the exporter reads it itself.
        config.GenerateFeedback.preprocessors = []
        self._configuration = configuration
        self._assignment = assignment
        self._converter = _Converter(coursedir=configuration.directory, config=config)
        self._converter.prepare(grades)

    @property
    def mode(self) -> int:
        """The permissions that nbgrader gives to feedback, as the system knows them."""
        return int(str(self._converter.permissions), 8)

    def convert(self, student: str, notebook: str) -> Files:
        """The feedback files of one autograded notebook; raises whatever goes wrong with it."""
        folder = self._configuration.autograded_folder(student, self._assignment)
        return self._converter.files_of(student, self._assignment, folder / f"{notebook}.ipynb")


class _Converter(GenerateFeedback):  # type: ignore[misc]
    """nbgrader's converter, asked for single notebooks."""

    def prepare(self, grades: RecordedGrades) -> None:
        """Make the exporter, as ``start`` does."""
        self.exporter = self.exporter_class(parent=self, config=self.config)
        self.exporter.grades = grades

    def files_of(self, student: str, assignment: str, path: Path) -> Files:
        """Convert one notebook."""
        self._about = {"student": student, "assignment": assignment, "notebook": path.stem}
        self._made: dict[str, bytes] = {}
        self.convert_single_notebook(str(path))
        return self._made

    def init_single_notebook_resources(self, notebook_filename: str) -> dict[str, Any]:
        """As nbgrader's, but for names that nbgrader would have to guess from the path."""
        notebook = self._about["notebook"]
        return {
            "unique_key": notebook,
            "output_files_dir": f"{notebook}_files",
            "nbgrader": {**self._about, "db_url": self.coursedir.db_url},
        }

    def write_single_notebook(self, output: str, resources: Mapping[str, Any]) -> None:
        """Keep what nbgrader would write."""
        self._made = {f"{resources['unique_key']}{resources['output_extension']}": output.encode()}
        self._made |= resources.get("outputs", {})
