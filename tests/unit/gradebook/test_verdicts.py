import pytest
from nbconvert.filters.markdown_mistune import markdown2html_mistune

from autograder.gradebook.verdicts import markdown, verdict_output
from autograder.model import CheckResult, Diagnosis, ExerciseResult, Verdict

EXERCISE = ExerciseResult(
    "f",
    1.5,
    3.0,
    (
        CheckResult("values", Verdict.PASSED, 1.5, 1.5, "The values are right."),
        CheckResult(
            "shapes",
            Verdict.FAILED,
            0.0,
            1.0,
            "The shape is wrong.",
            "Count the axes.",
            Diagnosis("swapped", "Two axes are swapped.", "Look at the transpose."),
            "hidden 42",
        ),
        CheckResult("speed", Verdict.JUDGE_ERROR, 0.0, 0.5, "Our fault."),
    ),
)


def test_the_plain_table_says_all_that_a_student_may_know() -> None:
    assert verdict_output(EXERCISE)["data"]["text/plain"].splitlines() == [
        "f: 1.5 of 3 points",
        "  ✓ values (1.5 / 1.5): The values are right.",
        "  ✗ shapes (0 / 1): The shape is wrong.",
        "      Two axes are swapped.",
        "      Hint: Look at the transpose.",
        "      Hint: Count the axes.",
        "  ? speed (0 / 0.5): Our fault.",
    ]


def test_the_markdown_table_renders_as_one_table_with_a_row_a_check() -> None:
    page = markdown2html_mistune(verdict_output(EXERCISE)["data"]["text/markdown"])
    assert page.count("<tr>") == 4
    assert "<strong>f: 1.5 of 3 points</strong>" in page
    assert "Two axes are swapped.<br>Hint: Look at the transpose." in page


def test_what_is_for_the_instructor_alone_is_in_neither_table() -> None:
    assert "42" not in str(verdict_output(EXERCISE))


def test_an_exercise_without_checks_or_score_has_a_line_alone() -> None:
    data = verdict_output(ExerciseResult("f", None, 3.0))["data"]
    assert data["text/plain"] == "f: no score yet, of 3 points"
    assert data["text/markdown"] == "**f: no score yet, of 3 points**"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[a](javascript:alert(1)) ![b](x.png)",
        "a | b || c",
        "*a* _b_ **c** ~~d~~ $x$ $$y$$ \\(z\\)",
        "a `b|c` d",
        "`<b>` & `x_y`",
        "``` x",
    ],
)
def test_no_text_becomes_markup_or_a_formula(text: str) -> None:
    page = markdown2html_mistune(f"| a |\n|-|\n| {markdown(text)} |")
    assert page.count("<td") == 1
    for sign in ("<script", "<a ", "<img", "<em>", "<strong>", "<b>", "<del>", "$x", "y$", "\\("):
        assert sign not in page


def test_names_in_backticks_stay_code() -> None:
    assert "<p><code>x_y</code> is_not</p>" in markdown2html_mistune(markdown("`x_y` is_not"))


def test_a_check_that_is_worth_nothing_has_a_dash_for_points() -> None:
    check = CheckResult("together", Verdict.FAILED, 0.0, 0.0, "It fails with the others.")
    data = verdict_output(ExerciseResult("f", 3.0, 3.0, (check,)))["data"]
    assert "✗ together (–): It fails with the others." in data["text/plain"]
    assert "| ✗ | together | – | It fails with the others. |" in data["text/markdown"]
