"""Pairs of mistakes and new ones, through all that a submission goes through."""

from collections.abc import Callable, Sequence
from functools import cache, partial

import pytest

from autograder.assignments.catalog import KIT, load_assignment
from autograder.model import Diagnosis, ExerciseResult, Verdict
from autograder.usecases.assessing import Assessor
from autograder.usecases.local_run import LocalRun, notebook_of

ASSIGNMENT = load_assignment(KIT.parent, "multihead")
EXERCISES = tuple(one.name for one in ASSIGNMENT.exercises)
SEEDS = range(2)


@cache
def assessor(seed: int) -> Assessor:
    return Assessor(ASSIGNMENT, b"seed %d" % seed)


def assess(
    make: Callable[[], dict[str, object]], seed: int, only: Sequence[str] = EXERCISES
) -> dict[str, ExerciseResult]:
    """The results of functions that ``make`` makes anew for every fork."""
    exercises = [one for one in ASSIGNMENT.exercises if one.name in only]
    assessed = assessor(seed).assess("student", exercises, LocalRun(only, make, call_seconds=2))
    assert assessed.fault is None
    return {one.name: one for one in assessed.exercises}


def said(result: ExerciseResult) -> list[Diagnosis]:
    return [check.diagnosis for check in result.checks if check.diagnosis is not None]


def ids(results: dict[str, ExerciseResult]) -> dict[str, list[str]]:
    """The ids of what was said, by exercise."""
    named = {name: [one.id for one in said(result)] for name, result in results.items()}
    return {name: found for name, found in named.items() if found}


def notebook(*cells: str) -> Callable[[], dict[str, object]]:
    """A notebook with the reference's functions, but for those in these cells."""
    return partial(notebook_of, ASSIGNMENT.reference, "\n\n".join(cells))


def end_to_end(results: dict[str, ExerciseResult], exercise: str) -> str:
    (row,) = (one for one in results[exercise].checks if one.name == "end_to_end")
    return row.message


SPLIT = """
def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError
    if x.ndim != 3 or heads < 1 or x.shape[2] % heads:
        raise ValueError
    B, T, C = x.shape
    d = C // heads
    return RETURNED
"""
DIRECT = SPLIT.replace("RETURNED", "x.reshape(B, heads, T, d)")
INTERLEAVED = SPLIT.replace("RETURNED", "x.reshape(B, T, d, heads).transpose(0, 3, 1, 2)")
MERGE = """
def merge_heads(h):
    if h.ndim != 4:
        raise ValueError
    B, H, T, d = h.shape
    return RETURNED
"""
INTERLEAVED_BACK = MERGE.replace("RETURNED", "h.transpose(0, 2, 3, 1).reshape(B, T, H * d)")
FORWARD = """
def multihead(x, params, heads, allowed):
    x = x if x.dtype.kind == "f" else x.astype(float)
    q, k, v = (split_heads(x @ params[name], heads) for name in ("wq", "wk", "wv"))
    out, inner = attention(q, k, v, allowed)
    J = merge_heads(out)
    y = J @ params["wo"]
    return y, {"x": x, "heads": heads, "attention": inner, "joined": J}
"""
SCALED = FORWARD.replace("attention(q,", "attention(q / np.sqrt(heads),")
OWN_FORWARD = """
def multihead(x, params, heads, allowed):
    x = x if x.dtype.kind == "f" else x.astype(float)
    B, T, C = x.shape
    q, k, v = (split_heads(x @ params[name], heads) for name in ("wq", "wk", "wv"))
    scores = np.where(allowed, q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3]), -1e300)
    P = np.exp(scores - scores.max(-1, keepdims=True))
    P = P / P.sum(-1, keepdims=True)
    J = merge_heads(P @ v)
    return J @ params["wo"], {"x": x, "heads": heads, "attention": (q, k, v, P), "joined": J}
"""
BACKWARD = """
def multihead_backward(cache, params, dy):
    x, J = cache["x"], cache["joined"]
    B, T, C = x.shape
    inner = attention_backward(cache["attention"], split_heads(dy @ params["wo"].T, cache["heads"]))
    dq, dk, dv = (merge_heads(inner[name]) for name in "qkv")
    outer = lambda a, b: np.einsum("bti,btj->ij", a, b)
    grads = {"wq": outer(x, dq), "wk": outer(x, dk), "wv": outer(x, dv), "wo": outer(J, dy)}
    dx = dq @ params["wq"].T + dk @ params["wk"].T + dv @ params["wv"].T
    return dx, grads
"""
OWN_BACKWARD = BACKWARD.replace(
    'inner = attention_backward(cache["attention"], split_heads(dy @ params["wo"].T, cache["heads"]))',
    """q, k, v, P = cache["attention"]
    dO = split_heads(dy @ params["wo"].T, cache["heads"])
    dP = dO @ v.swapaxes(2, 3)
    dS = P * (dP - (dP * P).sum(-1, keepdims=True)) / np.sqrt(q.shape[3])
    inner = {"q": dS @ k, "k": dS.swapaxes(2, 3) @ q, "v": P.swapaxes(2, 3) @ dO}""",
)
KEYS_FORGOTTEN = (' + dk @ params["wk"].T', "")
BY_C = ("np.sqrt(q.shape[3])", "np.sqrt(C)")


def test_one_wrong_helper_costs_its_own_points_only() -> None:
    results = assess(notebook(DIRECT, FORWARD, BACKWARD), 0)
    assert {"split_heads": ["direct_reshape"]} == ids(results)
    assert [0, 2, 6, 9] == [one.score for one in results.values()]
    for name in ("multihead", "multihead_backward"):
        message = end_to_end(results, name)
        assert message.startswith(f"{name} is right by itself; it fails only because split_heads is wrong.")


def test_split_and_merge_that_undo_each_other_wrongly_are_both_found() -> None:
    results = assess(notebook(INTERLEAVED, INTERLEAVED_BACK, FORWARD, BACKWARD), 0)
    assert {"split_heads": ["interleaved"], "merge_heads": ["interleaved"]} == ids(results)
    assert [0, 0, 6, 9] == [one.score for one in results.values()]
    assert "only because split_heads and merge_heads are wrong" in end_to_end(results, "multihead")


def test_a_wrong_forward_pass_leaves_the_backward_pass_its_points() -> None:
    results = assess(notebook(SCALED, BACKWARD), 0)
    assert {"multihead": ["scale_d_model"]} == ids(results)
    assert [3, 2, 0, 9] == [one.score for one in results.values()]
    assert "fails only because multihead is wrong" in end_to_end(results, "multihead_backward")
    assert "cannot be the reason" in end_to_end(results, "multihead")


@pytest.mark.parametrize("forward", ["", "def multihead(x, params, heads, allowed):\n    return x.nothing\n"])
def test_without_any_forward_pass_the_backward_pass_has_its_points(forward: str) -> None:
    def make() -> dict[str, object]:
        namespace = notebook(forward, BACKWARD)()
        if not forward:
            del namespace["multihead"]
        return namespace

    results = assess(make, 0)
    assert [3, 2, 0, 9] == [one.score for one in results.values()]


def test_mistakes_in_three_functions_are_all_named() -> None:
    results = assess(notebook(DIRECT, SCALED, BACKWARD.replace(*KEYS_FORGOTTEN)), 0)
    expected = {
        "split_heads": ["direct_reshape"],
        "multihead": ["scale_d_model"],
        "multihead_backward": ["key_route_missing"],
    }
    assert expected == ids(results)


def test_a_backward_pass_that_fits_its_own_wrong_forward_pass_is_told_so() -> None:
    results = assess(notebook(OWN_FORWARD.replace(*BY_C), OWN_BACKWARD.replace(*BY_C)), 0)
    assert ["scale_d_model"] == ids(results)["multihead"]
    message = "multihead_backward fits your own multihead; it is multihead that is wrong."
    assert message == end_to_end(results, "multihead_backward")


def test_a_route_that_is_missing_is_found_beside_a_wrong_scale_in_both_passes() -> None:
    backward = OWN_BACKWARD.replace(*BY_C).replace(*KEYS_FORGOTTEN)
    results = assess(notebook(OWN_FORWARD.replace(*BY_C), backward), 0)
    assert ["observed_own_routes"] == ids(results)["multihead_backward"]
    (seen,) = said(results["multihead_backward"])
    assert (
        "fits your own multihead, which is wrong itself, except for dx: the route through K is missing."
        in seen.message
    )


def test_where_the_students_cache_cannot_be_made_right_nothing_is_guessed() -> None:
    results = assess(notebook(OWN_FORWARD.replace(*BY_C), OWN_BACKWARD), 0)
    assert {"multihead": ["scale_d_model"]} == ids(results)


#: What a student's line becomes, and what is seen of it.
SEEN = {
    ("y = J @", "y = -J @"): "joined, as far as y shows it, is the right one times -1.",
    ("merge_heads(out)", "merge_heads(out[:, ::-1])"): "but backward along the axis heads.",
    ("attention(q,", "attention(q / 2,"): "if all scores are 1/2 times as large as they should be.",
    ("attention(q,", "attention(q * heads,"): "if all scores are H times as large as they should be.",
    ("attention(q,", "attention(q / q.shape[3] ** 0.25,"): None,
    ("allowed)\n    J", "allowed | (np.arange(len(allowed)) == 0))\n    J"): "wrong under a mask.",
    ("k, v, allowed)", "k, v * (np.arange(len(x)) == 0)[:, None, None, None], allowed)"): (
        "right at the first place and wrong at all others."
    ),
    ("k, v, allowed)", "k, q, allowed)"): 'y stays the same, whatever params["wv"] is.',
    ("merge_heads(out)", "merge_heads(np.broadcast_to(out.sum(1, keepdims=True), out.shape))"): (
        "all heads bring the same numbers."
    ),
    ("x = x if", "x = x.astype(np.float32).astype(float) if"): "when the thirteenth digit of x changes.",
    ("x.astype(float)", "x.astype(float) / 2"): "right for floats and wrong for integers.",
}


@pytest.mark.parametrize(("change", "sentence"), SEEN.items())
def test_what_nobody_has_made_before_is_described(change: tuple[str, str], sentence: str | None) -> None:
    cell = FORWARD.replace(*change)
    assert cell != FORWARD
    for seed in SEEDS:
        found = said(assess(notebook(cell), seed, ["multihead"])["multihead"])
        assert all(one.id.startswith("observed_") for one in found)
        assert (sentence is None and not found) or any(str(sentence) in one.message for one in found)


SEEN_BACKWARD = {
    ("return dx", "return -dx"): "dx is -1 times the right one.",
    ("dv @", "2 * dv @"): "the route through V comes 2 times.",
    ("dq @", "dq / B @"): "the route through Q comes 1/B times.",
    (
        'dk @ params["wk"].T',
        'dk @ params["wk"]',
    ): "the route through K takes wk as it is where it must be transposed.",
    ('"wk": outer(x, dk)', '"wk": outer(dk, x)'): 'grads["wk"] is the right one, transposed.',
    ('"wq": outer(x, dq)', '"wq": outer(x, dk)'): 'grads["wq"] is what grads["wk"] should be.',
    ('"wv": outer(x, dv)', '"wv": outer(x, dv) / T'): 'grads["wv"] is 1/T times the right one.',
    ('"wq": outer(x, dq)', '"wq": 0 * outer(x, dq)'): 'grads["wq"] is zero.',
    (
        '"wv": outer(x, dv)',
        '"wv": outer(x[:, -1:], dv[:, -1:])',
    ): "summed over the last of the time steps only.",
    (
        '"wo": outer(J, dy)',
        '"wo": outer(J[1:], dy[1:])',
    ): "summed over all sequences of the batch but the first.",
    ("outer = lambda", "dv = dv[:, ::-1]; outer = lambda"): "dx and wv are wrong, wq, wk and wo are right.",
    ("outer = lambda", "dk = np.tanh(dk); outer = lambda"): "dx and wk are wrong, wq, wv and wo are right.",
}


@pytest.mark.parametrize(("change", "sentence"), SEEN_BACKWARD.items())
def test_gradients_that_nobody_has_made_before_are_described(change: tuple[str, str], sentence: str) -> None:
    cell = BACKWARD.replace(*change)
    assert cell != BACKWARD
    for seed in SEEDS:
        found = said(assess(notebook(cell), seed, ["multihead_backward"])["multihead_backward"])
        assert any(sentence in one.message for one in found), found


def test_parameters_that_outlive_a_call_are_seen() -> None:
    cell = "kept = []\n" + FORWARD.replace("x = x if", "kept.append(params['wo']); x = x if")
    cell = cell.replace('params["wo"]', "kept[0]")
    found = said(assess(notebook(cell), 0, ["multihead"])["multihead"])
    assert ["observed_state"] == [one.id for one in found]
    assert "the first call after a fresh start is right, a later one is wrong" in found[0].message


def test_sums_that_outlive_a_call_are_seen_though_they_concern_calls_of_one_shape_only() -> None:
    cell = BACKWARD.replace("return dx", "dx = sums[dx.shape] = sums.get(dx.shape, 0) + dx\n    return dx")
    found = said(assess(notebook("sums = {}\n" + cell), 0, ["multihead_backward"])["multihead_backward"])
    assert ["observed_state"] == [one.id for one in found]


def test_nothing_said_names_a_hidden_number() -> None:
    cells = [FORWARD.replace(*change) for change in SEEN] + [
        BACKWARD.replace(*change) for change in SEEN_BACKWARD
    ]
    for cell in cells:
        for result in assess(notebook(cell), 0).values():
            for check in result.checks:
                texts = [check.message, check.hint or ""] if check.name != "visible" else []
                texts += [check.diagnosis.message, check.diagnosis.hint] if check.diagnosis else []
                assert not any(
                    "." in word.strip(".") and word[0].isdigit() for text in texts for word in text.split()
                )


def test_an_unwritten_notebook_is_not_diagnosed() -> None:
    stubs = "".join(f"def {name}(*arguments):\n    raise NotImplementedError\n" for name in EXERCISES)
    results = assess(notebook(stubs), 0)
    assert {} == ids(results)
    assert {0} == {one.score for one in results.values()}
    assert all(check.verdict is not Verdict.JUDGE_ERROR for one in results.values() for check in one.checks)
