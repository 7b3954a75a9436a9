import io

from rich.console import Console, RenderableType

from autograder.model import CheckResult, Diagnosis, ExerciseResult, Status, SubmissionResult, Verdict
from autograder.reporting.table import class_table, submission_table

POINTS = {"split_heads": 3.0, "merge_heads": 2.0, "multihead": 6.0, "multihead_backward": 9.0}
LONG = "The values are wrong for a mask that is not causal, in the second head of the third token and later."


def exercise(name: str, points: float, score: float | None) -> ExerciseResult:
    checks = (
        CheckResult("values", Verdict.PASSED, points / 2, points / 2, "The right values."),
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
        "1.5 / 3 split_heads",
        LONG,
        "Wrong scale.",
        "Hint: See d.",
        "Hint: Count.",
        "– / 2 one_key",
    ):
        assert part in text
    assert "42" not in text
    assert max(map(len, lines)) <= 80


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
        "  needs attention: the grading program failed, not the student",
        "  judge_error: The worker was lost.",
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
