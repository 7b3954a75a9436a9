"""What a notebook shows of the visible checks: how far one is, and pictures of the numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import multihead as reference
import pictures
import visible_checks

EXERCISES = ("split_heads", "merge_heads", "multihead", "multihead_backward")


def check(exercise: str, **wrong: Callable[..., Any]) -> visible_checks.Passed:
    """Call a visible check with the reference's functions but for those that are given."""
    functions = {name: wrong.get(name, getattr(reference, name)) for name in EXERCISES}
    run = getattr(visible_checks, f"check_{exercise}")
    names = ["multihead", exercise] if exercise == "multihead_backward" else [exercise]
    passed: visible_checks.Passed = run(*(functions[name] for name in names))
    return passed


def direct_reshape(x: np.ndarray, heads: int) -> np.ndarray:
    return x.reshape(x.shape[0], heads, x.shape[1], x.shape[2] // heads)


def without_output_projection(*args: Any) -> Any:
    _, cache = reference.multihead(*args)
    return cache["joined"], cache


def transposed_dwv(*args: Any) -> Any:
    dx, grads = reference.multihead_backward(*args)
    return dx, {**grads, "wv": grads["wv"].T}


def wrong_number_of_heads(*args: Any) -> Any:
    y, cache = reference.multihead(*args)
    return y, {**cache, "heads": 3}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What a new session prints when a check cell is run."""
    monkeypatch.setattr(visible_checks.milestones, "done", set())

    def run(exercise: str, **wrong: Callable[..., Any]) -> str:
        try:
            check(exercise, **wrong)._ipython_display_()
        except visible_checks.CheckFailed as failure:
            failure._render_traceback_()
        return capsys.readouterr().out

    return run


def test_a_success_tells_how_far_one_is_and_what_comes_next(told: Callable[..., str]) -> None:
    assert told("split_heads") == (
        "split_heads: 2 of 2 visible checks pass. Milestone: 1 of 4 done; next: merge_heads.\n"
    )
    told("merge_heads")
    assert told("multihead") == (
        "multihead: 5 of 5 visible checks pass. Milestone: 3 of 4 done; next: multihead_backward.\n"
    )
    assert "3 of 3 visible checks pass. Milestone: 4 of 4 done; next: the question at the end.\n" in told(
        "multihead_backward"
    )


def test_running_a_cell_again_counts_once(told: Callable[..., str]) -> None:
    assert told("split_heads") == told("split_heads")


def test_what_was_left_out_comes_next(told: Callable[..., str]) -> None:
    assert "Milestone: 1 of 4 done; next: split_heads." in told("multihead")


def test_a_function_that_is_broken_again_is_no_longer_done(told: Callable[..., str]) -> None:
    told("split_heads")
    assert "" == told("split_heads", split_heads=direct_reshape)
    assert "Milestone: 1 of 4 done; next: split_heads." in told("merge_heads")


def test_a_function_that_raises_is_no_longer_done(told: Callable[..., str]) -> None:
    told("split_heads")
    with pytest.raises(ZeroDivisionError):
        told("split_heads", split_heads=lambda x, heads: 1 / 0)
    assert "Milestone: 1 of 4 done; next: split_heads." in told("merge_heads")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pictures that a notebook would show below a cell, as text."""
    texts: list[str] = []
    monkeypatch.setattr(visible_checks.milestones, "done", set())
    monkeypatch.setattr(pictures, "show_below", lambda make: texts.append(pictures.text_of(make())))
    return texts


def test_wrong_numbers_are_shown_beside_the_right_ones(shown: list[str], told: Callable[..., str]) -> None:
    told("split_heads", split_heads=direct_reshape)
    told("multihead", multihead=without_output_projection)
    told("multihead_backward", multihead_backward=transposed_dwv)
    assert [True] * 3 == [part in text for part, text in zip(("*4 *5", "2 *4", "8 *16"), shown, strict=True)]


def test_what_are_no_numbers_of_the_right_shape_is_told_without_a_picture(
    shown: list[str], told: Callable[..., str]
) -> None:
    told("split_heads", split_heads=lambda *_: None)
    told("split_heads", split_heads=lambda *_: np.zeros((1, 2)))
    told("multihead", multihead=wrong_number_of_heads)
    assert [] == shown


def test_success_with_several_heads_and_routes_shows_what_they_bring(
    shown: list[str], told: Callable[..., str]
) -> None:
    for exercise in EXERCISES:
        told(exercise)
    weights, routes = shown
    assert weights.endswith("0.31  0.31  0.37    0.10  0.10  0.81")
    assert "7.06  5.28" in routes


def test_every_wrong_number_can_be_drawn(shown: list[str], told: Callable[..., str]) -> None:
    for bad in (np.nan, np.inf, -np.inf, 1e300, -1e-300):
        told("multihead", multihead=lambda *_, bad=bad: (np.full((1, 1, 2), bad), {}))
    assert 5 == len(shown)
