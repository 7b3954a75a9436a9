"""How nbgrader runs this course: `nbgrader` in this folder and `autograder` both read it."""

from pathlib import Path

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

# `nbgrader generate_feedback`, and formgrader's button, make the same pages as `autograder feedback`.
c.GenerateFeedback.exporter_class = "autograder.usecases.feedback_exporter.FeedbackExporter"
