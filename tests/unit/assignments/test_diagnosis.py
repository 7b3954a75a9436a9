"""Known mistakes and right variants of each assignment, through all that a submission goes through."""

from collections.abc import Callable
from typing import Any

import pytest

from autograder.assignments.candidates import Variant, known_mistakes, right_variants
from autograder.assignments.catalog import KIT, gradable_names, load_assignment
from autograder.checking.mistakes import Mistake

ASSIGNMENTS = {name: load_assignment(KIT.parent, name) for name in gradable_names(KIT.parent)}
MISTAKES = [
    (name, one)
    for name, assignment in ASSIGNMENTS.items()
    for known in known_mistakes(assignment).values()
    for one in known.forms()
    if not one.slow
]
VARIANTS = [(name, one) for name, assignment in ASSIGNMENTS.items() for one in right_variants(assignment)]
AssessingOf = Callable[[str], Any]


@pytest.mark.parametrize(
    ("assignment", "mistake"), MISTAKES, ids=[f"{name}-{one.exercise}-{one.name}" for name, one in MISTAKES]
)
def test_every_known_mistake_is_named_and_no_other(
    assessing_of: AssessingOf, assignment: str, mistake: Mistake
) -> None:
    assessing = assessing_of(assignment)
    found = assessing.said(assessing.results(lambda: mistake.namespace(assessing.assignment.reference)))
    expected = {mistake.exercise: [mistake.id]}
    for companion in mistake.companions:  # it may be wrong, too
        expected |= {companion: found[companion]} if companion in found else {}
    assert expected == found


@pytest.mark.parametrize(
    ("assignment", "variant"), VARIANTS, ids=[f"{name}-{one.name}" for name, one in VARIANTS]
)
def test_no_right_solution_is_diagnosed(assessing_of: AssessingOf, assignment: str, variant: Variant) -> None:
    assessing = assessing_of(assignment)
    results = assessing.results(lambda: dict(vars(variant.module)))
    assert {} == assessing.said(results)
    for one in results.values():
        assert one.score == pytest.approx(one.max_score)
    rows = [check for one in results.values() for check in one.checks if check.name == "end_to_end"]
    assert rows
    assert all("works together with your own" in row.message for row in rows)
