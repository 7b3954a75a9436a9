import io
from dataclasses import replace

from rich.console import Console, RenderableType

from autograder.model import CheckResult, Diagnosis, ExerciseResult, Status, SubmissionResult, Verdict
from autograder.reporting.table import submission_table

POINTS = {"split_heads": 3.0, "merge_heads": 2.0, "multihead": 6.0, "multihead_backward": 9.0}
LONG = "The values are wrong for a mask that is not causal, in the second head of the third token and later."


BRIEF = "The right values are in every head, at every position, whatever the sizes of the axes may be."


def exercise(name: str, points: float, score: float | None) -> ExerciseResult:
    checks = (
        CheckResult("values", Verdict.PASSED, points / 2, points / 2, BRIEF),
        CheckResult(
            "mask",
            Verdict.FAILED,
            0.0,
            points / 2,
            LONG,
            "Count.",
            Diagnosis("scale", "Wrong scale.", "See d."),
            "42",
        ),
    )
    return ExerciseResult(name, score, points, checks)


def result(student: str = "s01", status: Status = Status.GRADED, **more: object) -> SubmissionResult:
    score = None if status is Status.JUDGE_ERROR else 10.0
    rows = [exercise(name, points, score and points / 2) for name, points in POINTS.items()]
    question = ExerciseResult("one_key", None, 2.0, waits=True)
    return SubmissionResult(student, score, 22.0, status, exercises=(*rows, question), **more)  # type: ignore[arg-type]


def shown(table: RenderableType, width: int = 80) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(table)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_one_result_shows_points_messages_diagnoses_and_hints_at_80_columns() -> None:
    lines = shown(submission_table("multihead", result()))
    text = " ".join(" ".join(lines).split())
    assert lines[0] == "multihead, s01: 10 of 22"
    for part in (
        "split_heads 1.5 / 3 ",
        f"✗ mask 0 / 1.5 {LONG} Wrong scale. Hint: See d. Hint: Count.",
        "one_key – / 2 waits for a person",
        "total 10 / 22",
    ):
        assert part in text
    assert "42" not in text
    assert max(map(len, lines)) <= 80


def test_a_check_that_passed_is_one_line_with_the_beginning_of_its_sentence() -> None:
    lines = shown(submission_table("multihead", result()))
    passed = [line for line in lines if "✓ values" in line]
    assert len(POINTS) == len(passed)
    assert all(line.endswith("…") and "The right values" in line for line in passed)
    assert "whatever the sizes" not in " ".join(lines)


def test_a_check_that_passed_without_its_points_says_why() -> None:
    held_back = CheckResult("untouched", Verdict.PASSED, 0.0, 1.0, f"{BRIEF} It earns nothing yet.")
    one = SubmissionResult(
        "s01", 0.0, 1.0, Status.GRADED, exercises=(ExerciseResult("f", 0.0, 1.0, (held_back,)),)
    )
    assert f"✓ untouched 0 / 1 {BRIEF} It earns nothing yet." in " ".join(
        " ".join(shown(submission_table("toy", one))).split()
    )


def test_a_row_that_counts_nothing_shows_no_points() -> None:
    row = CheckResult("end_to_end", Verdict.FAILED, 0.0, 0.0, "It is wrong by itself.")
    one = SubmissionResult("s01", 0.0, 1.0, Status.GRADED, exercises=(ExerciseResult("f", 0.0, 1.0, (row,)),))
    (line,) = (line for line in shown(submission_table("toy", one)) if "end_to_end" in line)
    assert ["✗", "end_to_end", "It", "is", "wrong", "by", "itself."] == line.split()


def test_a_hint_is_given_once_an_exercise() -> None:
    checks = [CheckResult(name, Verdict.FAILED, 0.0, 1.0, f"{name} is wrong.", "Look.") for name in "abc"]
    rows = tuple(ExerciseResult(name, 0.0, 3.0, tuple(checks)) for name in "fg")
    one = SubmissionResult("s01", 0.0, 6.0, Status.GRADED, exercises=rows)
    text = "\n".join(shown(submission_table("toy", one)))
    assert (2, 2) == (text.count("Hint: Look."), text.count("c is wrong."))


def test_a_submission_that_was_never_judged_waits_for_nobody() -> None:
    rows = (ExerciseResult("f", None, 1.0), ExerciseResult("why", None, 2.0))
    one = SubmissionResult("s01", None, 3.0, Status.JUDGE_ERROR, "The worker was lost.", exercises=rows)
    lines = shown(submission_table("toy", one))
    assert ["toy, s01: no score of 3", "  needs attention: The worker was lost."] == lines[:2]
    assert "waits" not in "".join(lines)


def test_a_check_with_a_name_that_is_far_too_long_does_not_break_the_table() -> None:
    check = CheckResult("x" * 70, Verdict.FAILED, 0.0, 1.0, "It is wrong.")
    one = SubmissionResult(
        "s01", 0.0, 1.0, Status.GRADED, exercises=(ExerciseResult("f", 0.0, 1.0, (check,)),)
    )
    (line,) = (line for line in shown(submission_table("toy", one)) if "✗" in line)
    assert line.split()[-6:] == ["0", "/", "1", "It", "is", "wrong."]
    assert len(line) <= 80


def test_a_check_that_passed_is_told_whole_where_nothing_is_cut() -> None:
    lines = shown(submission_table("multihead", result(), cut=False))
    assert BRIEF in " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= 80


def failing(*names: str, message: str = "It is wrong.", exercise: str = "f") -> ExerciseResult:
    checks = tuple(CheckResult(name, Verdict.FAILED, 0.0, 0.5, message) for name in names)
    return ExerciseResult(exercise, 0.0, len(names) / 2, checks)


def only(exercise: ExerciseResult, status: Status = Status.GRADED) -> SubmissionResult:
    return SubmissionResult("s01", 0.0, exercise.max_score, status, exercises=(exercise,))


def test_neighbours_that_say_the_same_say_it_once() -> None:
    other = CheckResult("shape", Verdict.FAILED, 0.0, 0.5, "It is flat.")
    exercise = failing("values", "dtypes", "extremes")
    exercise = ExerciseResult("f", 0.0, 2.0, (other, *exercise.checks))
    lines = shown(submission_table("toy", only(exercise)))
    assert "  ✗ values, dtypes,  0 / 1.5  It is wrong." in lines
    assert lines[lines.index("  ✗ values, dtypes,  0 / 1.5  It is wrong.") + 1].strip() == "extremes"


def test_where_all_checks_say_the_same_they_are_counted() -> None:
    aside = CheckResult("end_to_end", Verdict.FAILED, 0.0, 0.0, "It fits nothing.")
    exercise = failing(*(f"check_{number}" for number in range(12)))
    exercise = ExerciseResult("f", 0.0, 6.0, (*exercise.checks, aside))
    lines = [line.split() for line in shown(submission_table("toy", only(exercise)))]
    assert ["✗", "all", "12", "checks", "0", "/", "6", "It", "is", "wrong."] in lines
    assert ["✗", "end_to_end", "It", "fits", "nothing."] in lines


def test_mistakes_of_checks_that_say_the_same_are_all_told() -> None:
    known = Diagnosis("scale", "Wrong scale.", "See d.")
    first, second = failing("a", "b").checks
    exercise = ExerciseResult("f", 0.0, 1.0, (first, replace(second, diagnosis=known)))
    text = " ".join(" ".join(shown(submission_table("toy", only(exercise)))).split())
    assert "✗ a, b 0 / 1 It is wrong. Wrong scale. Hint: See d." in text


def test_the_error_with_which_a_cell_ended_stands_beside_the_exercise() -> None:
    exercise = replace(failing("a"), error="SyntaxError")
    assert "f      0 / 0.5  its cell ended with SyntaxError" in shown(submission_table("toy", only(exercise)))


def test_a_malformed_submission_is_one_line_an_exercise() -> None:
    rows = (ExerciseResult("f", 0.0, 1.0), ExerciseResult("g", 0.0, 1.0), ExerciseResult("why", 0.0, 2.0))
    one = SubmissionResult("s01", 0.0, 4.0, Status.MALFORMED, "It is empty.", exercises=rows)
    assert [
        "toy, s01: 0 of 4",
        "  malformed: It is empty.",
        "",
        "f      0 / 1",
        "g      0 / 1",
        "why    0 / 2",
        "total  0 / 4",
    ] == shown(submission_table("toy", one))


def test_names_and_notes_cannot_speak_to_the_terminal() -> None:
    evil = result("\x1b[31m[red]x[/red]\n", notes=("\x1b]0;title\x07 [bold]y",), reason="\x9b31m")
    text = "\n".join(shown(submission_table("multihead", evil)))
    assert not {"\x1b", "\x07", "\x9b"} & set(text)
    assert "[red]x[/red]" in text.replace("\n", "")
    assert "[bold]y" in text
