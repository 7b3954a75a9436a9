"""What is left to do when grading inside nbgrader fails as a whole: no score, a page that says so.

The course itself may be broken, or the grading program: nothing here needs the assignment to load.
"""

import json
from pathlib import Path
from typing import Any

from nbgrader import api

from autograder.assignments.private import FOLDER_NAME
from autograder.errors import AutograderError
from autograder.gradebook.autograded import Json, build_autograded
from autograder.model import Status, SubmissionResult
from autograder.notebooks.source import read_source

#: Students may read it, so it names no cause.
REASON = "The grading program could not be run. Whoever started it finds the cause in its log."


def mark_ungraded(db_url: str, course_id: str, assignment: str, student: str) -> None:
    """Take our scores of a submission back and ask for a person; what people gave stays.

    Raises what nbgrader's API raises.
    """
    with api.Gradebook(db_url, course_id) as book:
        for notebook in book.find_submission(assignment, student).notebooks:
            answers = {
                cell.name for cell in [*notebook.notebook.solution_cells, *notebook.notebook.task_cells]
            }
            for grade in notebook.grades:
                if grade.cell.name not in answers:
                    grade.auto_score = None
                    grade.needs_manual_grade = True
                elif grade.manual_score is None:
                    grade.needs_manual_grade = True
        book.db.commit()


def ungraded_page(course: Path, assignment: str, notebook: str, student: str) -> Json:
    """The autograded notebook for formgrader: the release, if there is one, with the reason on top."""
    result = SubmissionResult(student, None, 0.0, Status.JUDGE_ERROR, REASON)
    name = f"{notebook}.ipynb"
    try:
        source = read_source(course / "source" / assignment / name)
        released: Any = json.loads((course / FOLDER_NAME / assignment / "released" / name).read_bytes())
        return build_autograded(released, source, None, result)
    except (AutograderError, OSError, ValueError, KeyError, TypeError, AttributeError):
        summary = {"autograder": {"summary": True}}
        cell = {"cell_type": "markdown", "id": "reason", "metadata": summary, "source": f"**{REASON}**"}
        about: Json = {"status": str(result.status), "reason": None, "notes": [], "handed_in": False}
        metadata = {"autograder": about}
        return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": [cell]}
