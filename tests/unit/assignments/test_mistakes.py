"""Each known mistake loses points in the checks that ``ASSIGNMENT/lost_points.txt`` names, and in no other.

A line holds checks, then mistakes. A question mark: it depends on the numbers drawn.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.assignments.candidates import known_mistakes
from autograder.assignments.catalog import KIT, gradable_names, load_assignment
from autograder.checking.mistakes import Mistake
from autograder.model import Verdict

#: Of each assignment, how many mistakes there are at least, and how many seeds they are tried on.
LEAST = {"multihead": 130, "weighted_attention": 160, "gpt": 115, "torch_multihead": 90}
SEEDS = {"multihead": 3, "weighted_attention": 2, "gpt": 2, "torch_multihead": 2}
#: Checks of values that a backward pass by small steps must pass.
RIGHT_BY_SMALL_STEPS = {
    ("multihead", "multihead_backward"): ["dx", "dwq", "dwo"],
    ("weighted_attention", "attention_backward"): ["dq", "dk", "dv"],
    ("weighted_attention", "weighted_attention_backward"): ["dx", "dwq", "dwo"],
}
Key = tuple[str, str, str]


def rows(assignment: str) -> Iterator[tuple[Key, list[str]]]:
    """Assignment, exercise and name of each mistake in the table, with the checks that it fails."""
    text = (Path(__file__).with_name(assignment) / "lost_points.txt").read_text(encoding="utf-8")
    for exercise, table in re.findall(r"^\[(\w+)\]\n((?:[^\[\n].*\n|\n)*)", text, re.MULTILINE):
        for checks, names in re.findall(r"^(\S.*?):((?:.|\n )*)$", table, re.MULTILINE):
            yield from (((assignment, exercise, name), checks.split()) for name in names.split())


ALL = {
    (name, one.exercise, one.name): one
    for name in gradable_names(KIT.parent)
    for mistakes in known_mistakes(load_assignment(KIT.parent, name)).values()
    for one in mistakes.forms()
}
QUICK = [key for key, one in ALL.items() if not one.slow]
EXPECTED = {name: list(rows(name)) for name in LEAST if name in gradable_names(KIT.parent)}


@pytest.mark.parametrize("assignment", list(EXPECTED))
def test_the_table_has_each_mistake_once(assignment: str) -> None:
    keys = [key for key, _ in EXPECTED[assignment]]
    assert {key for key in QUICK if key[0] == assignment} == set(keys)
    assert len(keys) == len(set(keys)) >= LEAST[assignment]


@pytest.mark.parametrize("key", QUICK, ids="-".join)
def test_a_mistake_loses_points_where_it_should_and_nowhere_else(
    grading_of: Callable[[str], Any], key: Key
) -> None:
    grading, mistake = grading_of(key[0]), ALL[key]
    expected = dict(EXPECTED[key[0]])
    assert key in expected, f"name {key[2]} in {key[0]}/lost_points.txt, behind the checks that it fails"
    names = expected[key]
    must = {name for name in names if not name.startswith("?")}
    may = {name.removeprefix("?") for name in names}
    for seed in range(SEEDS[key[0]]):
        result = grading.exercise(mistake.exercise, mistake.namespace(grading.reference), seed)
        lost = grading.lost(result)
        assert lost
        assert must <= lost <= may
        assert result.score is not None
        assert result.score < result.max_score


@pytest.mark.parametrize(("assignment", "exercise"), list(RIGHT_BY_SMALL_STEPS))
def test_derivatives_by_small_steps_are_right_but_fail_by_their_cost(
    grading_of: Callable[[str], Any], assignment: str, exercise: str
) -> None:
    grading, checks = grading_of(assignment), RIGHT_BY_SMALL_STEPS[assignment, exercise]
    namespace = ALL[assignment, exercise, "numerical"].namespace(grading.reference)
    assert grading.lost(grading.exercise(exercise, namespace, only=checks)) == set()
    cost = grading.exercise(exercise, namespace, only=[checks[0], "cost"], call_seconds=0.5)
    assert [check.verdict for check in cost.checks] == [Verdict.PASSED, Verdict.TIMED_OUT]
    assert "If it differentiates numerically, that is why" in cost.checks[1].message
    assert "Write the gradients as formulas" in str(cost.checks[1].hint)


def is_well_told(mistake: Mistake) -> bool:
    """Whether belief and hint are sentences, and it is said where it was seen."""
    source = mistake.seen == "courses" or "#" in mistake.seen
    return mistake.belief.endswith(".") and mistake.hint.endswith((".", "?")) and source


def test_beliefs_and_hints_are_sentences_and_no_belief_is_told_twice() -> None:
    assert [] == [key for key, one in ALL.items() if not is_well_told(one)]
    beliefs = {(*key[:2], one.belief) for key, one in ALL.items()}
    assert len({(*key[:2], one.id) for key, one in ALL.items()}) == len(beliefs)
