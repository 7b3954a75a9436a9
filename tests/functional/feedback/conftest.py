"""A class with a hostile student, grades by hand, faults of ours, and its feedback, made once."""

import base64
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook as NbgraderGradebook

from autograder.assignments.catalog import load_assignment
from autograder.gradebook.book import Gradebook
from autograder.model import CheckResult, ExerciseResult, Status, SubmissionResult, Verdict
from autograder.notebooks.executed import ExecutedNotebook
from autograder.notebooks.reading import read_notebook_file

Json = dict[str, Any]

HOSTILE_ANSWER = r"""
<script>document.title = "HOSTILE"</script> <img src=x onerror="document.title='HOSTILE'">
<svg onload="document.title='HOSTILE'"></svg><style>* {display: none}</style></div></main>

[click](javascript:alert(1)) ![far](http://127.0.0.1:9/far.png) ![own](attachment:own.svg)
![figure](figures/direct_reshape.svg) $\text{<img src=x onerror=alert(1)>}$ $\href{javascript:alert(1)}{x}$
"""
HOSTILE_OUTPUT = r"""
from IPython.display import HTML, SVG, Javascript, Markdown, display
display(HTML("<script>document.title = 'HOSTILE'</script>"), Javascript("document.title = 'HOSTILE'"))
display(SVG("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"))
display(Markdown("<img src=x onerror=alert(1)>"))
print("</pre><script>document.title = 'HOSTILE'</script>", "\x1b[31mred\x1b[0m \x1b]0;HOSTILE\x07 \u202e")
"""
#: A traceback through packages and given files, and what a curious student prints.
PATHS_OUTPUT = """
import os, sys, warnings
print("Paths:", os.getcwd(), os.path.expanduser("~"), np.__file__, visible_checks.__file__, sys.prefix)
print(sys.path)
warnings.warn_explicit("old", UserWarning, np.__file__, 1)
attention(np.zeros((1, 2)), np.zeros((1, 2)), 1, 1)
"""


RESHAPED = """
def split_heads(x, heads):
    return x.reshape(x.shape[0], heads, x.shape[1], x.shape[2] // heads)
"""


def hostile(notebooks: Any) -> Json:
    notebook: Json = notebooks.filled(
        notebooks.right(one_key=HOSTILE_ANSWER), last=(HOSTILE_OUTPUT, PATHS_OUTPUT)
    )
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "one_key":
            svg = base64.b64encode(b"<svg onload='alert(1)'/>").decode()
            cell["attachments"] = {"own.svg": {"image/svg+xml": svg}}
    return notebook


def record_faults(course: Path) -> None:
    """A submission that our own fault kept from a grade, twice: before and after it ran."""
    assignment = load_assignment(course, "multihead")
    check = CheckResult(
        "values", Verdict.JUDGE_ERROR, 0.0, 3.0, "The grading program failed here.", detail="SECRET 1"
    )
    with Gradebook(assignment) as book:
        reason = "The grading program failed: SECRET 2"
        book.record(SubmissionResult("fault-before", None, 22.0, Status.JUDGE_ERROR, reason), {})
        notebook = read_notebook_file(course / "submitted/noisy/multihead/multihead.ipynb")
        exercises = (ExerciseResult("split_heads", None, 3.0, (check,)),)
        result = SubmissionResult(
            "fault-after", None, 22.0, Status.JUDGE_ERROR, "SECRET 3", exercises=exercises
        )
        book.record(result, {"multihead": ExecutedNotebook(notebook, {})})


def set_by_hand(course: Path, student: str, cell: str, **values: Any) -> None:
    """What an instructor does in formgrader: a score and perhaps a comment."""
    with NbgraderGradebook(f"sqlite:///{course / 'gradebook.db'}", "") as book:
        comment = values.pop("comment", None)
        if comment is not None:
            book.find_comment(
                cell.removeprefix("test_"), "multihead", "multihead", student
            ).manual_comment = comment
        if values:
            grade = book.find_grade(cell, "multihead", "multihead", student)
            for name, value in values.items():
                setattr(grade, name, value)
            grade.needs_manual_grade = False
        book.db.commit()


@pytest.fixture(scope="session")
def fed(graded: Any, notebooks: Any, program: Callable[..., Any], made_once: Callable[..., Path]) -> Path:
    """The graded class with a hostile student more, some grades by hand, and feedback: do not change it."""

    def fill(folder: Path) -> Any:
        course = graded.course.copy(folder / "course")
        course.hand_in("zoë hostile", hostile(notebooks))
        course.hand_in("mistaken", notebooks.filled(notebooks.right(split_heads=RESHAPED)))
        new = ("--student", "zoë hostile", "--student", "mistaken")
        done = program("grade", "multihead", *new, cwd=course.folder)
        assert 0 == done.code, done.err
        record_faults(course.folder)
        set_by_hand(
            course.folder, "noisy", "one_key", manual_score=1.5, comment="Say *more* of $W_Q$ <b>here</b>."
        )
        set_by_hand(course.folder, "zeros", "test_merge_heads", manual_score=1.0, extra_credit=0.5)
        return program("feedback", "multihead", cwd=course.folder)

    return made_once("fed", fill) / "course"


@pytest.fixture
def fed_copy(fed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(fed, tmp_path / "course", symlinks=True))


@pytest.fixture(scope="session", name="set_by_hand")
def set_by_hand_fixture() -> Callable[..., None]:
    return set_by_hand
