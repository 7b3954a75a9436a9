"""Right answers in a student's fork, and diagnosis, through real processes and sockets."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autograder.assignments.catalog import KIT, Assignment, load_assignment
from autograder.assignments.multihead.demo import RIGHT
from autograder.checking.follow_through import RightCache
from autograder.checking.student import StudentMissing, StudentRaised
from autograder.model import ExerciseResult, Verdict
from autograder.notebooks.reading import read_notebook
from autograder.sandbox.launcher import PlainLauncher
from autograder.usecases.judging import Judge

pytestmark = pytest.mark.functional

Bench = Any  # tests/conftest.py
Judged = dict[str, ExerciseResult]

CELL = """
import numpy as np

def helper(x):
    return x - 1

def caller(x):
    return helper(x) * 10

def forward(x):
    return 0, {"x": -1, "inner": {"w": np.zeros(2)}, "mine": 5}

def show(cache):
    return sorted(cache), cache["x"], cache["inner"]["w"]

class Cache:
    def __getitem__(self, key):
        return 3
"""


class Reference:
    """What ``RightCache`` needs of a reference."""

    @staticmethod
    def forward(x: float) -> Any:
        return x + 1, {"x": x, "inner": {"w": np.array([x, x])}}


def test_a_right_function_takes_the_place_of_the_students_in_one_fork_alone(bench: Bench) -> None:
    fork = bench.examine(CELL)
    assert 20 == fork.call("caller", 3).value
    fork.install("helper", "def helper(x):\n    return np.abs(x)")
    assert 30 == fork.call("caller", -3).value
    assert 3.0 == fork.call("helper", -3.0).value
    fork.close()
    assert 20 == bench.examine(CELL).call("caller", 3).value


def test_a_function_that_the_student_never_wrote_can_be_installed(bench: Bench) -> None:
    fork = bench.examine("def caller(x):\n    return helper(x)")
    with pytest.raises(StudentMissing):
        fork.call("helper", 3)
    with pytest.raises(StudentRaised):
        fork.call("caller", 3)
    fork.install("helper", "def helper(x):\n    return x")
    assert 3 == fork.call("caller", 3).value


def test_what_is_installed_keeps_its_own_np(bench: Bench) -> None:
    fork = bench.examine("np = None\nTypeError = None\n\ndef caller(x):\n    return helper(x)")
    fork.install("helper", "def helper(x):\n    return np.asarray(x) + isinstance(x, int)")
    assert 4 == fork.call("caller", 3).value


def test_a_right_cache_is_laid_over_the_students(bench: Bench) -> None:
    student = RightCache(bench.examine(CELL), Reference, "forward", ("x", "inner"))  # type: ignore[arg-type]
    y, cache = student.call("forward", 3.0).value
    assert 4.0 == y
    keys, x, w = student.call("show", cache).value
    assert (3.0, [3.0, 3.0]) == (x, w.tolist())
    assert ["inner", "mine", "x"] == keys.fetch()


def test_an_object_that_takes_no_items_is_replaced_as_a_whole(bench: Bench) -> None:
    cell = f"{CELL}\ndef forward(x):\n    return 0, Cache()"
    student = RightCache(bench.examine(cell), Reference, "forward", ("x", "inner"))  # type: ignore[arg-type]
    _, cache = student.call("forward", 3.0).value
    keys, x, _ = student.call("show", cache).value
    assert (["inner", "x"], 3.0) == (keys.fetch(), x)
    assert {"x", "inner"} == set(cache.fetch())


@pytest.fixture(scope="module")
def judge() -> Iterator[Callable[..., Judged]]:
    """Judges notebooks that are right but for some cells."""
    assignment: Assignment = load_assignment(KIT.parent, "multihead")
    released = (KIT.parent / "assignments" / "multihead" / "multihead.ipynb").read_text(encoding="utf-8")
    with Judge(assignment, b"secret", PlainLauncher) as judge:

        def judged(**changed: str) -> Judged:
            notebook = json.loads(released)
            for cell in notebook["cells"]:
                grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
                cell["source"] = (RIGHT | changed).get(grade_id, cell["source"])
            submission = read_notebook(json.dumps(notebook).encode())
            result = judge.judge("student", submission, assignment.notebooks[0])
            assert result.fault is None
            return {one.name: one for one in result.exercises}

        yield judged


def points(judged: Judged) -> list[float | None]:
    return [one.score for one in judged.values()]


def diagnoses(judged: Judged) -> dict[str, list[str]]:
    found = {
        name: [check.diagnosis.id for check in one.checks if check.diagnosis] for name, one in judged.items()
    }
    return {name: ids for name, ids in found.items() if ids}


def last(judged: Judged, exercise: str) -> str:
    row = judged[exercise].checks[-1]
    assert "end_to_end" == row.name
    return row.message


DIRECT = RIGHT["split_heads"].replace(
    "x.reshape(B, T, heads, C // heads).transpose(0, 2, 1, 3)", "x.reshape(B, heads, T, C // heads)"
)
SCALED = RIGHT["multihead"].replace("attention(q,", "attention(q / np.sqrt(heads),")
MISSING_ROUTE = RIGHT["multihead_backward"].replace(
    "for name, part in parts.items())\n    return",
    'for name, part in parts.items() if name != "wk")\n    return',
)


def test_a_right_notebook_has_nothing_said_of_it(judge: Callable[..., Judged]) -> None:
    judged = judge()
    assert [3, 2, 6, 9] == points(judged)
    assert {} == diagnoses(judged)
    assert "multihead works together with your own split_heads and merge_heads." == last(judged, "multihead")


def test_a_direct_reshape_costs_the_points_of_split_heads(judge: Callable[..., Judged]) -> None:
    judged = judge(split_heads=DIRECT)
    assert [0, 2, 6, 9] == points(judged)
    assert {"split_heads": ["direct_reshape"]} == diagnoses(judged)
    assert "it fails only because split_heads is wrong" in last(judged, "multihead")
    assert "it fails only because split_heads is wrong" in last(judged, "multihead_backward")


def test_a_wrong_scale_is_named_and_a_missing_route_beside_it(judge: Callable[..., Judged]) -> None:
    judged = judge(multihead=SCALED, multihead_backward=MISSING_ROUTE)
    expected = {"multihead": ["scale_d_model"], "multihead_backward": ["key_route_missing"]}
    assert expected == diagnoses(judged)


@pytest.mark.parametrize(
    "multihead",
    [
        "def multihead(x, params, heads, allowed)\n    return x",
        "def multihead(x, params, heads, allowed):\n    raise NotImplementedError",
        "def multihead(x, params, heads, allowed):\n    return x",
        "def multihead(x, params, heads, allowed):\n    import os\n    os._exit(1)",
    ],
    ids=["syntax error", "unwritten", "no cache", "crash"],
)
def test_a_right_backward_pass_has_its_points_whatever_is_wrong_before_it(
    judge: Callable[..., Judged], multihead: str
) -> None:
    judged = judge(multihead=multihead)
    assert [3, 2, 0, 9] == points(judged)
    assert "fails only because multihead is wrong" in last(judged, "multihead_backward")


def test_helpers_that_break_the_process_are_replaced_too(judge: Callable[..., Judged]) -> None:
    judged = judge(merge_heads="def merge_heads(h):\n    import os\n    os.kill(os.getpid(), 11)")
    assert [3, 0, 6, 9] == points(judged)
    assert {Verdict.CRASHED} == {one.verdict for one in judged["merge_heads"].checks}


def test_a_wrong_helper_that_hides_in_the_cell_itself_is_nobody_elses_fault(
    judge: Callable[..., Judged],
) -> None:
    inside = DIRECT.replace("def split_heads", "def my_split")
    forward = f"{inside}\n{RIGHT['multihead'].replace('split_heads(', 'my_split(')}"
    judged = judge(split_heads=DIRECT, multihead=forward)
    assert 0 == judged["multihead"].score
    expected = "multihead is wrong with your own split_heads, and with a right one, too."
    assert expected == last(judged, "multihead")
