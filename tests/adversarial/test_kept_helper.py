"""Student code that gets a right helper for a moment, and tries to keep it, show it, or use it elsewhere.

A right ``split_heads`` enters the forks in which ``multihead`` and ``multihead_backward`` are judged again.
The thief's functions hand it on in every way they know; its own ``split_heads`` uses what it can find.
"""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.assignments.catalog import Assignment
from autograder.assignments.multihead.demo import RIGHT
from autograder.checking.installation import source_of
from autograder.checking.runner import Outcome, run_check
from autograder.model import ExerciseResult, Verdict
from autograder.sandbox.examination import Budget, Examination
from autograder.sandbox.session import ExamineStep
from autograder.usecases.judging import Judged

pytestmark = pytest.mark.adversarial

Bench = Any  # tests/conftest.py

FIRST = "import numpy as np\nfrom attention import attention, attention_backward"
SPLIT = """
import gc, marshal, os, sys, types

PLACES = ["stolen", "below/stolen", "attention.py"]
os.makedirs("below", exist_ok=True)

def split_heads(x, heads):
    for place in PLACES:
        try:
            with open(place, "rb") as file:
                return types.FunctionType(marshal.loads(file.read()), {"np": np})(x, heads)
        except (OSError, ValueError, EOFError, TypeError):
            pass
    return x.reshape(x.shape[0], heads, x.shape[1], x.shape[2] // heads)

def steal():
    code = globals()["split_heads"].__code__
    if "PLACES" in code.co_names:
        return
    text = " ".join(["STOLEN", *code.co_names, *map(str, code.co_consts)])
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        print(text, file=stream, flush=True)
    for descriptor in (1, 2):
        os.write(descriptor, text.encode())
    get_ipython().run_cell("print(split_heads.__code__.co_consts)")
    for place in PLACES:
        with open(place, "wb") as file:
            file.write(marshal.dumps(code))
    os.environ["STOLEN"] = text
    sys.modules["stolen"] = code
    for one in gc.get_objects():
        if isinstance(one, dict) and "STOLEN" in one:
            one["STOLEN"] = code
"""
STEALING = {
    "split_heads": SPLIT,
    "multihead": RIGHT["multihead"].replace("    q, k, v", "    steal()\n    q, k, v", 1),
    "multihead_backward": RIGHT["multihead_backward"].replace("    inner", "    steal()\n    inner", 1),
}
CELLS = {name: source for name, source in (RIGHT | STEALING).items() if name != "one_key"}


@pytest.fixture
def stolen(judge: Callable[..., Judged]) -> Callable[[], Judged]:
    """Judges the thief's notebook, again and again with one warm worker."""
    return lambda: judge(**STEALING)


def of(judged: Judged) -> dict[str, ExerciseResult]:
    return {one.name: one for one in judged.exercises}


def values(assignment: Assignment, exercise: str, name: str, fork: Examination) -> Outcome:
    """One check of an exercise in a fork."""
    (check,) = (one for one in assignment.checks.of(exercise) if one.name == name)
    return run_check(check, fork, assignment.reference, np.random.default_rng(0))


def test_control_a_helper_that_came_before_the_verdict_would_be_kept_and_used(
    bench: Bench, assignment: Assignment
) -> None:
    given = {"attention.py": (assignment.source_dir / "attention.py").read_text(encoding="utf-8")}
    steps = [ExamineStep("split_heads"), ExamineStep("multihead")]
    run = bench.run(FIRST, *CELLS.values(), *steps, files=given)

    def split() -> Verdict:
        fork = run.examine("split_heads", Budget(bench.limits))
        try:
            return values(assignment, "split_heads", "values", fork).verdict
        finally:
            fork.close()

    assert split() is Verdict.FAILED
    helped = run.examine("multihead", Budget(bench.limits))
    helped.install("split_heads", source_of(assignment.reference.split_heads))
    assert values(assignment, "multihead", "masked", helped).verdict is Verdict.PASSED
    helped.close()
    assert split() is Verdict.PASSED


def test_whoever_keeps_the_helper_gains_nothing(stolen: Callable[[], Judged]) -> None:
    for _ in range(2):
        results = of(stolen())
        assert 0 == results["split_heads"].score
        verdicts = {one.name: one.verdict for one in results["split_heads"].checks}
        assert verdicts["values"] is Verdict.FAILED
        # The theft itself took place: the right helper was there when these were judged once more.
        assert results["multihead"].max_score == results["multihead"].score
        assert "only because split_heads is wrong" in results["multihead"].checks[-1].message


def test_nothing_of_the_helper_is_ever_shown(stolen: Callable[[], Judged]) -> None:
    judged = stolen()
    shown = json.dumps([list(one) for one in judged.executed.outputs.values()])
    told = repr(judged.exercises) + repr(judged.notes)
    for text in (shown, told):
        assert "STOLEN" not in text
        assert "channels cannot be dealt out" not in text  # a sentence of the reference's
    assert "stolen" not in shown
