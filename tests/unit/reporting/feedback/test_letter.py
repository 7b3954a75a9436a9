import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from autograder.model import RecordedNotebook, Status
from autograder.reporting.feedback.facts import Feedback, read_feedback
from autograder.reporting.feedback.letter import WIDTH, as_markdown, as_text
from autograder.reporting.feedback.markdown import SafeMarkdown

Json = dict[str, Any]

TEXT = """\
toy: feedback for ada
=====================

2.5 of 5 points.

Where to start: double. Wrong for `x` < 3. When the notebook was run, its
cell ended with NameError.

  double        1 / 3  some points
  why         1.5 / 2  graded by your instructor

- Cell 9 was left out.

Your instructor on why:
  > Say *more* <b>here</b>.


double: 1 / 3 points
--------------------
When the notebook was run, its cell ended with NameError.
- 0 / 0.75, not right yet: Wrong for `x` < 3. (small, large)
  You double twice.
  Hint: How often do you multiply?
  Hint: Try 1.
- 0 / 0.25, raised an error: double raised ValueError. (negative)
- good to know: It builds on another.
+ 1 / 1, right: Two is doubled.
Right already; these earn their points once a check of the values passes,
too:
+ 0 / 1, right: It repeats.
"""

MARKDOWN = """\
# toy: feedback for ada

2.5 of 5 points.

Where to start: double. Wrong for `x` &lt; 3. When the notebook was run, its cell ended with NameError.

| Exercise | Points | State |
|:-|-:|:-|
| double | 1 / 3 | some points |
| why | 1.5 / 2 | graded by your instructor |

- Cell 9 was left out.

Your instructor on why:

> Say *more* &lt;b>here&lt;/b>.

## double: 1 / 3 points

When the notebook was run, its cell ended with NameError.

- **0 / 0.75, not right yet**: Wrong for `x` &lt; 3. (small, large)
  - You double twice.
  - Hint: How often do you multiply?
  - Hint: Try 1.
- **0 / 0.25, raised an error**: double raised ValueError. (negative)

- **good to know**: It builds on another.

- **1 / 1, right**: Two is doubled.

Right already; these earn their points once a check of the values passes, too:

- **0 / 1, right**: It repeats.
"""


def test_the_text_says_everything_in_short(feedback: Feedback) -> None:
    assert TEXT == as_text(feedback)


def test_the_markdown_says_the_same(feedback: Feedback) -> None:
    assert MARKDOWN == as_markdown(feedback)


def test_no_line_of_text_is_too_wide_for_a_mail(feedback: Feedback) -> None:
    noted = replace(feedback, notes=("word " * 100, "w" * 200))
    too_wide = [line for line in as_text(noted).splitlines() if len(line) > WIDTH]
    assert ["- " + "w" * 200] == too_wide or ["w" * 200] == [line.strip() for line in too_wide]


@pytest.mark.parametrize("write", [as_text, as_markdown])
def test_no_control_character_gets_into_a_letter(
    write: Callable[[Feedback], str], content: Json, recorded: RecordedNotebook
) -> None:
    content["metadata"]["autograder"]["notes"] = ["\x1b[2Jfile\x07 \u202egpj.exe was left out"]
    hostile = replace(recorded, comments={"why": "\x1b]0;title\x07fine\x00"})
    letter = write(read_feedback("a\x1b[31mda\n", "toy", "toy", content, hostile))
    assert [] == re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", letter)


@pytest.mark.parametrize(
    "note",
    [
        "<script>alert(1)</script>",
        "[click](javascript:alert(1))",
        "[click](http://evil.example)",
        "![x](http://evil.example/x.png)",
        "[click][1]",
        "$x$ and **bold** and _slanted_ and ~~gone~~ | cell",
        "# no heading",
        "\\[x\\]",
    ],
)
def test_a_note_is_read_as_it_stands(
    feedback: Feedback, dangers: Callable[[str], list[str]], note: str
) -> None:
    letter = as_markdown(replace(feedback, notes=(note,)))
    shown = str(SafeMarkdown({}).foreign(letter))
    assert [] == dangers(shown)
    for tag in ("<a ", "<img", "<strong>bold", "<em>slanted", "<del>", "<math", "<h3>no"):
        assert tag not in shown


@pytest.mark.parametrize("write", [as_text, as_markdown])
def test_a_malformed_notebook_gets_its_reason_and_no_checks(
    write: Callable[[Feedback], str], about: Callable[..., Json], recorded: RecordedNotebook
) -> None:
    content = about(Status.MALFORMED, reason="It is empty.", handed_in=False)
    letter = write(read_feedback("ada", "toy", "toy", content, recorded))
    assert "It is empty." in letter
    assert "Two is doubled" not in letter


@pytest.mark.parametrize("write", [as_text, as_markdown])
def test_a_fault_of_ours_is_not_blamed_on_the_student(
    write: Callable[[Feedback], str], about: Callable[..., Json], recorded: RecordedNotebook
) -> None:
    letter = write(read_feedback("ada", "toy", "toy", about(Status.JUDGE_ERROR), recorded))
    assert "no fault of yours" in " ".join(letter.split())
    assert "of 5 points" not in letter


def test_a_late_penalty_and_what_waits_stand_in_the_letter(content: Json, recorded: RecordedNotebook) -> None:
    grades = {**recorded.grades, "why": replace(recorded.grades["why"], manual_score=None, waits=True)}
    late = replace(recorded, grades=grades, late_penalty=0.5)
    letter = as_text(read_feedback("ada", "toy", "toy", content, late))
    assert "0.5 of 5 points so far." in letter
    assert "1 points for the work, less 0.5 for handing it in late." in letter
    assert "Your instructor has still to look at: why." in letter
