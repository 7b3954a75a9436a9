"""The exporter that nbgrader's ``generate_feedback`` uses for this course: our page, Markdown and plain text.

``nbgrader_config.py`` names it, so that nbgrader's own command and formgrader's button make the same as
``autograder feedback``. It is an nbconvert template exporter: a course may put a template of its own before
ours by nbconvert's usual settings, ``c.FeedbackExporter.template_name`` and ``extra_template_basedirs``.
"""

from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import Exporter
from nbconvert.exporters.templateexporter import TemplateExporter
from nbformat import NotebookNode
from traitlets import default

from autograder.errors import CourseError
from autograder.gradebook.grades import RecordedGrades
from autograder.model import RecordedNotebook
from autograder.reporting.feedback.cells import Lesson, show_notebook
from autograder.reporting.feedback.facts import read_feedback
from autograder.reporting.feedback.letter import as_markdown, as_text
from autograder.reporting.feedback.page import FILTERS, TEMPLATES, page_values


class FeedbackExporter(TemplateExporter):
    """Makes feedback of one autograded notebook of one student; nbgrader's converter is its parent.

    ``grades`` is an open gradebook that serves a whole class; without it each notebook opens nbgrader's.
    """

    output_mimetype = "text/html"
    grades: RecordedGrades | None = None

    def __init__(self, config: Any = None, **more: Any) -> None:
        super().__init__(config=config, **more)  # type: ignore[no-untyped-call]
        self._lessons: dict[Path, Lesson] = {}

    @default("file_extension")
    def _file_extension_default(self) -> str:
        return ".html"

    @default("template_name")
    def _template_name_default(self) -> str:
        return "student_feedback"

    @default("extra_template_basedirs")
    def _extra_template_basedirs_default(self) -> list[str]:
        return [str(TEMPLATES)]

    def _create_environment(self) -> Any:
        """Jinja's environment; everything is escaped unless it was made to be HTML."""
        environment = super()._create_environment()  # type: ignore[no-untyped-call]
        environment.autoescape = True
        environment.filters |= FILTERS
        return environment

    def from_notebook_node(  # type: ignore[override]
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **more: Any
    ) -> tuple[str, dict[str, Any]]:
        """The page; Markdown and plain text travel as further files in ``resources``.

        Raises CourseError where the gradebook does not know the notebook.
        """
        content, resources = Exporter.from_notebook_node(self, nb, resources, **more)
        about = resources["nbgrader"]
        student, assignment, notebook = about["student"], about["assignment"], about["notebook"]
        recorded = self._recorded(about["db_url"], student, assignment, notebook)
        lesson = self._lesson(assignment)
        feedback = read_feedback(student, assignment, notebook, content, recorded)
        shown = show_notebook(content, lesson)
        resources["outputs"] = {
            f"{notebook}.md": as_markdown(feedback).encode(),
            f"{notebook}.txt": as_text(feedback).encode(),
        }
        return self.template.render(page_values(feedback, shown, lesson)), resources

    def _recorded(self, db_url: str, student: str, assignment: str, notebook: str) -> RecordedNotebook:
        if self.grades is not None:
            recorded = self.grades.notebook(student, assignment, notebook)
        else:
            with RecordedGrades.at(db_url) as grades:
                recorded = grades.notebook(student, assignment, notebook)
        if recorded is None:
            raise CourseError(
                f"The gradebook holds no grades of {student!r} for {notebook!r}: grade the submission first."
            )
        return recorded

    def _lesson(self, assignment: str) -> Lesson:
        """The assignment's source, where nbgrader has it."""
        converter: Any = self.parent
        directory = converter.coursedir
        folder = Path(directory.format_path(directory.source_directory, ".", assignment))
        return self._lessons.setdefault(folder, Lesson(folder))
