"""What a course's ``nbgrader_config.py`` says about the gradebook, read as nbgrader reads it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_config_path
from nbgrader.coursedir import CourseDirectory
from traitlets.config.loader import Config, PyFileConfigLoader

from autograder.errors import CourseError
from autograder.gradebook.nbgrader_command import CONFIG

_SQLITE = "sqlite:///"


class CourseConfiguration:
    """A course's configuration files in nbgrader's order: Jupyter's folders first, the course's own last.

    ``directory`` holds traits of nbgrader's ``CourseDirectory``, such as ``db_url``, that count more than
    what the files say. Raises CourseError where one of the files cannot be read.
    """

    def __init__(self, course: Path, directory: Mapping[str, str] | None = None) -> None:
        self.course = course
        self.config = Config()
        for folder in [*reversed(jupyter_config_path()), str(course)]:
            if (Path(folder) / CONFIG).is_file():
                self.config.merge(_load(folder))
        self.config.CourseDirectory.update(directory or {})
        self._directory: Any = CourseDirectory(config=self.config, root=str(course))

    @property
    def course_id(self) -> str:
        """The course's id in the gradebook, usually empty."""
        return str(self._directory.course_id)

    @property
    def db_url(self) -> str:
        """The gradebook's address; a relative SQLite path is meant from the course's folder."""
        url = str(self._directory.db_url)
        return f"{_SQLITE}{self.db_path}" if self.db_path is not None else url

    @property
    def db_path(self) -> Path | None:
        """The gradebook's file, or None where it lives on a database server."""
        url = str(self._directory.db_url)
        path, _, _ = url.removeprefix(_SQLITE).partition("?")
        return self.course / path if url.startswith(_SQLITE) and path not in {"", ":memory:"} else None

    @property
    def submitted_root(self) -> Path:
        """The folder that holds one folder a student with what was handed in."""
        return self.course / str(self._directory.submitted_directory)

    def source_folder(self, assignment: str) -> Path:
        """Where nbgrader looks for an assignment's source."""
        return self._folder(self._directory.source_directory, ".", assignment)

    def submitted_folder(self, student: str, assignment: str) -> Path:
        """Where nbgrader looks for what a student handed in."""
        return self._folder(self._directory.submitted_directory, student, assignment)

    def autograded_folder(self, student: str, assignment: str) -> Path:
        """Where nbgrader looks for a student's autograded notebooks."""
        return self._folder(self._directory.autograded_directory, student, assignment)

    def feedback_folder(self, student: str, assignment: str) -> Path:
        """Where nbgrader puts a student's feedback."""
        return self._folder(self._directory.feedback_directory, student, assignment)

    @property
    def directory(self) -> Any:
        """The course as nbgrader's converters know it (``nbgrader.coursedir.CourseDirectory``)."""
        return self._directory

    def _folder(self, step: str, student: str, assignment: str) -> Path:
        return Path(self._directory.format_path(step, student, assignment))


def _load(folder: str) -> Config:
    try:
        loaded: Config = PyFileConfigLoader(CONFIG, path=folder).load_config()
    except Exception as error:
        raise CourseError(f"{Path(folder) / CONFIG} cannot be loaded: {error}") from error
    return loaded
