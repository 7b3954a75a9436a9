"""What students read of ten notebooks, word for word: to be read, and reworded here where it is not clear."""

from collections.abc import Callable
from functools import partial

import pytest

from autograder.assignments.catalog import KIT, load_assignment
from autograder.model import ExerciseResult, Verdict
from autograder.usecases.assessing import Assessor
from autograder.usecases.local_run import LocalRun, notebook_of

ASSIGNMENT = load_assignment(KIT.parent, "multihead")
CELL = """
def split_heads(x, heads):
    if type(heads) is not int and not isinstance(heads, np.integer):
        raise TypeError
    if x.ndim != 3 or heads < 1 or x.shape[2] % heads:
        raise ValueError
    B, T, C = x.shape
    return x.reshape(B, T, heads, C // heads).transpose(0, 2, 1, 3)

def multihead(x, params, heads, allowed):
    x = x if x.dtype.kind == "f" else x.astype(float)
    q, k, v = (split_heads(x @ params[name], heads) for name in ("wq", "wk", "wv"))
    scores = np.where(allowed, q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3]), -1e300)
    P = np.exp(scores - scores.max(-1, keepdims=True))
    P = P / P.sum(-1, keepdims=True)
    J = merge_heads(P @ v)
    return J @ params["wo"], {"x": x, "heads": heads, "attention": (q, k, v, P), "joined": J}

def multihead_backward(cache, params, dy):
    x, J = cache["x"], cache["joined"]
    q, k, v, P = cache["attention"]
    dO = split_heads(dy @ params["wo"].T, cache["heads"])
    dP = dO @ v.swapaxes(2, 3)
    dS = P * (dP - (dP * P).sum(-1, keepdims=True)) / np.sqrt(q.shape[3])
    dq, dk, dv = map(merge_heads, (dS @ k, dS.swapaxes(2, 3) @ q, P.swapaxes(2, 3) @ dO))
    outer = lambda a, b: np.einsum("bti,btj->ij", a, b)
    grads = {"wq": outer(x, dq), "wk": outer(x, dk), "wv": outer(x, dv), "wo": outer(J, dy)}
    dx = dq @ params["wq"].T + dk @ params["wk"].T + dv @ params["wv"].T
    return dx, grads
"""
BY_RESHAPE = ("reshape(B, T, heads, C // heads).transpose(0, 2, 1, 3)", "reshape(B, heads, T, C // heads)")
BY_C = ("np.sqrt(q.shape[3])", "np.sqrt(x.shape[2])")
NO_KEYS = (' + dk @ params["wk"].T', "")

#: What is changed in ``CELL``, the exercise, and what is said there besides the words of failed comparisons:
#: a text and its hint, parted by one line; more than one of them by two.
TEXTS: dict[str, tuple[list[tuple[str, str]], str, str]] = {
    "a known mistake": (
        [BY_RESHAPE],
        "split_heads",
        """
Your answers are exactly those of a known mistake, made by those who believe: “One reshape straight to
(B, H, T, d) puts every number where it belongs, because the shape is right.” | Write down a 2 by 4
table and read it row by row: in which order do its numbers come?
""",
    ),
    "follow-through": (
        [BY_RESHAPE],
        "multihead",
        """
multihead is right by itself; it fails only because split_heads is wrong. It has its points all the
same: it was judged with a right one in place of your split_heads. | Mend split_heads, and it all fits
together.
""",
    ),
    "wrong beside something else that is wrong": (
        [BY_RESHAPE, BY_C],
        "multihead",
        """
Your answers are exactly those of a known mistake, made by those who believe: “The scores are divided by
the square root of d_model, the width of the layer.” | How many products are added up in one score of
one head? || multihead is wrong with your own split_heads, and with a right one, too.
""",
    ),
    "a backward pass that fits a wrong forward pass": (
        [BY_C],
        "multihead_backward",
        """
Your answers are exactly those of a known mistake, made by those who believe: “The square root of
d_model is right in both passes, since differences of the one confirm the other.” | Small steps show
that the two passes fit each other: who says that the forward pass is right? || multihead_backward fits
your own multihead; it is multihead that is wrong. | Mend multihead first, and then multihead_backward
in the same way.
""",
    ),
    "a pair of mistakes": (
        [BY_C, NO_KEYS],
        "multihead_backward",
        """
Seen on every input tried: multihead_backward fits your own multihead, which is wrong itself, except for
dx: the route through K is missing. | Mend multihead first. x is used three times: what comes back
through each of the three, and how often is it added? || multihead_backward was judged with a right one
in place of your multihead, which earns more points; but it is not right by itself, either.
""",
    ),
    "what nobody made before": (
        [("dv @", "2 * dv @")],
        "multihead_backward",
        """
Seen on every input tried: dx is made of the routes through Q, K and V, but the route through V comes 2
times. | x is used three times: what comes back through each of the three, and how often is it added? ||
multihead_backward is wrong by itself: your own split_heads, merge_heads and multihead cannot be the
reason.
""",
    ),
    "integers": (
        [("x.astype(float)\n", "x.astype(float) / 2\n")],
        "multihead",
        """
y has the right shape but wrong numbers. | What is asked for here: Integers are computed in float64,
float32 comes out right, and heads may be a NumPy integer. || Seen on every input tried: the numbers are
right for floats and wrong for integers. | Which of your arrays takes over the dtype of an integer one?
|| multihead is wrong by itself: your own split_heads and merge_heads cannot be the reason.
""",
    ),
    "a time-out": (
        [("    J = merge_heads(P @ v)", "    while x.shape[2] == 8: pass\n    J = merge_heads(P @ v)")],
        "multihead",
        """
multihead did not end in time. | Is there a loop that never ends, or one far too long?
""",
    ),
    "a memory": (
        [
            ("def multihead(", "kept = []\ndef multihead("),
            ('@ params["wo"], {', "@ kept[0], {"),
            ("    J = merge", "    kept.append(params['wo'])\n    J = merge"),
        ],
        "multihead",
        """
Seen on every input tried: the first call after a fresh start is right, a later one is wrong. | What of
the first call is still there in the second: a global variable, a default argument, an array?
""",
    ),
    "a cache without a key": (
        [('"joined": J}', '"J": J}')],
        "multihead",
        """
cache has no key "joined". | What is asked for here: The cache holds x, heads, the attention's own cache
and joined, each under its name.
""",
    ),
}


def assessed(make: Callable[[], dict[str, object]]) -> dict[str, ExerciseResult]:
    run = LocalRun([one.name for one in ASSIGNMENT.exercises], make, call_seconds=0.1)
    found = Assessor(ASSIGNMENT, b"texts").assess("student", ASSIGNMENT.exercises, run)
    assert found.fault is None
    return {one.name: one for one in found.exercises}


def told(result: ExerciseResult) -> list[str]:
    """All that is said of what failed, each with its hint."""
    said: list[tuple[str, str | None]] = []
    for check in result.checks:
        if check.verdict is not Verdict.PASSED:
            said.append((check.message, check.hint))
        if check.diagnosis is not None:
            said.append((check.diagnosis.message, check.diagnosis.hint))
    return [text if hint is None else f"{text} | {hint}" for text, hint in said]


@pytest.mark.parametrize("name", TEXTS)
def test_what_a_student_reads(name: str) -> None:
    changes, exercise, texts = TEXTS[name]
    cell = CELL
    for change in changes:
        assert change[0] in cell
        cell = cell.replace(*change)
    lines = told(assessed(partial(notebook_of, ASSIGNMENT.reference, cell))[exercise])
    for text in " ".join(texts.split()).split(" || "):
        assert text in lines
