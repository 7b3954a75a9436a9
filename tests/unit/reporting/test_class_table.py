import io
from dataclasses import replace

import pytest
from rich.console import Console, RenderableType

from autograder.model import CheckResult, ExerciseResult, Status, SubmissionResult, Verdict
from autograder.reporting.class_table import MAX_NAMES, class_table

POINTS = {"split_heads": 3.0, "merge_heads": 2.0, "multihead": 6.0, "multihead_backward": 9.0}


def exercise(name: str, max_score: float, score: float | None, *verdicts: Verdict) -> ExerciseResult:
    checks = (
        CheckResult(f"check_{number}", verdict, 0.0, 1.0, "A sentence.")
        for number, verdict in enumerate(verdicts or (Verdict.PASSED, Verdict.FAILED))
    )
    return ExerciseResult(name, score, max_score, tuple(checks))


def result(student: str = "s01", status: Status = Status.GRADED, **more: object) -> SubmissionResult:
    score = None if status is Status.JUDGE_ERROR else 10.0
    rows = [exercise(name, points, score and points / 2) for name, points in POINTS.items()]
    question = ExerciseResult("one_key", 0.0, 2.0)
    return SubmissionResult(student, score, 22.0, status, exercises=(*rows, question), **more)  # type: ignore[arg-type]


def with_waiting(student: str, status: Status = Status.GRADED, name: str = "one_key") -> SubmissionResult:
    one = result(student, status)
    rows = (
        replace(row, waits=True, score=None if name == "one_key" else row.score) if row.name == name else row
        for row in one.exercises
    )
    return replace(one, exercises=tuple(rows))


def with_first(first: ExerciseResult, **more: object) -> SubmissionResult:
    one = result(**more)  # type: ignore[arg-type]
    return replace(one, exercises=(first, *one.exercises[1:]))


def shown(table: RenderableType, width: int = 80) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(table)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def below(*results: SubmissionResult) -> list[str]:
    """What is said of one student or more, below the table."""
    lines = shown(class_table("multihead", results, width=80))
    return lines[lines.index("Worth a look:") + 1 :] if "Worth a look:" in lines else []


def test_a_long_note_is_indented_as_a_whole() -> None:
    lines = below(result(notes=("word " * 30,)))
    assert ["  - word", "    word"] == [line[:8] for line in lines[1:3]]


def test_a_class_has_a_line_for_every_student_with_the_points_of_each_exercise() -> None:
    lines = shown(class_table("multihead", [result(), result("s02")], width=80))
    assert lines[0] == "multihead: 2 submissions"
    assert ["s01", "1.5", "1", "3", "4.5", "0", "10"] == next(line.split() for line in lines if "s01" in line)
    assert max(map(len, lines)) <= 80


def test_where_there_is_no_room_the_exercises_are_left_out() -> None:
    lines = shown(class_table("multihead", [result()], width=40), width=40)
    assert ["s01", "10"] == next(line.split() for line in lines if "s01" in line)


@pytest.mark.parametrize(
    ("width", "words"), [(120, ["MultiHeadAttention"]), (80, ["Multi", "Head", "Attention"])]
)
def test_names_of_classes_are_broken_before_capitals_where_there_is_no_room_else(
    width: int, words: list[str]
) -> None:
    names = ("split_heads", "compute_attention", "combine_heads", "forward", "who_needs_backward")
    rows = tuple(exercise(name, 3.0, 2.0) for name in ("MultiHeadAttention", *names))
    one = SubmissionResult("s01", 12.0, 24.0, Status.GRADED, exercises=rows)
    lines = shown(class_table("torch_multihead", [one], width=width), width=width)
    title = [word for line in lines for word in line.split() if set(word) & set("MHA")]
    assert words == title
    assert "student" in " ".join(lines).split()
    assert ["s01", *["2"] * 6, "12"] == next(line.split() for line in lines if "s01" in line)


def test_what_needs_a_persons_eyes_stands_below_the_table() -> None:
    odd = [
        result("s02", Status.MALFORMED, reason="An empty file."),
        result("s03", Status.JUDGE_ERROR, reason="The worker was lost."),
        result("s04", notes=("A cell was copied.",)),
    ]
    lines = shown(class_table("multihead", [result(), *odd], width=80))
    assert below(result(), *odd) == [
        "s02",
        "  malformed: An empty file.",
        "s03",
        "  needs attention: The worker was lost.",
        "s04",
        "  - A cell was copied.",
    ]
    assert ["0", "no", "score"] == next(line.split()[-3:] for line in lines if line.strip().startswith("s03"))


def test_a_class_without_anything_odd_says_nothing_below() -> None:
    assert "Worth a look:" not in shown(class_table("multihead", [result()], width=80))


def test_an_empty_class_is_a_table_too() -> None:
    assert shown(class_table("multihead", [], width=80))[0] == "multihead: 0 submissions"


def test_names_and_notes_cannot_speak_to_the_terminal() -> None:
    evil = result("\x1b[31m[red]x[/red]\n", notes=("\x1b]0;title\x07 [bold]y",), reason="\x9b31m")
    text = "\n".join(shown(class_table("multihead", [evil], width=80)))
    assert not {"\x1b", "\x07", "\x9b"} & set(text)
    assert "[red]x[/red]" in text.replace("\n", "")
    assert "[bold]y" in text


def test_long_names_are_folded_so_that_the_scores_stay_in_view() -> None:
    lines = shown(class_table("multihead", [result("x" * 100)], width=80))
    assert max(map(len, lines)) <= 80
    assert any(line.rstrip().endswith("10") for line in lines)


def test_where_a_person_has_still_to_grade_there_is_a_dash_and_the_student_is_named() -> None:
    students = [
        with_waiting("ada"),
        result("bob"),
        with_waiting("cleo"),
        with_waiting("dora", name="multihead"),
    ]
    lines = shown(class_table("multihead", students, width=80))
    column = {line.split()[0]: line.split()[-2] for line in lines if line.split()[-1:] == ["10"]}
    assert {"ada": "–", "bob": "0", "cleo": "–", "dora": "0"} == column
    place = lines.index("Waits for a person to grade it:")
    assert ["  multihead of dora", "  one_key of ada, cleo"] == lines[place + 1 :]


def test_of_a_large_class_the_first_who_wait_are_named_and_the_others_counted() -> None:
    lines = shown(
        class_table("multihead", [with_waiting(f"s{n:03}") for n in range(MAX_NAMES + 5)], width=80)
    )
    assert f"s{MAX_NAMES - 1:03} and 5 more" in " ".join(" ".join(lines).split())


def test_what_the_grading_program_failed_on_waits_for_nobody_to_grade_it() -> None:
    lines = shown(class_table("multihead", [with_waiting("s01", Status.JUDGE_ERROR)], width=80))
    assert not [line for line in lines if "Waits" in line]


def test_a_cell_that_ended_with_an_error_is_worth_a_look() -> None:
    broken = replace(exercise("f", 3.0, 0.0, Verdict.MISSING), error="SyntaxError")
    assert ["s01", "  - The cell of f ended with SyntaxError."] == below(with_first(broken))


def test_a_function_that_never_ends_or_breaks_python_is_worth_a_look() -> None:
    for verdict, words in (
        (Verdict.TIMED_OUT, "f ran out of time."),
        (Verdict.MEMORY_EXCEEDED, "f needed too much memory."),
        (Verdict.CRASHED, "f broke Python down."),
        (Verdict.MISSING, "f is not defined."),
    ):
        assert ["s01", f"  - {words}"] == below(with_first(exercise("f", 3.0, 0.0, verdict, verdict)))
        some = exercise("f", 3.0, 1.0, Verdict.PASSED, verdict)
        assert ["s01", f"  - {words[:-1]} in check_1."] == below(with_first(some))


def test_a_function_whose_cell_is_known_to_be_lost_is_not_told_twice() -> None:
    note = "The cell of `f` is missing."
    assert ["s01", f"  - {note}"] == below(
        with_first(exercise("f", 3.0, 0.0, Verdict.MISSING), notes=(note,))
    )
