"""Follow-through between the five functions, and what is seen of mistakes that nobody has made before."""

from collections.abc import Callable
from typing import Any

import pytest

ATTENTION = """
def attention(q, k, v, allowed):
    q, k, v = (a if a.dtype.kind == "f" else a.astype(float) for a in (q, k, v))
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if not np.broadcast_to(allowed, s.shape).any(axis=-1).all():
        raise ValueError
    s = np.where(allowed, s, -np.inf)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    p = p / p.sum(axis=-1, keepdims=True)
    return p @ v, {"q": q, "k": k, "v": v, "weights": p}
"""
ATTENTION_BACKWARD = """
def attention_backward(cache, dout):
    q, k, v, p = (cache[name] for name in ("q", "k", "v", "weights"))
    dp = dout @ v.swapaxes(-1, -2)
    ds = p * (dp - (p * dp).sum(axis=-1, keepdims=True)) / np.sqrt(q.shape[-1])
    return {"q": ds @ k, "k": ds.swapaxes(-1, -2) @ q, "v": p.swapaxes(-1, -2) @ dout}
"""
LAYER = """
def weighted_attention(x, params, allowed):
    x = x if x.dtype.kind == "f" else x.astype(float)
    out, inner = attention(x @ params["wq"], x @ params["wk"], x @ params["wv"], allowed)
    return out @ params["wo"], {"x": x, "attention": inner, "out": out}
"""
LAYER_BACKWARD = """
def weighted_attention_backward(cache, params, dy):
    x = cache["x"]
    d = attention_backward(cache["attention"], dy @ params["wo"].T)
    outer = lambda a, b: np.einsum("bti,btj->ij", a, b)
    grads = {"wq": outer(x, d["q"]), "wk": outer(x, d["k"]), "wv": outer(x, d["v"])}
    grads["wo"] = outer(cache["out"], dy)
    dx = d["q"] @ params["wq"].T + d["k"] @ params["wk"].T + d["v"] @ params["wv"].T
    return dx, grads
"""
CELLS = (ATTENTION, ATTENTION_BACKWARD, LAYER, LAYER_BACKWARD)
UNSCALED = (" / np.sqrt(q.shape[-1])\n    if", "\n    if")


@pytest.fixture(scope="module")
def assessing(assessing_of: Callable[[str], Any]) -> Any:
    return assessing_of("weighted_attention")


def test_a_right_notebook_has_all_points(assessing: Any) -> None:
    results = assessing.notebook(*CELLS)
    assert assessing.scores(results) == [2, 6, 6, 4, 6]
    assert {} == assessing.said(results)


def test_a_wrong_attention_costs_its_own_points_only(assessing: Any) -> None:
    results = assessing.notebook(assessing.changed(ATTENTION, *UNSCALED), *CELLS[1:])
    assert {"attention": ["no_scale"]} == assessing.said(results)
    assert assessing.scores(results)[2:] == [6, 4, 6]
    assert results["attention"].score < 1
    for name in ("attention_backward", "weighted_attention"):
        assert "fails only because attention is wrong" in assessing.end_to_end(results, name)


def test_a_wrong_backward_pass_of_attention_leaves_the_layer_its_points(assessing: Any) -> None:
    wrong = assessing.changed(ATTENTION_BACKWARD, "p * (dp - (p * dp).sum(axis=-1, keepdims=True))", "p * dp")
    results = assessing.notebook(ATTENTION, wrong, *CELLS[2:])
    assert {"attention_backward": ["softmax_sum_missing"]} == assessing.said(results)
    assert assessing.scores(results)[3:] == [4, 6]
    message = assessing.end_to_end(results, "weighted_attention_backward")
    assert "fails only because attention_backward is wrong" in message


def test_a_wrong_layer_leaves_its_backward_pass_its_points(assessing: Any) -> None:
    wrong = assessing.changed(LAYER, 'x @ params["wk"]', 'x @ params["wq"]')
    results = assessing.notebook(*CELLS[:2], wrong, LAYER_BACKWARD)
    assert {"weighted_attention": ["keys_by_wq"]} == assessing.said(results)
    assert assessing.scores(results)[4:] == [6]


def test_without_attention_the_others_have_their_points(assessing: Any) -> None:
    missing = "def attention(q, k, v, allowed):\n    raise NotImplementedError\n"
    results = assessing.notebook(missing, *CELLS[1:])
    assert assessing.scores(results) == [2, 0, 6, 4, 6]


def test_a_backward_pass_that_fits_its_own_wrong_attention_is_told_so(assessing: Any) -> None:
    backward = assessing.changed(ATTENTION_BACKWARD, " / np.sqrt(q.shape[-1])", "")
    results = assessing.notebook(assessing.changed(ATTENTION, *UNSCALED), backward, LAYER, LAYER_BACKWARD)
    message = "attention_backward fits your own attention; it is attention that is wrong."
    assert message == assessing.end_to_end(results, "attention_backward")


#: What a student's line becomes, and what is seen of it.
SEEN = {
    (ATTENTION, "np.sqrt(q.shape[-1])", "np.sqrt(4 * q.shape[-1])"): (
        "if all scores are 1/2 times as large as they should be."
    ),
    (
        ATTENTION,
        "return p @ v",
        "return p @ (0 * v + np.arange(v.shape[-2])[:, None])",
    ): "stays the same, whatever v is.",
    (ATTENTION, "np.where(allowed, s,", "np.where(allowed | np.eye(*s.shape[-2:], dtype=bool), s,"): (
        "wrong under a mask."
    ),
    (ATTENTION_BACKWARD, '"v": p.swapaxes(-1, -2) @ dout', '"v": 2 * p.swapaxes(-1, -2) @ dout'): (
        'the gradient "v" is 2 times the right one.'
    ),
    (
        ATTENTION_BACKWARD,
        '"q": ds @ k',
        '"q": np.tanh(ds @ k)',
    ): "q is wrong, k and v are right.",
    (
        LAYER,
        'out @ params["wo"]',
        '-out @ params["wo"]',
    ): "is the right one times -1",
    (LAYER_BACKWARD, 'd["v"] @', '3 * d["v"] @'): "the route through V comes 3 times.",
}


@pytest.mark.parametrize(("change", "sentence"), SEEN.items(), ids=[new for _, _, new in SEEN])
def test_what_nobody_has_made_before_is_described(
    assessing: Any, change: tuple[str, str, str], sentence: str
) -> None:
    assert sentence in assessing.seen(CELLS, change)
