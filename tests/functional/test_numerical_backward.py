"""A backward pass that differentiates numerically is as exact as a right one: its cost alone gives it away.

With the limits that hold by default. The nasty ones put many forward passes into one call of NumPy.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from autograder.assignments.catalog import KIT, load_assignment
from autograder.assignments.multihead import demo
from autograder.model import CheckResult, Limits, Verdict
from autograder.notebooks.reading import read_notebook
from autograder.sandbox.launcher import PlainLauncher
from autograder.usecases.judging import Judge

pytestmark = [pytest.mark.functional, pytest.mark.slow]

MULTIHEAD = load_assignment(KIT.parent, "multihead")
FORWARD = demo.FORWARD.replace('"joined": joined}', '"joined": joined, "allowed": allowed}').replace(
    'x.dtype.kind == "f"', 'x.dtype.kind in "fc"'
)
ONE_BY_ONE = """
def multihead_backward(cache, params, dy):
    def loss(x, params):
        y, _ = multihead(x, params, cache["heads"], cache["allowed"])
        return np.sum(y.imag * dy) / 1e-30

    def derivative(values, call):
        gradient = np.zeros(values.shape)
        for index in np.ndindex(values.shape):
            moved = values.astype(complex)
            moved[index] += 1e-30j
            gradient[index] = call(moved)
        return gradient

    x = cache["x"]
    grads = {n: derivative(params[n], lambda w: loss(x, {**params, n: w})) for n in params}
    return derivative(x, lambda moved: loss(moved, params)), grads
"""
#: The perturbed matrices are a batch of their own: x @ w then has a batch of results for each sequence.
STACKED = """
def multihead_backward(cache, params, dy):
    x, heads, allowed = cache["x"], cache["heads"], cache["allowed"]
    B, T, C = x.shape

    def losses(x, params, dy):
        y, _ = multihead(x, params, heads, allowed)
        return np.sum(y.imag * dy, axis=(1, 2)) / 1e-30

    grads = {name: np.zeros(C * C) for name in params}
    dx = np.zeros(x.shape)
    for b in range(B):
        moved = np.repeat(x[b : b + 1].astype(complex), T * C, axis=0)
        moved.reshape(T * C, -1)[range(T * C), range(T * C)] += 1e-30j
        dx[b] = losses(moved, params, dy[b]).reshape(T, C)
        for name in params:
            for start in range(0, C * C, CHUNK):
                which = np.arange(start, min(start + CHUNK, C * C))
                w = np.repeat(params[name][None].astype(complex), len(which), axis=0)
                w.reshape(len(which), -1)[range(len(which)), which] += 1e-30j
                grads[name][which] += losses(x[b : b + 1], {**params, name: w}, dy[b])
    return dx, {name: grad.reshape(C, C) for name, grad in grads.items()}
"""
#: Only what a parameter changes is changed: one column of Q, K or V; the outer products come in one batch.
COLUMNS = """
def multihead_backward(cache, params, dy):
    x, heads, allowed = cache["x"], cache["heads"], cache["allowed"]
    B, T, C = x.shape

    def losses(q, k, v, dy):
        def split(a):
            return a.reshape(-1, T, heads, C // heads).transpose(0, 2, 1, 3)

        out, _ = attention(split(q), split(k), split(v), allowed)
        y = out.transpose(0, 2, 1, 3).reshape(-1, T, C) @ params["wo"]
        return np.sum(y.imag * dy, axis=(1, 2)) / 1e-30

    parts = [x @ params[name] for name in ("wq", "wk", "wv")]
    deltas, grads = [np.zeros(x.shape) for _ in parts], {name: np.zeros((C, C)) for name in params}
    for b in range(B):
        for number, name in enumerate(("wq", "wk", "wv")):
            for i in range(C):
                own = [np.repeat(part[b : b + 1].astype(complex), C, axis=0) for part in parts]
                own[number][range(C), :, range(C)] += 1e-30j * x[b, :, i]
                grads[name][i] += losses(*own, dy[b])
            own = [np.repeat(part[b : b + 1].astype(complex), T * C, axis=0) for part in parts]
            own[number].reshape(T * C, -1)[range(T * C), range(T * C)] += 1e-30j
            deltas[number][b] = losses(*own, dy[b]).reshape(T, C)
    grads["wo"] = np.einsum("bti,btj->ij", cache["joined"], dy)
    dx = sum(delta @ params[name].T for delta, name in zip(deltas, ("wq", "wk", "wv")))
    return dx, grads
"""


@pytest.fixture(scope="module")
def judged(notebooks: Any) -> Iterator[Callable[[str], dict[str, CheckResult]]]:
    """The checks of ``multihead_backward``, by name, for a backward pass of one's own."""
    assert Limits() == MULTIHEAD.limits
    with Judge(MULTIHEAD, b"numerical", PlainLauncher) as judge:

        def run(backward: str) -> dict[str, CheckResult]:
            cells = {**demo.RIGHT, "multihead": FORWARD, "multihead_backward": backward}
            submission = read_notebook(json.dumps(notebooks.filled(cells)).encode())
            results = judge.judge("ada", submission, MULTIHEAD.notebooks[0]).exercises
            return {
                check.name: check
                for one in results
                if one.name == "multihead_backward"
                for check in one.checks
            }

        yield run


@pytest.mark.parametrize(
    ("backward", "verdict"),
    [
        (ONE_BY_ONE, Verdict.TIMED_OUT),
        (STACKED.replace("CHUNK", "64"), Verdict.TIMED_OUT),
        (STACKED.replace("CHUNK", "C * C"), Verdict.MEMORY_EXCEEDED),
        (COLUMNS, Verdict.TIMED_OUT),
    ],
    ids=["one by one", "stacked", "in one piece", "columns"],
)
def test_differentiating_numerically_fails_by_its_cost_and_is_told_why(
    judged: Callable[[str], Any], backward: str, verdict: Verdict
) -> None:
    checks = judged(backward)
    lost = [name for name, check in checks.items() if check.verdict is not Verdict.PASSED]
    assert ["cost"] == lost
    assert verdict is checks["cost"].verdict
    assert "If it differentiates numerically, that is why" in checks["cost"].message
    assert "Write the gradients as formulas" in str(checks["cost"].hint)
