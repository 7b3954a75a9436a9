"""``nbgrader export``: the same table as nbgrader's own, harmless to spreadsheets and readable by them.

Names come from students. nbgrader writes them as they are: one that begins like a formula is computed when
somebody opens the table, and one with a comma moves all columns behind it.
"""

import csv
from typing import Any

from nbgrader.api import MissingEntry
from nbgrader.plugins.export import ExportPlugin

COLUMNS = (
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
)
#: What spreadsheets take for the beginning of a formula.
_BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


class HarmlessCsv(ExportPlugin):  # type: ignore[misc]  # nbgrader has no types
    """Exports to CSV (``--to FILE``, else ``grades.csv``), all or some assignments and students."""

    def export(self, gradebook: Any) -> None:
        """Write a line for each student and assignment; who handed in nothing has no points."""
        path = self.to or "grades.csv"
        self.log.info("Exporting grades to %s", path)
        assignments, students = set(map(str, self.assignment)), set(map(str, self.student))
        with open(path, "w", newline="", encoding="utf-8") as file:  # noqa: PTH123 (nbgrader's own words)
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for assignment in gradebook.assignments:
                for student in gradebook.students:
                    if assignment.name in (assignments or {assignment.name}) and student.id in (
                        students or {student.id}
                    ):
                        writer.writerow(map(defused, _row(gradebook, assignment, student)))


def defused(value: Any) -> str | float:
    """A value as it may stand in a table: a text that begins like a formula begins with an apostrophe.

    >>> defused("=1+1"), defused("-x"), defused(-0.5), defused(None)
    ("'=1+1", "'-x", -0.5, '')
    """
    if isinstance(value, int | float):
        return value
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_BEGINS_A_FORMULA) else text


def _row(gradebook: Any, assignment: Any, student: Any) -> list[Any]:
    try:
        submission = gradebook.find_submission(assignment.name, student.id)
    except MissingEntry:
        timestamp, raw, penalty = None, 0.0, 0.0
    else:
        timestamp, raw, penalty = submission.timestamp, submission.score, submission.late_submission_penalty
    person = [student.id, student.last_name, student.first_name, student.email]
    points = [raw, penalty, max(0.0, raw - (penalty or 0.0)), assignment.max_score]
    return [assignment.name, assignment.duedate, timestamp, *person, *points]
