"""The reference of one head: certified by complex steps, and the same as multi-head attention in one head."""

from typing import Any

import autograd
import autograd.numpy as anp
import numpy as np
import pytest

import multihead
import weighted_attention as reference
from autograder.checking.differences import complex_step_gradient

NAMES = ("wq", "wk", "wv", "wo")
#: batch, seq, d_model: all distinct, then each coincidence on its own.
EACH = pytest.mark.parametrize("sizes", [(2, 3, 5), (1, 1, 1), (3, 1, 4), (1, 4, 6), (2, 4, 1)], ids=str)


def layer(sizes: tuple[int, int, int]) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """The x and the matrices by name, an irregular mask without an empty row, and dy."""
    rng = np.random.default_rng(sizes)
    batch, seq, width = sizes
    allowed = rng.random((seq, seq)) < 0.5
    allowed[np.arange(seq), rng.integers(seq, size=seq)] = True
    inputs = {"x": rng.standard_normal((batch, seq, width))}
    inputs |= {name: rng.standard_normal((width, width)) / np.sqrt(width) for name in NAMES}
    return inputs, allowed, rng.standard_normal((batch, seq, width))


def run(inputs: dict[str, Any], allowed: np.ndarray, dy: np.ndarray) -> tuple[Any, dict[str, Any]]:
    """y, and all gradients by name."""
    params = {name: inputs[name] for name in NAMES}
    y, cache = reference.weighted_attention(inputs["x"], params, allowed)
    dx, grads = reference.weighted_attention_backward(cache, params, dy)
    return y, {"x": dx, **grads}


@EACH
def test_all_five_gradients_agree_with_complex_steps(sizes: tuple[int, int, int]) -> None:
    inputs, allowed, dy = layer(sizes)
    _, gradients = run(inputs, allowed, dy)
    for name, at in inputs.items():

        def loss(value: np.ndarray, name: str = name) -> complex:
            moved = {**inputs, name: value}
            y, _ = reference.weighted_attention(moved["x"], {one: moved[one] for one in NAMES}, allowed)
            return complex(np.sum(y * dy))

        assert np.max(np.abs(gradients[name] - complex_step_gradient(loss, at))) < 1e-13, name


def test_forward_and_gradients_agree_with_hips_autograd() -> None:
    inputs, allowed, dy = layer((2, 3, 5))

    def forward(inputs):  # type: ignore[no-untyped-def]
        q, k, v = (anp.dot(inputs["x"], inputs[name]) for name in ("wq", "wk", "wv"))
        powers = anp.exp(anp.einsum("bti,bsi->bts", q, k) / anp.sqrt(5)) * allowed
        weights = powers / anp.sum(powers, axis=2, keepdims=True)
        return anp.dot(anp.einsum("bts,bsi->bti", weights, v), inputs["wo"])

    y, gradients = run(inputs, allowed, dy)
    expected = autograd.grad(lambda inputs: anp.sum(forward(inputs) * dy))(inputs)
    assert y == pytest.approx(forward(inputs), abs=1e-13)
    for name, gradient in gradients.items():
        assert gradient == pytest.approx(expected[name], abs=1e-13), name


@EACH
def test_it_is_multi_head_attention_in_one_head(sizes: tuple[int, int, int]) -> None:
    inputs, allowed, dy = layer(sizes)
    params = {name: inputs[name] for name in NAMES}
    y, cache = multihead.multihead(inputs["x"], params, 1, allowed)
    dx, grads = multihead.multihead_backward(cache, params, dy)
    own_y, own_gradients = run(inputs, allowed, dy)
    np.testing.assert_allclose(own_y, y, rtol=1e-14, atol=1e-14)
    for name, expected in {"x": dx, **grads}.items():
        np.testing.assert_allclose(own_gradients[name], expected, rtol=1e-13, atol=1e-13, err_msg=name)


@pytest.mark.parametrize("seq", [1, 2, 7, np.int64(3), np.uint8(4)])
def test_the_causal_mask_is_the_lower_triangle(seq: Any) -> None:
    mask = reference.causal_mask(seq)
    assert np.dtype(bool) == mask.dtype
    assert np.array_equal(mask, np.tri(seq, dtype=bool))


@pytest.mark.parametrize(
    ("seq", "error"),
    [(0, ValueError), (-1, ValueError), (True, TypeError), (2.0, TypeError), ("2", TypeError)],
)
def test_what_is_no_number_of_tokens_is_refused(seq: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="seq must be"):
        reference.causal_mask(seq)
