"""Right classes in a student's fork, through real processes and sockets: the lab on heads."""

from collections.abc import Callable
from typing import Any

import pytest

from autograder.model import ExerciseResult
from autograder.sandbox.launcher import PlainLauncher

pytestmark = pytest.mark.functional

JudgeCells = Callable[..., dict[str, ExerciseResult]]

STRICT = ("np.tri(x.shape[-1], dtype=bool)", "np.tri(x.shape[-1], k=-1, dtype=bool)")
SCALED = ("math.sqrt(q.shape[-1])", "math.sqrt(x.shape[-1])")


@pytest.fixture(scope="module")
def judge(solved_lab: Any) -> JudgeCells:
    """Judges the lesson's own solution with changes (tests/conftest.py)."""
    lab = solved_lab("gpt", PlainLauncher)
    return lambda *changes, **added: {one.name: one for one in lab.judged(*changes, **added).exercises}


def points(judged: dict[str, ExerciseResult]) -> list[float | None]:
    return [one.score for one in judged.values()]


def last(judged: dict[str, ExerciseResult], exercise: str) -> str:
    row = judged[exercise].checks[-1]
    assert "end_to_end" == row.name
    return row.message


def named(judged: dict[str, ExerciseResult]) -> list[str]:
    return [check.diagnosis.id for one in judged.values() for check in one.checks if check.diagnosis]


def test_the_lessons_own_solution_has_all_points(judge: JudgeCells) -> None:
    judged = judge()
    assert [4, 12, 4] == points(judged)
    assert [] == named(judged)


def test_a_wrong_mask_and_a_wrong_layer_cost_their_own_points(judge: JudgeCells) -> None:
    judged = judge(STRICT, SCALED)
    assert ["diagonal_hidden", "scaled_by_all_channels"] == named(judged)
    assert 4 == judged["build_gpt"].score
    assert "fails only because CausalMask and MultiHeadAttention are wrong" in last(judged, "build_gpt")


@pytest.mark.parametrize(
    "end",
    [
        "del MultiHeadAttention",
        "MultiHeadAttention.forward = lambda self, x: __import__('os')._exit(1)",
        "MultiHeadAttention = None",
        "class MultiHeadAttention: __slots__ = ()",
    ],
    ids=["missing", "crash", "None", "empty"],
)
def test_a_model_is_judged_by_itself_whatever_the_layer_is(judge: JudgeCells, end: str) -> None:
    judged = judge(MultiHeadAttention=end)
    assert [4, 0, 4] == points(judged)
    assert "fails only because MultiHeadAttention is wrong" in last(judged, "build_gpt")


def test_a_right_class_brings_its_own_imports(judge: JudgeCells) -> None:
    judged = judge(STRICT, MultiHeadAttention="Layer = record = FORBIDDEN = None")
    assert 12 == judged["MultiHeadAttention"].score
    assert 4 == judged["build_gpt"].score
