import gc
import weakref
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from autograder.checking.framework import Check, CheckFailure, CheckSet, Comparison
from autograder.checking.likeness import alike
from autograder.checking.local import LocalStudent
from autograder.checking.runner import Outcome, run_check
from autograder.checking.slimming import GoneRemote, size_of, slim
from autograder.checking.student import Remote, Student, StudentRaised

checks = CheckSet("toy")


@checks.value("table", weight=1)
def everything(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """All kinds of answers come back, and the last one fails."""
    sent = student.send(np.zeros(1000))
    numbers, table = student.call("table", sent, np.ones(3)).value
    table.fetch()
    sent.reread()
    with pytest.raises(StudentRaised):
        student.call("refuse")
    failure = CheckFailure("It fails.")
    failure.comparison = Comparison("x", ("seq",), numbers, np.zeros(3))
    raise failure


class Held:
    """What a student's function keeps."""


def outcome() -> tuple[Check, Outcome, "weakref.ref[Held]"]:
    held = Held()

    def table(sent: Any, numbers: Any) -> Any:
        return np.arange(12.0).reshape(3, 4)[:, 1], {"deep": {"held": held}, "numbers": numbers}

    def refuse() -> None:
        local = held
        raise ValueError(local)

    [check] = checks.of("table")
    student = LocalStudent({"table": table, "refuse": refuse})
    ended = run_check(check, student, ModuleType("reference"), np.random.default_rng(0))
    return check, ended, weakref.ref(held)


def test_a_slim_outcome_keeps_no_student_alive_and_a_whole_one_does() -> None:
    _, whole, held = outcome()
    gc.collect()
    assert held() is not None
    kept = slim(whole)
    del whole
    gc.collect()
    assert kept.events
    assert held() is None


def test_a_slim_outcome_is_like_the_whole_one() -> None:
    check, whole, _ = outcome()
    _, other, _ = outcome()
    assert alike(check, whole, other)
    assert alike(check, whole, slim(other))
    assert alike(check, slim(whole), slim(other))


def test_inputs_and_the_rest_of_a_view_are_not_kept() -> None:
    _, whole, _ = outcome()
    kept = slim(whole)
    assert all(not one.args and not one.kwargs for one in kept.events)
    numbers = next(one.outcome for one in kept.events if isinstance(one.outcome, tuple))[0]
    assert numbers.base is None
    assert [1.0, 5.0, 9.0] == numbers.tolist()


def test_the_size_grows_with_what_is_kept() -> None:
    _, whole, _ = outcome()
    kept = slim(whole)
    arrays = sum(one.outcome.nbytes for one in kept.events if isinstance(one.outcome, np.ndarray))
    assert 8000 <= arrays < size_of(kept) < 2 * arrays + 10_000


def test_a_remote_object_that_is_gone_says_so() -> None:
    gone = GoneRemote("dict")
    assert isinstance(gone, Remote)
    for use in (lambda: gone["key"], lambda: gone.__setitem__("key", 1), gone.fetch):
        with pytest.raises(LookupError, match="gone"):
            use()
