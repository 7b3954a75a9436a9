from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.console import Console

from autograder.reporting.certificate import (
    Certificate,
    CheckRecord,
    ExerciseRecord,
    Fault,
    MistakeRecord,
    RightRecord,
)
from autograder.reporting.certificate_page import certificate_page
from autograder.reporting.certificate_table import certificate_table, idle_checks, multiple

FOUND = MistakeRecord(
    "squared", "Doubling is <b>squaring</b>.", "a/b#1", 9, 4, (), {"values": 4, "whole": 2}, 5e8
)
SURVIVING = replace(FOUND, id="lucky", survived=(3, 7), killed_by={}, margin=None)
VALUES = CheckRecord("values", "value", 2.0, ("squared",), ("squared",), 2e-7, 5e8, 0.001)
WHOLE = CheckRecord("whole", "contract", 1.0, ("squared",), (), None, None, 0.25)
IDLE = CheckRecord("idle", "contract", 0.0, (), (), None, None, 0.0)
FAULT = Fault("strict", "double", "values", 5, "failed", "first line\nthe <last> line")
GOOD = Certificate(
    assignment="toy",
    fingerprint="f" * 64,
    python="3.11.2",
    numpy="2.2.0",
    seeds=9,
    complete_seeds=4,
    processes=2,
    wall_seconds=1.25,
    exercises=(ExerciseRecord("double", 3.0, (VALUES, WHOLE, IDLE), (FOUND,)),),
    right=(RightRecord("reference", "The reference.", 9, 2e-7), RightRecord("added", "A sum.", 5, None)),
    false_failures=(),
    breakdowns=(),
)
BAD = replace(
    GOOD,
    exercises=(ExerciseRecord("double", 3.0, (VALUES,), (FOUND, SURVIVING)),),
    false_failures=(FAULT,) * 12,
    breakdowns=(FAULT,),
)


def on_terminal(certificate: Certificate) -> str:
    console = Console(width=80)
    with console.capture() as captured:
        console.print(certificate_table(certificate))
    return captured.get()


def test_a_certificate_that_holds_says_so_in_its_first_line() -> None:
    lines = on_terminal(GOOD).splitlines()
    assert "toy: certified on 9 seeds." == lines[0]
    assert "1 known mistakes: 0 survive." == lines[1]
    assert "2 right solutions: 0 false failures." == lines[2]
    assert "No right solution errs by more than 2e-07 of the error allowed." == lines[3]
    assert "Every mistake errs somewhere by at least 5e+08 times the error allowed." == lines[4]
    assert "It took 1.2 s in 2 processes; 4 of the seeds were tried completely." == lines[5]
    assert max(map(len, lines)) <= 80


def test_checks_that_find_nothing_are_listed() -> None:
    assert (["double.idle"], ["double.whole"]) == idle_checks(GOOD)
    text = on_terminal(GOOD)
    assert "find no known mistake; are they needed?\n  double.idle" in text
    assert "find no mistake that no other check finds:\n  double.whole" in text


def test_what_speaks_against_the_checks_is_listed_and_cut_short() -> None:
    text = on_terminal(BAD)
    assert text.startswith("toy: NOT certified on 9 seeds.")
    assert "double: lucky earns all points on seed 3, 7" in text
    assert "strict, double.values, seed 5: failed. the <last> line" in text
    assert "and 2 more, on the page" in text


@pytest.mark.parametrize("certificate", [GOOD, BAD], ids=["good", "bad"])
def test_the_page_is_harmless_and_needs_nothing_from_elsewhere(
    certificate: Certificate, dangers: Callable[[str], list[str]]
) -> None:
    page = certificate_page(certificate)
    assert [] == dangers(page)
    assert "http" not in page


def test_the_page_shows_each_check_and_each_mistake() -> None:
    page = certificate_page(GOOD)
    for text in (
        "toy: certified on 9 seeds.",
        "Doubling is &lt;b&gt;squaring&lt;/b&gt;.",
        "values, whole (2)",
        "a/b#1",
        "A sum.",
        "These find no known mistake at all",
        "On each of the others every mistake was tried until",
    ):
        assert text in page
    assert "On each of the others" not in certificate_page(replace(GOOD, complete_seeds=9))


def test_the_page_has_every_fault_in_full() -> None:
    page = certificate_page(BAD)
    assert 13 == page.count("first line\nthe &lt;last&gt; line")
    assert "<code>double.lucky</code> earns all points on the seeds 3, 7" in page


def test_multiples_are_short() -> None:
    assert ["–", "0", "0.0024", "1.3e+08"] == [multiple(one) for one in (None, 0.0, 0.00241, 1.284e8)]
