import io

from rich.console import Console, RenderableType

from autograder.model import CheckResult, Diagnosis, ExerciseResult, Status, SubmissionResult, Verdict
from autograder.reporting.table import class_table, submission_table

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
    return SubmissionResult(
        student, score, 22.0, status, exercises=(*rows, ExerciseResult("one_key", None, 2.0)), **more
    )  # type: ignore[arg-type]


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


def test_a_long_note_is_indented_as_a_whole() -> None:
    lines = shown(class_table("multihead", [result(notes=("word " * 30,))], width=80))
    below = lines[lines.index("Worth a look:") + 2 :]
    assert ["  - word", "    word"] == [line[:8] for line in below[:2]]


def test_a_check_with_a_name_that_is_far_too_long_does_not_break_the_table() -> None:
    check = CheckResult("x" * 70, Verdict.FAILED, 0.0, 1.0, "It is wrong.")
    one = SubmissionResult(
        "s01", 0.0, 1.0, Status.GRADED, exercises=(ExerciseResult("f", 0.0, 1.0, (check,)),)
    )
    (line,) = (line for line in shown(submission_table("toy", one)) if "✗" in line)
    assert line.split()[-6:] == ["0", "/", "1", "It", "is", "wrong."]
    assert len(line) <= 80


def test_a_class_has_a_line_for_every_student_with_the_points_of_each_exercise() -> None:
    lines = shown(class_table("multihead", [result(), result("s02")], width=80))
    assert lines[0] == "multihead: 2 submissions"
    assert ["s01", "1.5", "1", "3", "4.5", "–", "10"] == next(line.split() for line in lines if "s01" in line)
    assert max(map(len, lines)) <= 80


def test_where_there_is_no_room_the_exercises_are_left_out() -> None:
    lines = shown(class_table("multihead", [result()], width=40), width=40)
    assert ["s01", "10"] == next(line.split() for line in lines if "s01" in line)


def test_what_needs_a_persons_eyes_stands_below_the_table() -> None:
    odd = [
        result("s02", Status.MALFORMED, reason="An empty file."),
        result("s03", Status.JUDGE_ERROR, reason="The worker was lost."),
        result("s04", notes=("A cell was copied.",)),
    ]
    lines = shown(class_table("multihead", [result(), *odd], width=80))
    below = lines[lines.index("Worth a look:") + 1 :]
    assert below == [
        "s02",
        "  malformed: An empty file.",
        "s03",
        "  needs attention: The worker was lost.",
        "s04",
        "  - A cell was copied.",
    ]
    assert ["–", "no", "score"] == next(line.split()[-3:] for line in lines if line.strip().startswith("s03"))


def test_a_class_without_anything_odd_says_nothing_below() -> None:
    assert "Worth a look:" not in shown(class_table("multihead", [result()], width=80))


def test_an_empty_class_is_a_table_too() -> None:
    assert shown(class_table("multihead", [], width=80))[0] == "multihead: 0 submissions"


def test_names_and_notes_cannot_speak_to_the_terminal() -> None:
    evil = result("\x1b[31m[red]x[/red]\n", notes=("\x1b]0;title\x07 [bold]y",), reason="\x9b31m")
    for table in (class_table("multihead", [evil], width=80), submission_table("multihead", evil)):
        text = "\n".join(shown(table))
        assert not {"\x1b", "\x07", "\x9b"} & set(text)
        assert "[red]x[/red]" in text.replace("\n", "")
        assert "[bold]y" in text


def test_long_names_are_folded_so_that_the_scores_stay_in_view() -> None:
    lines = shown(class_table("multihead", [result("x" * 100)], width=80))
    assert max(map(len, lines)) <= 80
    assert any(line.rstrip().endswith("10") for line in lines)
