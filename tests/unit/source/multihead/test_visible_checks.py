"""The visible checks pass the reference and tell everybody else, in a sentence, what came out differently."""

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import layer_examples
import multihead as reference
import outcomes
import pictures
import visible_checks
import worked_examples
from autograder.checking.local import LocalStudent
from autograder.checking.student import function

NAMES = ("split_heads", "merge_heads", "multihead", "multihead_backward")
CHECKS = {
    "split_heads": ("split_heads",),
    "merge_heads": ("merge_heads",),
    "multihead": ("multihead",),
    "multihead_backward": ("multihead", "multihead_backward"),
}
RIGHT: dict[str, Callable[..., Any]] = {name: getattr(reference, name) for name in NAMES}


def direct(namespace: dict[str, Callable[..., Any]], name: str) -> Callable[..., Any]:
    return namespace[name]


def by_proxy(namespace: dict[str, Callable[..., Any]], name: str) -> Callable[..., Any]:
    """As the judge calls it: arrays are copied, everything else stays behind a window."""
    return function(LocalStudent(namespace), name)


WAYS = pytest.mark.parametrize("way", [direct, by_proxy], ids=["in the notebook", "by the judge"])
Way = Callable[[dict[str, Callable[..., Any]], str], Callable[..., Any]]


def check(exercise: str, way: Way = direct, **wrong: Callable[..., Any]) -> visible_checks.Passed:
    namespace = {**RIGHT, **wrong}
    run = getattr(visible_checks, f"check_{exercise}")
    return run(*(way(namespace, name) for name in CHECKS[exercise]))


def complaint(exercise: str, way: Way = direct, **wrong: Callable[..., Any]) -> str:
    with pytest.raises(visible_checks.CheckFailed) as caught:
        check(exercise, way, **wrong)
    return str(caught.value)


def backward(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The right gradients, then changed."""

    def multihead_backward(cache: Any, params: Any, dy: Any) -> Any:
        return change(*reference.multihead_backward(cache, params, dy))

    return multihead_backward


def direct_reshape(x: np.ndarray, heads: int) -> np.ndarray:
    batch, seq, d_model = x.shape
    return x.reshape(batch, heads, seq, d_model // heads)


def interleaved(x: np.ndarray, heads: int) -> np.ndarray:
    batch, seq, d_model = x.shape
    return x.reshape(batch, seq, d_model // heads, heads).transpose(0, 3, 1, 2)


def merge_without_swap(h: np.ndarray) -> np.ndarray:
    batch, heads, seq, d_head = h.shape
    return h.reshape(batch, seq, heads * d_head)


def without_output_projection(x: Any, params: Any, heads: Any, allowed: Any) -> Any:
    _, cache = reference.multihead(x, params, heads, allowed)
    return cache["joined"], cache


def one_head(x: Any, params: Any, heads: Any, allowed: Any) -> Any:
    return reference.multihead(x, params, 1, allowed)


def no_mask(x: Any, params: Any, heads: Any, allowed: Any) -> Any:
    return reference.multihead(x, params, heads, np.ones_like(allowed))


def cache_with(**changes: Any) -> Callable[..., Any]:
    """The right forward, with other things in the cache; None takes one out."""

    def multihead(x: Any, params: Any, heads: Any, allowed: Any) -> Any:
        y, cache = reference.multihead(x, params, heads, allowed)
        return y, {key: one for key, one in {**cache, **changes}.items() if one is not None}

    return multihead


def transposed(name: str) -> Callable[[Any, Any], Any]:
    return lambda dx, grads: (dx, {**grads, name: grads[name].T})


def exchanged(dx: Any, grads: Any) -> Any:
    return dx, {**grads, "wq": grads["wk"], "wk": grads["wq"]}


def averaged_over_the_batch(dx: Any, grads: Any) -> Any:
    return dx, {name: grad / len(dx) for name, grad in grads.items()}


def without_wk(dx: Any, grads: Any) -> Any:
    return dx, {name: grad for name, grad in grads.items() if name != "wk"}


def route(name: str) -> Callable[..., Any]:
    """What reaches dx through one projection alone."""

    def multihead_backward(cache: Any, params: Any, dy: Any) -> Any:
        _, grads = reference.multihead_backward(cache, params, dy)
        others_zero = {one: w * (one in (name, "wo")) for one, w in params.items()}
        return reference.multihead_backward(cache, others_zero, dy)[0], grads

    return multihead_backward


@WAYS
@pytest.mark.parametrize("exercise", NAMES)
def test_the_reference_passes(exercise: str, way: Way) -> None:
    passed = check(exercise, way)
    assert f"{exercise}: {passed.examples} of {passed.examples} visible checks pass." == repr(passed)


@WAYS
def test_a_direct_reshape_is_told_the_first_wrong_number(way: Way) -> None:
    assert (
        "split_heads(x, 2) with x = np.arange(8).reshape(1, 2, 4): 4 of 8 numbers are wrong, the first at "
        "[batch 0, head 0, seq 1, d_head 0] in the shape (batch=1, heads=2, seq=2, d_head=2): "
        "expected 4, got 2. Head 0 is [[0, 1], [4, 5]]."
    ) == complaint("split_heads", way, split_heads=direct_reshape)


def test_a_number_tells_where_it_was_taken_from() -> None:
    def wrong_for_three_heads(x: np.ndarray, heads: int) -> np.ndarray:
        return reference.split_heads(x, heads) if heads == 2 else interleaved(x, heads)

    text = complaint("split_heads", split_heads=wrong_for_three_heads)
    assert "the first at [batch 0, head 0, seq 0, d_head 1]" in text
    assert text.endswith("expected 1, got 3. What came is channel 3 of token 0 in sequence 0.")


def test_a_merge_without_the_swap_is_told_the_first_wrong_number() -> None:
    text = complaint("merge_heads", merge_heads=merge_without_swap)
    assert "[batch 0, seq 0, d_model 2] in the shape (batch=1, seq=2, d_model=4): expected 2, got 4" in text


def test_a_split_and_a_merge_that_undo_each_other_are_both_found() -> None:
    assert "split_heads(x, 2)" in complaint("split_heads", split_heads=direct_reshape)
    assert "merge_heads(h)" in complaint("merge_heads", merge_heads=merge_without_swap)


@WAYS
@pytest.mark.parametrize(
    ("multihead", "where", "what"),
    [
        (without_output_projection, "x = [[[1, 2]]] in 1 head, y: 1 of 2", "expected 6, got 4"),
        (no_mask, "in 2 heads, y:", "first at [batch 0, seq 0, d_model 0]"),
        (one_head, "in 2 heads, y:", "their shape is (B, H, T, T) = (1, 2, 3, 3)"),
        (cache_with(x=None), "cache:", 'got a dict without "x"'),
        (cache_with(attention=None), "cache:", 'got a dict without "attention"'),
        (cache_with(heads=3), 'cache["heads"]:', "expected 1, got the number 3"),
        (cache_with(heads="two"), 'cache["heads"]:', "expected 1, got a str"),
        (cache_with(joined=np.zeros((1, 1, 2))), 'cache["joined"]:', "expected 2, got 0. It is what wo"),
        (cache_with(x=[[[1, 2]]]), 'cache["x"]:', "expected a NumPy array of the shape (batch=1"),
    ],
)
def test_a_wrong_forward_pass_is_told_what_differs(
    multihead: Callable[..., Any], where: str, what: str, way: Way
) -> None:
    text = complaint("multihead", way, multihead=multihead)
    assert text.startswith("multihead, ")
    assert where in text
    assert what in text


@WAYS
@pytest.mark.parametrize(
    ("change", "where", "what"),
    [
        (transposed("wo"), 'grads["wo"]:', "[row 0, column 1]"),
        (transposed("wv"), 'grads["wv"]:', "dy @ wo.T = [8, 5]"),
        (exchanged, 'grads["wq"]:', "expected 0.405528, got 1.74945"),
        (averaged_over_the_batch, 'grads["wo"]:', "never average"),
        (without_wk, "grads:", 'got a dict without "wk"'),
        (lambda dx, grads: (dx[:, :1], grads), ", dx:", "expected the shape (batch=1, seq=2, d_model=2)"),
        (lambda dx, grads: (dx.astype("f4"), grads), ", dx:", "the type float64, got the type float32"),
    ],
)
def test_wrong_gradients_are_told_what_differs(
    change: Callable[[Any, Any], Any], where: str, what: str, way: Way
) -> None:
    text = complaint("multihead_backward", way, multihead_backward=backward(change))
    assert text.startswith("multihead_backward, ")
    assert where in text
    assert what in text


@pytest.mark.parametrize("name", ["Q", "K", "V"])
def test_a_missing_or_lonely_route_into_x_is_named(name: str) -> None:
    def missing(cache: Any, params: Any, dy: Any) -> Any:
        dx, grads = reference.multihead_backward(cache, params, dy)
        alone, _ = route(f"w{name.lower()}")(cache, params, dy)
        return (dx - alone if dx.shape[1] == 2 else dx), grads

    def alone(cache: Any, params: Any, dy: Any) -> Any:
        one, two = route(f"w{name.lower()}"), reference.multihead_backward
        return (one if dy.shape[1] == 2 else two)(cache, params, dy)

    text = complaint("multihead_backward", multihead_backward=missing)
    assert text.endswith(f"This is dx without the route through {name}.")
    text = complaint("multihead_backward", multihead_backward=alone)
    assert text.endswith(f"This is the route through {name} alone: add the three routes.")


def test_an_average_of_the_three_routes_is_told_the_three_shares() -> None:
    def averaged(dx: Any, grads: Any) -> Any:
        return (dx / 3 if dx.shape[1] == 2 else dx), grads

    text = complaint("multihead_backward", multihead_backward=backward(averaged))
    assert text.endswith("dx[0, 0, 0] = 7.0619 is 0.4055 through Q + 0.4055 through K + 6.2509 through V.")


ODD_ANSWERS: list[Any] = [
    *(None, True, 3, 2.5, 1j, "text", b"bytes", [1, 2], {}, {"x": 1}, set(), (), (1,), (1, 2), (None, None)),
    *((1, 2, 3), ([], []), ({}, {}), object(), object, len, np.float32(1), np.array(1.0), np.array([])),
    *(np.zeros((1, 2, 2, 2)), np.full((1, 2, 4), np.nan), np.zeros((1, 2, 4), complex), np.array([None, 1])),
    *(np.array(["a"]), np.ma.masked_all((1, 2, 2, 2)), np.zeros(3, "i,i"), np.zeros((1, 2, 4), bool)),
    *(np.array("2026-01-01", "M8[s]"), (np.full((1, 1, 2), np.inf), {}), (np.array([[[2.0, 6.0]]]), [])),
    *((np.array([[[2.0, 6.0]]]), None), (np.array([[[2.0, 6.0]]]), np.zeros(3)), (np.zeros((1, 1, 2)), 5)),
]


@WAYS
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "answer", ODD_ANSWERS, ids=lambda one: ascii(one).partition(" at 0x")[0].replace("\n", "")[:40]
)
def test_any_odd_answer_leads_to_a_sentence(answer: Any, name: str, way: Way) -> None:
    text = complaint(name, way, **{name: lambda *_: answer})
    assert text.startswith(name)
    assert ": expected " in text or "numbers are wrong" in text
    assert "Remote" not in text


@WAYS
def test_a_function_without_return_is_asked_about_it(way: Way) -> None:
    for name in NAMES:
        text = complaint(name, way, **{name: lambda *_: None})
        assert "got None (does the function end with `return`?)" in text


def test_a_list_instead_of_an_array_is_called_a_list_wherever_it_is_judged() -> None:
    for way in (direct, by_proxy):
        assert "got a list." in complaint("split_heads", way, split_heads=lambda *_: [[1]])


def test_nan_and_infinity_are_wrong() -> None:
    for bad in (np.nan, np.inf, -np.inf):
        text = complaint("multihead", multihead=lambda *_, bad=bad: (np.full((1, 1, 2), bad), {}))
        assert f"expected 2, got {bad}" in text


def test_an_error_of_the_students_own_reaches_the_student() -> None:
    def stub(x: Any, heads: Any) -> Any:
        raise NotImplementedError("This function is waiting for you.")

    with pytest.raises(NotImplementedError, match="waiting for you"):
        check("split_heads", split_heads=stub)


def test_what_is_rendered_is_the_text_alone_in_lines_that_validate_does_not_cut() -> None:
    failure = visible_checks.CheckFailed("x = -1: " + "expected 2, got -3.0 " * 20 + "end")
    lines = failure._render_traceback_()
    assert str(failure).split() == " ".join(lines).split()
    assert all(len(line) <= 80 for line in lines)


@pytest.mark.parametrize(
    "module",
    [visible_checks, layer_examples, outcomes, pictures, worked_examples],
    ids=lambda one: one.__name__,
)
def test_numpy_is_all_that_is_needed(module: ModuleType) -> None:
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    imported = {
        alias.name if isinstance(node, ast.Import) else str(node.module)
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    others = {name.partition(".")[0] for name in imported} - sys.stdlib_module_names
    assert {"numpy"} == others - {"layer_examples", "outcomes", "pictures", "worked_examples"}


@WAYS
def test_a_check_whose_outcome_nobody_shows_prints_nothing_and_keeps_nothing(
    way: Way, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(visible_checks.milestones, "done", set())
    for exercise in NAMES:
        check(exercise, way)
    assert (set(), "") == (visible_checks.milestones.done, capsys.readouterr().out)
