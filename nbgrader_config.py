"""How nbgrader runs this course: `nbgrader` in this folder and `autograder` both read it."""

from pathlib import Path

from nbgrader.server_extensions import formgrader

from autograder import nbgrader_plugin

c = get_config()

# The course is the folder of this file, wherever nbgrader was started.
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.source_directory = "source"
c.CourseDirectory.release_directory = "assignments"
c.CourseDirectory.solution_directory = "solutions"
c.CourseDirectory.submitted_directory = "submitted"
c.CourseDirectory.autograded_directory = "autograded"
c.CourseDirectory.feedback_directory = "feedback"

# What stands in a release where the source notebook has a solution.
c.ClearSolutions.code_stub = {
    "python": (
        'raise NotImplementedError("This function is waiting for you: replace this line with your own code.")'
    )
}

# `nbgrader autograde`, and formgrader's button, hand every submission to the judge: no kernel, no guessing
# from outputs. Without these lines the checks run in the student's own kernel.
PLUGIN = "autograder.nbgrader_plugin.preprocessors"
c.Autograde.exporter_class = f"{PLUGIN}.UnreadNotebook"
c.Autograde.sanitize_preprocessors = [f"{PLUGIN}.JudgeSubmission"]
c.Autograde.autograde_preprocessors = [f"{PLUGIN}.JudgeSubmission"]

# Formgrader's pages run nothing that a student wrote, and load nothing from other places.
c.HTMLExporter.filters = {"markdown2html": "autograder.nbgrader_plugin.formgrader.harmless_markdown"}
c.HTMLExporter.extra_template_basedirs = [
    str(Path(nbgrader_plugin.__file__).parent / "templates"),
    str(Path(formgrader.__file__).parent / "templates"),
]

# `nbgrader generate_feedback`, and formgrader's button, make the same pages as `autograder feedback`.
c.GenerateFeedback.exporter_class = "autograder.usecases.feedback_exporter.FeedbackExporter"

# `nbgrader export`: a name that begins like a formula is none in the table.
c.ExportApp.plugin_class = "autograder.nbgrader_plugin.export.HarmlessCsv"

# `nbgrader generate_solution` runs the source notebook; the same cells give the same file every time.
c.Execute.record_timing = False

# `nbgrader zip_collect` sorts what was downloaded by the names of the files: from Canvas
# (`doejane_123_456_lab.ipynb`), from Moodle (`Jane Doe_123_assignsubmission_file_/lab.ipynb`), or simply
# `jane_lab.ipynb`. What stands before the first `_` becomes the student's name.
c.FileNameCollectorPlugin.named_regexp = (
    r".*/(?P<student_id>[^/_]+)_(?:(?:LATE_)?\d+_\d+_|\d+_assignsubmission_file_/?)?"
    r"(?P<file_id>[^/]+?)(?:-\d+)?\.ipynb$"
)
