"""An autograded notebook with a bit of everything, and what a gradebook holds of it."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from autograder.checking.scoring import NOT_YET
from autograder.model import CheckResult, Diagnosis, RecordedGrade, RecordedNotebook, Status, Verdict
from autograder.reporting.feedback.facts import Feedback, read_feedback

Json = dict[str, Any]

MISTAKE = Diagnosis("twice", "You double twice.", "How often do you multiply?")
DOUBLE = (
    CheckResult("visible", Verdict.PASSED, 1.0, 1.0, "Two is doubled."),
    CheckResult(
        "small", Verdict.FAILED, 0.0, 0.5, "Wrong for `x` < 3.", "Try 1.", MISTAKE, detail="DETAIL 41"
    ),
    CheckResult(
        "large", Verdict.FAILED, 0.0, 0.25, "Wrong for `x` < 3.", "Try 1.", MISTAKE, detail="DETAIL 42"
    ),
    CheckResult("negative", Verdict.RAISED, 0.0, 0.25, "double raised ValueError.", "Try 1."),
    CheckResult("repeatable", Verdict.PASSED, 0.0, 1.0, f"It repeats. {NOT_YET}"),
    CheckResult("end_to_end", Verdict.FAILED, 0.0, 0.0, "It builds on another."),
)


def checks_data(checks: tuple[CheckResult, ...]) -> list[Json]:
    return [{**asdict(check), "verdict": str(check.verdict)} for check in checks]


@pytest.fixture
def content(build: Any) -> Json:
    """The notebook as ``gradebook.autograded`` builds it."""
    solution = build.solution("double", "def double(x):\n    return 4 * x")
    solution["outputs"] = [
        {"output_type": "error", "ename": "NameError", "evalue": "z", "traceback": ["no z"]}
    ]
    test = build.test("double", 3, "SECRET TEST TEXT")
    test["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "SECRET TEST OUTPUT"}]
    test["metadata"]["autograder"] = {"name": "double", "score": 1.0, "checks": checks_data(DOUBLE)}
    question = build.question("why", 2, "Because *I* say so.")
    notebook: Json = build.notebook(build.markdown("# Doubling"), solution, test, question)
    for number, cell in enumerate(notebook["cells"], start=1):
        cell["metadata"].setdefault("autograder", {"cell": number})
    notebook["metadata"]["autograder"] = {
        "status": "graded",
        "reason": None,
        "notes": ["Cell 9 was left out."],
        "handed_in": True,
    }
    return notebook


@pytest.fixture
def recorded() -> RecordedNotebook:
    return RecordedNotebook(
        grades={"test_double": RecordedGrade(3.0, 1.0), "why": RecordedGrade(2.0, manual_score=1.5)},
        comments={"why": "Say *more* <b>here</b>."},
    )


@pytest.fixture
def feedback(content: Json, recorded: RecordedNotebook) -> Feedback:
    return read_feedback("ada", "toy", "toy", content, recorded)


@pytest.fixture
def about(content: Json) -> Callable[..., Json]:
    """The notebook with something else said of the whole."""

    def change(status: Status = Status.GRADED, **more: Any) -> Json:
        content["metadata"]["autograder"] |= {"status": str(status), **more}
        return content

    return change
