from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.checking.analysis.observing import observe, only_integers
from autograder.checking.framework import Comparison
from autograder.checking.recording import Asked, Event

AXES = ("batch", "heads", "seq")


def compared(change: Callable[[np.ndarray], np.ndarray], axes: tuple[str, ...] = AXES) -> list[Comparison]:
    shapes = [(2, 3, 4), (3, 5, 2)] if len(axes) == 3 else [(4, 4), (5, 5)]
    wants = [np.random.default_rng(seed).standard_normal(shape) for seed, shape in enumerate(shapes)]
    return [Comparison("y", axes, change(want.copy()), want) for want in wants]


def with_slice(axis: int, place: int, value: float) -> Callable[[np.ndarray], np.ndarray]:
    def change(x: np.ndarray) -> np.ndarray:
        np.moveaxis(x, axis, 0)[place] = value
        return x

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda x: x.swapaxes(0, 1),
            "y holds the right numbers, with the axes in the order (heads, batch, seq).",
        ),
        (
            lambda x: x.swapaxes(0, 1).reshape(x.shape),
            (
                "y holds the right numbers, but read in the order of the axes (heads, batch, seq) and then "
                "reshaped."
            ),
        ),
        (lambda x: x[:, ::-1], "y holds the right numbers, but backward along the axis heads."),
        (
            lambda x: np.roll(x.ravel(), 1).reshape(x.shape),
            "y holds the right numbers, but not at their places.",
        ),
        (lambda x: 2 * x, "y is the right one times 2."),
        (lambda x: -x, "y is the right one times -1."),
        (lambda x: 0 * x, "y is zero everywhere."),
        (lambda x: x / len(x), "y is the right one times a number that depends on the sizes."),
        (
            with_slice(2, -1, 0.0),
            "along the axis seq, y is wrong at the last place and right at all others.",
        ),
        (
            with_slice(0, 0, 0.0),
            "along the axis batch, y is wrong at the first place and right at all others.",
        ),
    ],
)
def test_what_is_seen_is_said(change: Callable[[np.ndarray], np.ndarray], sentence: str) -> None:
    seen = observe(compared(change))
    assert seen is not None
    assert f"Seen on every input tried: {sentence}" == seen.message
    assert seen.id.startswith("observed_")
    assert seen.hint.endswith((".", "?"))


def test_a_square_one_is_called_transposed() -> None:
    seen = observe(compared(lambda x: x.T, ("d_model", "d_model")))
    assert seen is not None
    assert seen.message.endswith("y holds the right numbers, but transposed.")


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x + 1,
        np.sin,
        lambda x: x[:1],
        lambda x: x.astype(complex) * 2,
        lambda x: np.full(x.shape, np.nan),
        lambda x: x.astype(str),
    ],
)
def test_of_anything_else_nothing_is_said(change: Callable[[np.ndarray], np.ndarray]) -> None:
    assert observe(compared(change)) is None


def test_nothing_is_said_that_holds_of_one_input_only() -> None:
    twice, thrice = compared(lambda x: 2 * x)[0], compared(lambda x: 3 * x)[1]
    seen = observe([twice, thrice])
    assert seen is not None
    assert seen.message.endswith("times a number that depends on the sizes.")
    assert observe([twice, compared(lambda x: x[:, ::-1])[1]]) is None
    with pytest.raises(ValueError, match="two inputs"):
        observe([twice])


@given(st.integers(0, 2**32 - 1))
def test_no_hidden_number_is_in_any_text(seed: int) -> None:
    rng = np.random.default_rng(seed)
    changes = (lambda x: x[::-1], lambda x: -x, lambda x: x.transpose(2, 1, 0), with_slice(0, 0, 9.75))
    change = changes[int(rng.integers(len(changes)))]
    wants = [rng.standard_normal((2, 3, 4)) for _ in range(2)]
    seen = observe([Comparison("y", AXES, change(want.copy()), want) for want in wants])
    assert seen is not None
    for want in wants:
        assert not any(f"{abs(number):.3f}"[:4] in seen.message for number in want.ravel())


def test_integers_are_told_from_floats_in_the_last_call_with_numbers() -> None:
    def call(*args: object) -> Event:
        return Event(Asked.CALL, "f", args)

    whole, floats = np.arange(3), np.ones(3)
    assert only_integers([call(floats), call({"w": whole}, 3, np.array([True]))])
    assert not only_integers([call(whole), call(whole, (floats,))])
    assert not only_integers([call("text", 3)])
    assert only_integers([call(whole), call(3)])
    assert not only_integers([])
