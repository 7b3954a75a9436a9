"""One run of nbgrader's converter: each submission is graded once, whatever nbgrader asks for how often."""

from logging import Logger
from pathlib import Path
from typing import Any

from autograder.errors import JudgeError
from autograder.gradebook.files import read_autograded
from autograder.gradebook.ungraded import mark_ungraded, ungraded_page
from autograder.model import Status
from autograder.nbgrader_plugin.grader import Answer, Grader

#: Traits of nbgrader's ``CourseDirectory`` that the grading process must share, wherever they are set.
_DIRECTORY = (
    "db_url",
    "course_id",
    "directory_structure",
    "source_directory",
    "submitted_directory",
    "autograded_directory",
)

Json = dict[str, Any]


class Session:
    """Grades submissions, with one warm process for each assignment.

    ``directory`` is nbgrader's ``CourseDirectory``; ``unsafe`` does without the sandbox. Whatever goes wrong
    is told in the log, in the page and in the gradebook, never raised: nbgrader would delete what is there.
    """

    def __init__(self, directory: Any, *, unsafe: bool = False) -> None:
        self._directory = directory
        self._unsafe = unsafe
        self._graders: dict[str, Grader] = {}
        self._has_pages: dict[tuple[str, str], bool] = {}

    def page(self, student: str, assignment: str, notebook: str, log: Logger) -> Json:
        """The autograded notebook; grades the submission if this run has not done so. Raises nothing."""
        key = (student, assignment)
        if key not in self._has_pages:
            self._has_pages[key] = self._grade(student, assignment, log)
        page = read_autograded(self._folder(student, assignment), notebook) if self._has_pages[key] else {}
        return page or ungraded_page(Path(self._directory.root), assignment, notebook, student)

    def close(self) -> None:
        """End the grading processes."""
        for grader in self._graders.values():
            grader.close()

    def _grade(self, student: str, assignment: str, log: Logger) -> bool:
        """Grade and record a submission; says whether that made its autograded notebooks."""
        try:
            answer = self._grader(assignment).grade(student)
            for path in self._folder(student, assignment).glob("*.ipynb"):
                path.chmod(0o644)  # nbgrader writes them once more, and makes them read-only at the end
        except JudgeError as error:
            log.error("autograder: %s has no score: %s", student, error)  # noqa: TRY400 (it says it all)
        except Exception:
            log.exception("autograder: %s has no score", student)
        else:
            _tell(student, answer, log)
            return True
        self._mark_ungraded(student, assignment, log)
        return False

    def _grader(self, assignment: str) -> Grader:
        if assignment not in self._graders:
            directory = {name: str(getattr(self._directory, name)) for name in _DIRECTORY}
            root = Path(self._directory.root)
            self._graders[assignment] = Grader(root, assignment, directory, unsafe=self._unsafe)
        return self._graders[assignment]

    def _folder(self, student: str, assignment: str) -> Path:
        step = self._directory.autograded_directory
        return Path(self._directory.format_path(step, student, assignment))

    def _mark_ungraded(self, student: str, assignment: str, log: Logger) -> None:
        try:
            mark_ungraded(self._directory.db_url, self._directory.course_id, assignment, student)
        except Exception:
            log.exception("autograder: nor can the gradebook say that %s has no score", student)


def _tell(student: str, answer: Answer, log: Logger) -> None:
    """Say in nbgrader's log what became of a submission."""
    if answer.status == Status.JUDGE_ERROR:
        log.error("autograder: %s has no score: %s", student, answer.reason)
        if answer.trace is not None:
            log.error(answer.trace)
    elif answer.score is not None:
        log.info("autograder: %s has %.6g of %.6g points", student, answer.score, answer.max_score)
    if answer.status == Status.MALFORMED:
        log.warning("autograder: %s: %s", student, answer.reason)
    for note in answer.notes:
        log.warning("autograder: %s: %s", student, note)
