"""The words in which all parts of the kit talk about a graded submission.

Plain frozen values: no behaviour, no file formats (``reporting`` writes them down).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Verdict(StrEnum):
    """How one check of one exercise ended."""

    PASSED = "passed"
    FAILED = "failed"
    RAISED = "raised"
    TIMED_OUT = "timed_out"
    MEMORY_EXCEEDED = "memory_exceeded"
    CRASHED = "crashed"
    MISSING = "missing"
    MALFORMED_ANSWER = "malformed_answer"
    JUDGE_ERROR = "judge_error"


class Status(StrEnum):
    """How the grading of one submission ended."""

    GRADED = "graded"
    MALFORMED = "malformed"
    JUDGE_ERROR = "judge_error"


@dataclass(frozen=True)
class Diagnosis:
    """What explains a failed check: a known mistake or, if its id begins with observed_, what was seen."""

    id: str
    message: str
    hint: str


@dataclass(frozen=True)
class CheckResult:
    """The verdict of one check, worded for the student.

    ``detail`` is for the instructor alone, and so is ``attempt``: which draw of hidden inputs counted.
    """

    name: str
    verdict: Verdict
    points: float
    max_points: float
    message: str
    hint: str | None = None
    diagnosis: Diagnosis | None = None
    detail: str | None = None
    attempt: int = 0


@dataclass(frozen=True)
class ExerciseResult:
    """All checks of one exercise; a manual question has no checks and no score until it is graded.

    ``waits`` says that a person has still to look at it. ``error`` names the error with which the student's
    own cell ended when the notebook was run.
    """

    name: str
    score: float | None
    max_score: float
    checks: tuple[CheckResult, ...] = ()
    waits: bool = False
    error: str | None = None


#: The note in each result that was reached without the sandbox.
WITHOUT_SANDBOX = "This was graded without the sandbox, on the instructor's demand (--unsafe)."


@dataclass(frozen=True)
class SubmissionResult:
    """One student's result; ``score`` is automatic plus manual so far, None on a fault of ours.

    ``sandboxed`` is False where nothing kept the student's code from the rest of the machine.
    """

    student: str
    score: float | None
    max_score: float
    status: Status
    reason: str | None = None
    notes: tuple[str, ...] = ()
    exercises: tuple[ExerciseResult, ...] = ()
    sandboxed: bool = True


@dataclass(frozen=True)
class RecordedGrade:
    """What the gradebook holds for one graded cell: our score, a person's in its place, extra credit.

    ``waits`` says that a person has still to look at it.
    """

    max_score: float
    auto_score: float | None = None
    manual_score: float | None = None
    extra_credit: float = 0.0
    waits: bool = False

    @property
    def score(self) -> float | None:
        """What counts: a person's score before ours, extra credit added; None where there is neither."""
        score = self.auto_score if self.manual_score is None else self.manual_score
        return None if score is None and not self.extra_credit else (score or 0.0) + self.extra_credit


@dataclass(frozen=True)
class RecordedNotebook:
    """What the gradebook holds for one notebook of one student, by grade id.

    ``comments`` are those that people wrote; ``unanswered`` names the cells that came back as handed out.
    """

    grades: Mapping[str, RecordedGrade]
    comments: Mapping[str, str] = field(default_factory=dict)
    unanswered: frozenset[str] = frozenset()
    late_penalty: float = 0.0


@dataclass(frozen=True)
class Limits:
    """What a student's code may use. Times are CPU seconds; ``wall_factor`` times as much by the clock.

    ``docs/limits.md`` says what each of them means, and what happens beyond it.
    """

    call_seconds: float = 2.0
    exercise_seconds: float = 10.0
    notebook_seconds: float = 30.0
    wall_factor: float = 3.0
    memory_bytes: int = 2 * 2**30
    total_memory_bytes: int = 3 * 2**30
    processes: int = 256
    open_files: int = 256
    file_bytes: int = 64 * 2**20
    tmp_bytes: int = 128 * 2**20
    tmp_files: int = 10_000
    output_bytes: int = 4 * 2**20
    answer_bytes: int = 64 * 2**20


@dataclass(frozen=True)
class Environment:
    """What a notebook finds installed, besides Python's own modules, NumPy and IPython.

    Names are those of distributions, as pip knows them; what they require comes along. Without ``packages``
    nothing is graded, ``optional`` ones are found where they are installed. The modules in ``warm_up`` are
    imported once, for all notebooks.
    """

    packages: tuple[str, ...] = ()
    optional: tuple[str, ...] = ("matplotlib",)
    warm_up: tuple[str, ...] = ()
