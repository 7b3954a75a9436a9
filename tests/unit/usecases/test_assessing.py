"""The rules under which a right answer may enter a student's process, and what diagnosis may cost."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from autograder.assignments.catalog import KIT, Assignment, load_assignment
from autograder.errors import CourseError
from autograder.model import Verdict
from autograder.sandbox.examination import Budget
from autograder.usecases.assessing import Assessed, Assessor
from autograder.usecases.local_run import LocalFork, LocalRun, notebook_of

DIRECT = """
def split_heads(x, heads):
    B, T, C = x.shape
    return x.reshape(B, heads, T, C // heads)
"""
HALVED = """
def multihead(x, params, heads, allowed):
    x = x if x.dtype.kind == "f" else x.astype(float)
    q, k, v = (split_heads(x @ params[name], heads) for name in ("wq", "wk", "wv"))
    out, inner = attention(q / 2, k, v, allowed)
    joined = merge_heads(out)
    return joined @ params["wo"], {"x": x, "heads": heads, "attention": inner, "joined": joined}
"""
WITHOUT_K = """
def multihead_backward(cache, params, dy):
    x, J = cache["x"], cache["joined"]
    inner = attention_backward(cache["attention"], split_heads(dy @ params["wo"].T, cache["heads"]))
    dq, dk, dv = (merge_heads(inner[name]) for name in "qkv")
    outer = lambda a, b: np.einsum("bti,btj->ij", a, b)
    grads = {"wq": outer(x, dq), "wk": outer(x, dk), "wv": outer(x, dv), "wo": outer(J, dy)}
    return dq @ params["wq"].T + dv @ params["wv"].T, grads
"""


class Watched(LocalFork):
    """Notes what it is asked, and the arrays that it is given."""

    def __init__(self, run: "WatchedRun", exercise: str, namespace: Any):
        super().__init__(namespace, call_seconds=2)
        self._run = run
        self.exercise = exercise
        self.arrays: set[bytes] = set()

    def call(self, function: str, /, *args: Any, **kwargs: Any) -> Any:
        self._run.log.append(("call", self.exercise))
        self.arrays |= arrays_in((args, kwargs))
        return super().call(function, *args, **kwargs)

    def install(self, name: str, source: str, *, keep: Sequence[str] = ()) -> None:
        self._run.log.append(("install", self.exercise))
        self._run.installed.append((name, source))
        super().install(name, source, keep=keep)


class WatchedRun(LocalRun):
    """Hands out forks that note what they are asked."""

    def __init__(self, exercises: Sequence[str], make: Callable[[], dict[str, object]]):
        super().__init__(exercises, make)
        self.log: list[tuple[str, str]] = []
        self.installed: list[tuple[str, str]] = []
        self.forks: list[Watched] = []

    def examine(self, exercise: str, budget: Budget) -> Watched:
        self.log.append(("fork", exercise))
        self.forks.append(Watched(self, exercise, self._make()))
        return self.forks[-1]


def arrays_in(value: Any) -> set[bytes]:
    """The bytes of all arrays of many random floats in an argument."""
    if isinstance(value, np.ndarray):
        drawn = value.dtype.kind == "f" and value.size > 8 and np.any(value != np.round(value))
        return {value.tobytes()} if drawn else set()
    if isinstance(value, dict):
        return set().union(*map(arrays_in, value.values()))
    if isinstance(value, tuple | list):
        return set().union(*map(arrays_in, value))
    return set()


@pytest.fixture(scope="module")
def assignment() -> Assignment:
    return load_assignment(KIT.parent, "multihead")


@pytest.fixture(scope="module")
def assessor(assignment: Assignment) -> Assessor:
    return Assessor(assignment, b"secret")


def assess(assessor: Assessor, *cells: str, life: int = 0) -> tuple[WatchedRun, Assessed]:
    names = [one.name for one in assessor.assignment.exercises]
    make = partial(notebook_of, assessor.assignment.reference, "\n".join(cells))
    run = WatchedRun(names, make)
    return run, assessor.assess("student", assessor.assignment.exercises, run, life)


def points(assessed: Assessed) -> list[float | None]:
    return [one.score for one in assessed.exercises]


def test_a_right_submission_costs_one_fork_an_exercise_and_nothing_more(assessor: Assessor) -> None:
    run, assessed = assess(assessor)
    assert [3, 2, 6, 9] == points(assessed)
    forks = [exercise for what, exercise in run.log if what == "fork"]
    assert [one.name for one in assessor.assignment.exercises] == forks
    assert [] == run.installed


def test_a_right_answer_enters_only_when_every_exercise_has_been_examined(assessor: Assessor) -> None:
    run, assessed = assess(assessor, DIRECT, HALVED, WITHOUT_K)
    assert [0, 2, 0] == points(assessed)[:3]
    first_install = run.log.index(next(one for one in run.log if one[0] == "install"))
    examined = [exercise for what, exercise in run.log[:first_install] if what == "fork"]
    names = [one.name for one in assessor.assignment.exercises]
    assert [*names, "multihead"] == examined
    assert {"split_heads"} == {name for name, _ in run.installed}
    assert all('"""' not in source and "jaxtyping" not in source for _, source in run.installed)


def test_the_exercise_itself_is_never_answered_in_its_own_forks(assessor: Assessor) -> None:
    run, _ = assess(assessor, DIRECT, HALVED, WITHOUT_K)
    assert {("install", "multihead"), ("install", "multihead_backward")} == {
        one for one in run.log if one[0] == "install"
    }


def test_no_two_forks_are_given_the_same_hidden_inputs(assessor: Assessor) -> None:
    run, _ = assess(assessor, DIRECT, HALVED, WITHOUT_K)
    visible: set[bytes] = set()
    for exercise in assessor.assignment.exercises:
        (check, *_) = assessor.checks.of(exercise.name)
        fork = Watched(run, exercise.name, notebook_of(assessor.assignment.reference, ""))
        check.function(fork, assessor.assignment.reference, np.random.default_rng())
        visible |= fork.arrays
    seen: set[bytes] = set()
    for fork in run.forks:
        hidden = fork.arrays - visible
        assert not hidden & seen
        seen |= hidden
    assert len(seen) > 100


def test_a_worker_that_was_lost_has_seen_its_inputs_for_the_last_time(assessor: Assessor) -> None:
    first, _ = assess(assessor, HALVED)
    again, _ = assess(assessor, HALVED)
    second, _ = assess(assessor, HALVED, life=1)
    one, other = (set().union(*(fork.arrays for fork in run.forks)) for run in (first, second))
    assert len(one - other) > 100
    assert one == set().union(*(fork.arrays for fork in again.forks))


def test_points_and_messages_say_what_was_judged_with_right_helpers(assessor: Assessor) -> None:
    _, assessed = assess(assessor, DIRECT)
    assert [0, 2, 6, 9] == points(assessed)
    rows = {one.name: one.checks[-1] for one in assessed.exercises}
    row = rows["multihead"]
    assert ("end_to_end", Verdict.FAILED, 0.0, 0.0) == (row.name, row.verdict, row.points, row.max_points)
    assert row.message == (
        "multihead is right by itself; it fails only because split_heads is wrong. It has its points all the "
        "same: it was judged with a right one in place of your split_heads."
    )
    assert row.hint == "Mend split_heads, and it all fits together."
    assert "end_to_end" not in {one.name for one in assessed.exercises[0].checks}


@pytest.mark.parametrize(
    "cell", ["def multihead(x, params, heads, allowed):\n    raise NotImplementedError", "del multihead"]
)
def test_of_a_function_that_is_not_written_nobody_says_how_it_fits_the_others(
    assessor: Assessor, cell: str
) -> None:
    _, assessed = assess(assessor, cell)
    assert [3, 2, 0, 9] == points(assessed)
    names = [one.checks[-1].name for one in assessed.exercises[2:]]
    assert "end_to_end" != names[0]
    assert "end_to_end" == names[1]


def test_an_exercise_that_was_not_reached_is_not_followed_through(assessor: Assessor) -> None:
    exercises = assessor.assignment.exercises
    make = partial(notebook_of, assessor.assignment.reference, DIRECT)
    run = WatchedRun([one.name for one in exercises[:2]], make)
    assessed = assessor.assess("student", exercises, run)
    assert [0, 2, 0, 0] == points(assessed)
    assert [] == run.installed
    assert {"timed_out"} == {one.verdict for one in assessed.exercises[2].checks}


def test_where_diagnosis_breaks_down_the_grade_stands_and_the_instructor_is_told(
    assignment: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    assessor = Assessor(assignment, b"secret")

    def broken(*_: Any) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(assessor.diagnoser, "diagnose", broken)
    _, assessed = assess(assessor, DIRECT)
    assert [0, 2, 6, 9] == points(assessed)
    assert "a fault of ours" in str(assessed.fault)
    assert not any(check.diagnosis for one in assessed.exercises for check in one.checks)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"helpers": ("nothing",)}, "'nothing' is no exercise"),
        ({"cache_of": "one_key", "keys": ("x",)}, "'one_key' is no exercise"),
        ({"helpers": ("multihead_backward",)}, "would answer multihead_backward, too"),
    ],
)
def test_what_cannot_follow_through_is_the_courses_fault(
    assignment: Assignment, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], fault: str
) -> None:
    monkeypatch.setattr(assignment.checks, "following", {})
    assignment.checks.follow_through("multihead_backward", **change)
    with pytest.raises(CourseError, match=fault):
        Assessor(assignment, b"secret")
