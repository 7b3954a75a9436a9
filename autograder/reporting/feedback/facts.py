"""What feedback on one notebook says, whatever it is written as: scores, verdicts, remarks, comments.

Read from the autograded notebook (verdicts, without the instructor's details) and from the gradebook
(scores, a person's changes to them, comments). Of the student's own there is nothing but names of errors.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from autograder.checking.scoring import NOT_YET
from autograder.checking.visible import NAME as VISIBLE
from autograder.model import CheckResult, RecordedGrade, RecordedNotebook, Status, Verdict
from autograder.reporting.feedback.harmless import harmless, one_line
from autograder.reporting.feedback.outputs import error_name
from autograder.reporting.result_format import check_from_data

Json = Mapping[str, Any]

#: How a verdict is called where a student reads it.
VERDICT_WORDS = {
    Verdict.PASSED: "right",
    Verdict.FAILED: "not right yet",
    Verdict.RAISED: "raised an error",
    Verdict.TIMED_OUT: "took too long",
    Verdict.MEMORY_EXCEEDED: "needed too much memory",
    Verdict.CRASHED: "Python broke down",
    Verdict.MISSING: "missing",
    Verdict.MALFORMED_ANSWER: "not an answer of the right kind",
    Verdict.JUDGE_ERROR: "could not be checked",
}
NOT_COUNTING = "good to know"
HELD_BACK = "Right already; these earn their points once a check of the values passes, too:"
OUR_FAULT = (
    "The grading program failed on this notebook. That is no fault of yours: your instructor has been told "
    "and will grade it."
)
NOT_HANDED_IN = "This notebook was not handed in."
ALL_RIGHT = "Everything is right: nothing is left to mend."


@dataclass(frozen=True)
class Line:
    """What one check says, or several in the same words; ``names`` are the checks."""

    names: tuple[str, ...]
    points: float
    max_points: float
    message: str


@dataclass(frozen=True)
class Remark:
    """What neighbouring checks of one exercise say that ended alike, with what helps to mend it.

    ``held_back`` is what passed, and earns its points once a check of the values passes, too.
    """

    verdict: Verdict
    lines: tuple[Line, ...]
    hints: tuple[str, ...] = ()
    mistake: str | None = None
    held_back: bool = False

    @property
    def passed(self) -> bool:
        """Whether there is nothing to mend."""
        return self.verdict is Verdict.PASSED

    @property
    def counts(self) -> bool:
        """Whether points depend on it."""
        return any(line.max_points for line in self.lines)

    @property
    def words(self) -> str:
        """The verdict in words."""
        return VERDICT_WORDS[self.verdict] if self.passed or self.counts else NOT_COUNTING


@dataclass(frozen=True)
class Item:
    """One row of the score: an exercise with its checks, or a question that a person grades.

    ``error`` is the name of the error with which the student's own cell ended when the notebook was run.
    """

    name: str
    grade: RecordedGrade
    checks: tuple[CheckResult, ...] = ()
    comment: str | None = None
    is_question: bool = False
    is_unanswered: bool = False
    error: str | None = None

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """All checks in their order; what several say is said once, and so is every hint."""
        said: set[str] = set()
        remarks = []
        for _, checks in groupby(self.checks, _advice):
            remark = _remark(tuple(checks))
            new = tuple(hint for hint in remark.hints if hint not in said)
            mistake = None if remark.mistake in said else remark.mistake
            remarks.append(replace(remark, hints=new, mistake=mistake))
            said.update(remark.hints, [remark.mistake or ""])
        return tuple(remarks)

    @property
    def to_mend(self) -> tuple[Remark, ...]:
        """The remarks on what is not right yet, and costs points."""
        return tuple(remark for remark in self.remarks if not remark.passed and remark.counts)

    @property
    def asides(self) -> tuple[Remark, ...]:
        """The remarks on what is not right yet, but costs nothing."""
        return tuple(remark for remark in self.remarks if not remark.passed and not remark.counts)

    @property
    def right(self) -> tuple[Remark, ...]:
        """The remarks on what earned its points."""
        return tuple(remark for remark in self.remarks if remark.passed and not remark.held_back)

    @property
    def held_back(self) -> tuple[Remark, ...]:
        """The remarks on what is right, but does not count yet."""
        return tuple(remark for remark in self.remarks if remark.held_back)

    @property
    def is_complete(self) -> bool:
        """Whether all its points were earned."""
        return self.grade.score is not None and self.grade.score >= self.grade.max_score

    @property
    def state(self) -> str:
        """How it stands, in few words."""
        grade = self.grade
        if grade.waits:
            return "waits for your instructor"
        if self.is_unanswered and not grade.score:
            return "as it was handed out"
        by_hand = grade.manual_score is not None or bool(grade.extra_credit)
        if by_hand:
            return "graded by your instructor" if self.is_question else "score set by your instructor"
        if grade.score is None:
            return "no score yet"
        if self.is_complete:
            return "all points"
        return "some points" if grade.score else "no points yet"


@dataclass(frozen=True)
class Feedback:
    """Everything that is said about one notebook of one student."""

    student: str
    assignment: str
    notebook: str
    status: Status
    reason: str | None
    notes: tuple[str, ...]
    items: tuple[Item, ...]
    late_penalty: float
    handed_in: bool

    @property
    def max_score(self) -> float:
        """All points that the notebook can earn."""
        return math.fsum(item.grade.max_score for item in self.items)

    @property
    def earned(self) -> float:
        """The points so far, before a late penalty."""
        return math.fsum(item.grade.score or 0.0 for item in self.items)

    @property
    def score(self) -> float | None:
        """The points so far, as nbgrader counts them; None where grading failed by our fault."""
        return None if self.status is Status.JUDGE_ERROR else self.earned - self.late_penalty

    @property
    def waiting(self) -> tuple[Item, ...]:
        """What a person has still to grade."""
        return tuple(item for item in self.items if item.grade.waits)

    @property
    def verdict(self) -> str | None:
        """What befell the notebook as a whole, if anything did."""
        if self.status is Status.JUDGE_ERROR:
            return OUR_FAULT
        return self.reason if self.reason or self.handed_in else NOT_HANDED_IN

    @property
    def all_right(self) -> bool:
        """Whether every single point was earned, and nothing is left to mend."""
        done = all(item.is_complete and not item.to_mend and not item.asides for item in self.items)
        return bool(self.items) and self.score is not None and done

    @property
    def start(self) -> tuple[Item, Remark] | None:
        """Where to begin: the first thing to mend, of the first exercise that has one."""
        for item in self.items:
            for remark in item.to_mend:
                if remark.verdict is not Verdict.JUDGE_ERROR:
                    return item, remark
        return None


def read_feedback(
    student: str, assignment: str, notebook: str, content: Json, recorded: RecordedNotebook
) -> Feedback:
    """The facts of one autograded notebook; what in its metadata makes no sense counts as absent."""
    about = _mapping(_mapping(content.get("metadata")).get("autograder"))
    notes = about["notes"] if isinstance(about.get("notes"), list) else []
    return Feedback(
        student=student,
        assignment=assignment,
        notebook=notebook,
        status=_status(about.get("status")),
        reason=_text(about.get("reason")),
        notes=tuple(one_line(note) for note in notes if isinstance(note, str)),
        items=tuple(_items(content, recorded)),
        late_penalty=recorded.late_penalty,
        handed_in=about.get("handed_in") is not False,
    )


def points(value: float) -> str:
    """Points without needless zeros.

    >>> points(2.0), points(0.75), points(1 / 3), points(-0.001)
    ('2', '0.75', '0.33', '0')
    """
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def marks_of(cell: Json) -> Json:
    """The marks that nbgrader put on a cell; empty where it has none."""
    return _mapping(_mapping(cell.get("metadata")).get("nbgrader"))


def _items(content: Json, recorded: RecordedNotebook) -> Sequence[Item]:
    """The graded cells in the order of the notebook, then those that the notebook lacks."""
    items: dict[str, Item] = {}
    errors: dict[Any, str | None] = {}
    for cell in content.get("cells", ()):
        marks = marks_of(cell)
        grade_id = marks.get("grade_id")
        if marks.get("solution"):
            errors[grade_id] = error_name(cell.get("outputs"))
        if isinstance(grade_id, str) and grade_id in recorded.grades:
            item = _item(grade_id, cell, marks, recorded)
            items[grade_id] = replace(item, error=errors.get(item.name))
    for grade_id, grade in recorded.grades.items():
        items.setdefault(grade_id, Item(grade_id, grade))
    return list(items.values())


def _item(grade_id: str, cell: Json, marks: Json, recorded: RecordedNotebook) -> Item:
    grade = recorded.grades[grade_id]
    is_question = bool(marks.get("solution") or marks.get("task"))
    result = _mapping(_mapping(cell.get("metadata")).get("autograder"))
    name = grade_id if is_question else _text(result.get("name")) or grade_id.removeprefix("test_")
    return Item(
        name=name,
        grade=grade,
        checks=_checks(result.get("checks")),
        comment=_text(recorded.comments.get(name)),
        is_question=is_question,
        is_unanswered=name in recorded.unanswered,
    )


def _checks(data: Any) -> tuple[CheckResult, ...]:
    """The verdicts of a test cell; the instructor's details never get this far, not even by mistake."""
    try:
        return tuple(_plain(check_from_data(one)) for one in data or ())
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return ()


def _plain(check: CheckResult) -> CheckResult:
    """The check with texts that are texts and numbers that are numbers."""
    found = check.diagnosis
    return CheckResult(
        name=one_line(check.name),
        verdict=check.verdict,
        points=_finite(check.points),
        max_points=_finite(check.max_points),
        message=harmless(check.message),
        hint=None if check.hint is None else harmless(check.hint),
        diagnosis=None
        if found is None
        else replace(found, message=harmless(found.message), hint=harmless(found.hint)),
    )


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number of points")
    return float(value)


def _advice(check: CheckResult) -> tuple[Any, ...]:
    """What a check shares with the others of a remark."""
    return check.verdict, check.hint, check.diagnosis, _is_held_back(check), check.max_points > 0


def _is_held_back(check: CheckResult) -> bool:
    return check.verdict is Verdict.PASSED and check.message.endswith(NOT_YET)


def _remark(checks: tuple[CheckResult, ...]) -> Remark:
    first = checks[0]
    hints = [first.diagnosis.hint] if first.diagnosis is not None else []
    hints += [first.hint] if first.hint is not None else []
    return Remark(
        verdict=first.verdict,
        lines=tuple(_line(tuple(same)) for _, same in groupby(checks, lambda check: check.message)),
        hints=tuple(hints),
        mistake=None if first.diagnosis is None else first.diagnosis.message,
        held_back=_is_held_back(first),
    )


def _line(checks: tuple[CheckResult, ...]) -> Line:
    return Line(
        names=tuple("visible checks" if check.name == VISIBLE else check.name for check in checks),
        points=math.fsum(check.points for check in checks),
        max_points=math.fsum(check.max_points for check in checks),
        message=checks[0].message.removesuffix(NOT_YET).strip(),
    )


def _status(value: Any) -> Status:
    return Status(value) if value in set(Status) else Status.GRADED


def _text(value: Any) -> str | None:
    return harmless(value) if isinstance(value, str) and value else None


def _mapping(value: Any) -> Json:
    return value if isinstance(value, Mapping) else {}
