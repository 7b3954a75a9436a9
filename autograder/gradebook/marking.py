"""How one notebook's results become rows of nbgrader's gradebook: grades, states, comments.

Manual scores, comments and extra credit are never touched. A grade asks for a person's eyes when it has no
score yet, when our own fault kept it from one, or when a person's score was given for something that has
changed since. An answer that did not change keeps its state, whatever state that is.
"""

from typing import Any

from autograder.gradebook.answers import Digests
from autograder.model import Status, SubmissionResult
from autograder.notebooks.source import SourceNotebook

#: What nbgrader says of a solution that is as it was handed out.
NO_RESPONSE = "No response."


class Versions:
    """The digests of one notebook's cells: as released, as graded now, as recorded before.

    ``handed_in`` is False where there was no notebook that could be read.
    """

    def __init__(self, released: Digests, now: Digests, before: Digests, *, handed_in: bool):
        self._released = released
        self._now = now
        self._before = before
        self.handed_in = handed_in

    def untouched(self, grade_id: str) -> bool:
        """Whether the cell was handed in as it had been handed out."""
        return self.handed_in and self._now.get(grade_id) == self._released.get(grade_id)

    def unchanged(self, grade_id: str) -> bool:
        """Whether the cell is as it was at the last grading."""
        return grade_id in self._before and self._now.get(grade_id) == self._before[grade_id]


def automatic_scores(source: SourceNotebook, result: SubmissionResult) -> dict[str, float | None]:
    """What the judge gives for each test cell of a notebook, by the cell's grade id; None is no score."""
    unscored = 0.0 if result.status is Status.MALFORMED else None
    scores = {exercise.name: exercise.score for exercise in result.exercises}
    return {exercise.test_id: scores.get(exercise.name, unscored) for exercise in source.exercises}


def mark(recorded: Any, source: SourceNotebook, result: SubmissionResult, versions: Versions) -> None:
    """Enter one notebook's results; ``recorded`` is nbgrader's ``SubmittedNotebook``, not yet committed."""
    by_test = automatic_scores(source, result)
    tasks = {cell.grade_id for cell in source.cells if cell.task}
    our_fault = not versions.handed_in and result.status is Status.JUDGE_ERROR
    lost = not versions.handed_in and not our_fault
    for grade in recorded.grades:
        name = grade.cell.name
        if name in by_test:
            _mark_test(grade, by_test[name])
        elif name not in tasks:
            no_answer = lost or versions.untouched(name)
            _mark_answer(grade, 0.0 if no_answer else None, unchanged=our_fault or versions.unchanged(name))
    for comment in recorded.comments:
        name = comment.cell.name
        comment.auto_comment = NO_RESPONSE if name not in tasks and versions.untouched(name) else None


def _mark_test(grade: Any, score: float | None) -> None:
    """An exercise: a person's override stands, and is looked at again once our own score has changed."""
    changed = grade.auto_score != score
    grade.auto_score = score
    if score is None:
        grade.needs_manual_grade = True
    elif grade.manual_score is None:
        grade.needs_manual_grade = False
    elif changed:
        grade.needs_manual_grade = True


def _mark_answer(grade: Any, score: float | None, *, unchanged: bool) -> None:
    """A question: no answer earns 0 at once, any other waits for a person."""
    grade.auto_score = score
    if grade.manual_score is None:
        grade.needs_manual_grade = score is None
    elif not unchanged:
        grade.needs_manual_grade = True


def effective_score(grade: Any) -> float | None:
    """What a grade counts in nbgrader: a person's score before ours, extra credit added; None is none."""
    score = grade.auto_score if grade.manual_score is None else grade.manual_score
    return None if score is None else float(score + (grade.extra_credit or 0.0))
