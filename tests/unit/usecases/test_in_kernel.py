import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.errors import CourseError, JudgeError
from autograder.usecases.in_kernel import score

CHECKS = '''
from autograder.checking.framework import CheckFailure, CheckSet

checks = CheckSet("toy")


@checks.value("double", weight=2)
def doubles(student, reference, rng):
    """It doubles."""
    if student.call("double", 4).value == 42:
        raise ZeroDivisionError("a fault of ours")
    if student.call("double", 4).value != 8:
        raise CheckFailure("It does not double.", hint="Twice!", detail="hidden 4")


@checks.contract("double", weight=1)
def refuses_text(student, reference, rng):
    """It refuses text."""
    if student.call("double", "a").value is not None:
        raise CheckFailure("It takes text.")
'''


@pytest.fixture
def kernel(toy_course: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., float]:
    """Score a function as the hidden region of a test cell does, where nbgrader runs notebooks."""
    (toy_course / "autograder" / "assignments" / "toy" / "checks.py").write_text(CHECKS)
    folder = toy_course / "autograded" / "ada" / "toy"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)

    def run(double: object, exercise: str = "double", assignment: str = "toy") -> float:
        return score(assignment, exercise, {"double": double})

    return run


def right(x: object) -> object:
    return 2 * x if isinstance(x, int) else None


def test_a_right_function_earns_all_points_without_a_word(
    kernel: Callable[..., float], capsys: pytest.CaptureFixture[str]
) -> None:
    assert 3.0 == kernel(right)
    assert ("", "") == capsys.readouterr()


def test_points_are_given_in_part_and_what_failed_is_printed(
    kernel: Callable[..., float], capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2.0 == kernel(lambda x: 2 * x)
    told = "refuses_text: It takes text.\n  Hint: What is asked for here: It refuses text.\n"
    assert (told, "") == capsys.readouterr()


def test_hints_are_printed_and_details_are_not(
    kernel: Callable[..., float], capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0.0 == kernel(lambda x: None)
    out, err = capsys.readouterr()
    assert "doubles: It does not double.\n  Hint: Twice!\n" == out
    assert "" == err


def test_what_the_function_prints_is_not_shown(
    kernel: Callable[..., float], capsys: pytest.CaptureFixture[str]
) -> None:
    def talkative(x: object) -> object:
        sys.stdout.write(f"called with {x}")
        return right(x)

    assert 3.0 == kernel(talkative)
    assert ("", "") == capsys.readouterr()


def test_a_fault_of_ours_is_raised_so_that_nobody_takes_it_for_a_score(
    kernel: Callable[..., float],
) -> None:
    with pytest.raises(JudgeError, match="A check of double failed by a fault of its own"):
        kernel(lambda x: 42)


def test_names_that_do_not_exist_are_refused(kernel: Callable[..., float]) -> None:
    with pytest.raises(CourseError, match="Assignment 'toy' has no exercise 'triple'"):
        kernel(right, "triple")
    with pytest.raises(CourseError, match="There is no assignment 'toi'"):
        kernel(right, "double", "toi")


def test_outside_of_any_course_the_kits_own_is_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert 0.0 == score("multihead", "merge_heads", {})
    assert "values: The notebook does not define merge_heads." in capsys.readouterr().out
