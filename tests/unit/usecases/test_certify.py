"""Certifying a tiny course, in processes of their own as well as in this one."""

import json
import os
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.assignments.catalog import load_assignment
from autograder.cli.main import main
from autograder.model import Verdict
from autograder.reporting.certificate import Certificate, certificate_to_json
from autograder.usecases import certifying
from autograder.usecases.certify import certify, plan_of
from autograder.usecases.certifying import Bench, Plan, set_up, try_seeds
from autograder.usecases.ledger import Ledger

CHECKS = '''
import numpy as np

from autograder.checking.compare import expect_array
from autograder.checking.framework import CheckSet

checks = CheckSet("toy")


@checks.value("double", weight=2)
def doubles(student, reference, rng):
    """It doubles."""
    x = rng.standard_normal(3)
    expect_array(student.call("double", x).value, reference.double(x), "y", ("n",))


@checks.contract("double", weight=1)
def whole(student, reference, rng):
    """It doubles whole numbers."""
    x = rng.integers(3, 9, 3)
    expect_array(student.call("double", x).value, reference.double(x), "y", ("n",))


@checks.contract("double", weight=0)
def idle(student, reference, rng):
    """It exists."""
    student.call("double", np.ones(1))
'''
MISTAKES = '''
import numpy as np

from autograder.checking.mistakes import MistakeSet

mistakes = MistakeSet("double")


@mistakes.add(hint="Try 3.", seen="courses")
def squared(right, x):
    """Doubling is squaring."""
    return x * x


@mistakes.add(hint="Try 1.", seen="courses")
def floored(right, x):
    """Whole numbers are halved afterwards."""
    return right.double(x) if x.dtype.kind == "f" else x
'''
SURVIVOR = '''

@mistakes.add(hint="Try a negative number.", seen="courses")
def right_by_chance(right, x):
    """The double of the size is enough."""
    return right.double(x)
'''


@pytest.fixture
def course(toy_course: Path) -> Path:
    """The toy course with two known mistakes and one right variant."""
    hidden = toy_course / "autograder/assignments/toy"
    (hidden / "checks.py").write_text(CHECKS)
    for name, text in (
        ("mistakes/double.py", MISTAKES),
        ("variants/added.py", '"""A sum."""\n\n\ndef double(x):\n    return x + x\n'),
    ):
        (hidden / name).parent.mkdir()
        (hidden / name).write_text(text)
    return toy_course


@pytest.fixture
def tried(course: Path) -> Callable[[Plan], Certificate]:
    """A certificate that was computed in this process."""

    def run(plan: Plan) -> Certificate:
        assignment = load_assignment(course, "toy")
        bench, ledger = Bench(assignment, plan), Ledger(assignment, plan)
        for seed in range(plan.seeds):
            for sitting in bench.sittings(seed):
                ledger.enter(sitting)
        return ledger.certificate(processes=1, wall_seconds=1.0)

    return run


def add_to(course: Path, name: str, text: str) -> None:
    path = course / "autograder/assignments/toy" / name
    path.write_text((path.read_text() if path.exists() else "") + textwrap.dedent(text))


def test_kills_are_counted_by_check(tried: Callable[[Plan], Certificate]) -> None:
    certificate = tried(Plan(6, 6))
    assert certificate.holds
    (exercise,) = certificate.exercises
    assert [
        ("doubles", ("squared",), ()),
        ("whole", ("squared", "floored"), ("floored",)),
        ("idle", (), ()),
    ] == [(check.name, check.kills, check.alone) for check in exercise.checks]
    squared, floored = exercise.mistakes
    assert ({"doubles": 6, "whole": 6}, {"whole": 6}) == (squared.killed_by, floored.killed_by)
    assert (6, 6, ()) == (floored.seeds, floored.complete_seeds, floored.survived)


def test_margins_tell_right_from_wrong(tried: Callable[[Plan], Certificate]) -> None:
    certificate = tried(Plan(6, 6))
    doubles, whole, idle = certificate.exercises[0].checks
    assert doubles.right_margin == 0.0
    assert doubles.wrong_margin is not None
    assert doubles.wrong_margin > 1e6
    assert (whole.right_margin, whole.wrong_margin) == (None, None)
    assert (idle.right_margin, idle.wrong_margin) == (None, None)
    squared, floored = certificate.exercises[0].mistakes
    assert (squared.margin, floored.margin) == (None, None)  # the clearest error is that of whole numbers
    assert [("reference", 0.0), ("added", 0.0)] == [(one.name, one.margin) for one in certificate.right]


def test_after_the_complete_seeds_mistakes_are_tried_until_they_are_found(
    course: Path, tried: Callable[[Plan], Certificate]
) -> None:
    bench = Bench(load_assignment(course, "toy"), Plan(8, 2, 4))
    marks = [
        [(sitting.candidate, len(sitting.marks)) for sitting in bench.sittings(seed)] for seed in (1, 4, 5)
    ]
    assert [("reference", 3), ("added", 3), ("squared", 3), ("floored", 3)] == marks[0]
    assert [("reference", 3), ("added", 3), ("squared", 1), ("floored", 1)] == marks[1]
    assert [("reference", 3), ("squared", 1), ("floored", 1)] == marks[2]
    certificate = tried(Plan(8, 2, 4))
    squared, _ = certificate.exercises[0].mistakes
    assert (8, 2, {"doubles": 2, "whole": 2}) == (squared.seeds, squared.complete_seeds, squared.killed_by)
    assert [8, 3] == [one.seeds for one in certificate.right]


def test_a_mistake_that_earns_all_points_survives(course: Path, tried: Callable[[Plan], Certificate]) -> None:
    add_to(course, "mistakes/double.py", SURVIVOR)
    certificate = tried(Plan(5, 2))
    assert not certificate.holds
    assert [("double", "right_by_chance", (0, 1, 2, 3, 4))] == [
        (exercise, one.id, one.survived) for exercise, one in certificate.survivors
    ]


def test_a_mistake_that_loses_no_points_survives_though_a_check_fails(
    course: Path, tried: Callable[[Plan], Certificate]
) -> None:
    add_to(
        course,
        "mistakes/double.py",
        '''

        @mistakes.add(hint="Try one number.", seen="courses")
        def lonely(right, x):
            """There are three numbers, always."""
            return right.double(x) if len(x) == 3 else x[2]
        ''',
    )
    certificate = tried(Plan(3, 1))
    assert [("double", "lonely", (0, 1, 2))] == [
        (e, one.id, one.survived) for e, one in certificate.survivors
    ]


def test_a_right_solution_that_fails_is_named(course: Path, tried: Callable[[Plan], Certificate]) -> None:
    add_to(course, "variants/strict.py", "def double(x):\n    return 2.0 * x if x[0] > 0 else [1]\n")
    certificate = tried(Plan(4, 4))
    assert not certificate.holds
    assert {("strict", "double", "doubles", "malformed_answer")} == {
        (fault.candidate, fault.exercise, fault.check, fault.verdict) for fault in certificate.false_failures
    }
    assert certificate.false_failures[0].message.startswith("y must be a plain NumPy array")


def test_a_check_that_breaks_down_kills_nothing(course: Path, tried: Callable[[Plan], Certificate]) -> None:
    add_to(
        course,
        "checks.py",
        '''

        @checks.contract("double", weight=1)
        def broken(student, reference, rng):
            """It breaks down."""
            assert student.call("double", np.full(1, 3.0)).value == 6.0
        ''',
    )
    certificate = tried(Plan(2, 1))
    assert not certificate.holds
    assert {("squared", "broken", "judge_error")} == {
        (one.candidate, one.check, one.verdict) for one in certificate.breakdowns
    }
    assert "AssertionError" in certificate.breakdowns[0].message
    assert () == certificate.exercises[0].checks[-1].kills


def test_what_is_slow_is_tried_on_the_first_seeds_alone(
    course: Path, tried: Callable[[Plan], Certificate]
) -> None:
    add_to(course, "variants/patient.py", "SLOW = True\n\n\ndef double(x):\n    return 2 * x\n")
    certificate = tried(Plan(5, 5, slow=2))
    assert {"reference": 5, "added": 5, "patient": 2} == {one.name: one.seeds for one in certificate.right}


def test_processes_bring_the_same_certificate(course: Path, tried: Callable[[Plan], Certificate]) -> None:
    here = tried(Plan(7, 3))
    steps: list[tuple[int, int]] = []
    threads = os.environ.get("OPENBLAS_NUM_THREADS")
    there = certify(
        load_assignment(course, "toy"),
        Plan(7, 3),
        processes=2,
        progress=lambda done, total: steps.append((done, total)),
    )
    assert (here.exercises[0].mistakes, here.false_failures) == (
        there.exercises[0].mistakes,
        there.false_failures,
    )
    assert [one.kills for one in here.exercises[0].checks] == [one.kills for one in there.exercises[0].checks]
    assert (7, 7) == steps[-1]
    assert sorted(steps) == steps
    assert threads == os.environ.get("OPENBLAS_NUM_THREADS")


def test_a_process_must_be_set_up(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certifying, "_bench", None)
    with pytest.raises(RuntimeError, match="set_up"):
        try_seeds([0])
    set_up(course, "toy", Plan(2, 2))
    assert 8 == len(try_seeds([0, 1]))


def test_the_plan_leaves_out_what_costs_most() -> None:
    assert Plan(1000, 10, 25, 2) == plan_of(1000)
    assert Plan(5, 5, 25, 1) == plan_of(5)
    assert Plan(1000, 1000, 25, 2) == plan_of(1000, complete=True)


def test_a_certificate_as_json_has_every_number(tried: Callable[[Plan], Certificate]) -> None:
    data: dict[str, Any] = json.loads(certificate_to_json(tried(Plan(2, 2))))
    assert (1, True, "toy", 2) == (data["format_version"], data["holds"], data["assignment"], data["seeds"])
    assert ["doubles", "whole", "idle"] == [check["name"] for check in data["exercises"][0]["checks"]]
    assert {"doubles": 2, "whole": 2} == data["exercises"][0]["mistakes"][0]["killed_by"]


def test_the_command_says_so_and_stores_it(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", "toy", "--seeds", "3", "--jobs", "1", "--course", str(course)]) == 0
    shown = capsys.readouterr().out
    assert "toy: certified on 3 seeds." in shown
    assert "double.idle" in shown
    assert max(map(len, shown.splitlines()[:-1])) <= 80
    stored = course / ".autograder/toy"
    assert json.loads((stored / "certificate.json").read_text())["holds"] is True
    assert "<h1" in (stored / "certificate.html").read_text()


def test_the_command_answers_1_where_the_certificate_does_not_hold(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_to(course, "mistakes/double.py", SURVIVOR)
    words = ["--seeds", "2", "--jobs", "1", "--course", str(course), "--page", str(tmp_path / "page.html")]
    assert main(["certify", "toy", "--json", "-", *words]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["holds"] is False
    assert "right_by_chance" in (tmp_path / "page.html").read_text()
    assert not (course / ".autograder").exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--seeds", "0"], "'0' is no number of 1 or more"),
        (["--jobs", "two"], "'two' is no number of 1 or more"),
        (
            ["--page", "/no/such/folder/page.html", "--json", "-"],
            "cannot be written to /no/such",
        ),
    ],
)
def test_wrong_use_gets_exit_code_2(
    course: Path, capsys: pytest.CaptureFixture[str], words: list[str], complaint: str
) -> None:
    assert main(["certify", "toy", "--course", str(course), "--seeds", "1", "--jobs", "1", *words]) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("mistakes/double.py", "mistakes = 3\n", "must define `mistakes = MistakeSet('double')`"),
        ("variants/empty.py", "", "does not define 'double'"),
        ("variants/broken.py", "def (", "cannot be loaded"),
    ],
)
def test_candidates_that_cannot_be_used_are_the_courses_fault(
    course: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, complaint: str
) -> None:
    (course / "autograder/assignments/toy" / name).write_text(text)
    assert main(["certify", "toy", "--course", str(course), "--seeds", "1"]) == 2
    assert complaint in capsys.readouterr().err


def test_verdicts_that_kill_are_those_that_cost_points(course: Path) -> None:
    bench = Bench(load_assignment(course, "toy"), Plan(1, 1))
    right = [sitting for sitting in bench.sittings(0) if sitting.is_right]
    assert all(sitting.full_marks for sitting in right)
    assert {Verdict.PASSED} == {mark.verdict for sitting in right for mark in sitting.marks}


def test_a_process_that_is_lost_is_told_as_such(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add_to(course, "variants/deadly.py", "import os\n\n\ndef double(x):\n    os._exit(1)\n")
    assert main(["certify", "toy", "--course", str(course), "--seeds", "2", "--jobs", "1"]) == 4
    assert "A process that tried the checks was lost." in capsys.readouterr().err


def test_nothing_forks(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise AssertionError

    monkeypatch.setattr(os, "fork", refuse)
    assert certify(load_assignment(course, "toy"), Plan(2, 2), processes=2).holds
