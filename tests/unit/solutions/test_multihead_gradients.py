"""The reference's gradients, certified twice: by complex steps of its forward pass, and by HIPS autograd."""

from dataclasses import dataclass

import autograd
import autograd.numpy as anp
import numpy as np
import pytest

import multihead as reference
from autograder.checking.differences import complex_step_gradient

NAMES = ("wq", "wk", "wv", "wo")
#: batch, seq, heads, d_head: all distinct, then each coincidence on its own.
SIZES = [(2, 3, 4, 5), (1, 1, 1, 1), (3, 1, 2, 2), (1, 4, 3, 2), (2, 4, 1, 3), (2, 5, 3, 1), (3, 4, 2, 4)]
MASKS = ("all", "causal", "asymmetric", "only itself")


@dataclass(frozen=True)
class Layer:
    x: np.ndarray
    params: dict[str, np.ndarray]
    heads: int
    allowed: np.ndarray
    dy: np.ndarray

    def loss(self, name: str, value: np.ndarray) -> complex:
        """sum(y * dy) where one of x and the matrices has another value."""
        x = value if name == "x" else self.x
        params = self.params if name == "x" else {**self.params, name: value}
        y, _ = reference.multihead(x, params, self.heads, self.allowed)
        return np.sum(y * self.dy)

    def gradients(self, dtype: type[np.floating] = np.float64) -> dict[str, np.ndarray]:
        """What the reference's backward pass says."""
        params = {name: w.astype(dtype) for name, w in self.params.items()}
        _, cache = reference.multihead(self.x.astype(dtype), params, self.heads, self.allowed)
        dx, grads = reference.multihead_backward(cache, params, self.dy.astype(dtype))
        return {"x": dx, **grads}


def layer(sizes: tuple[int, int, int, int], mask: str) -> Layer:
    rng = np.random.default_rng([*sizes, MASKS.index(mask)])
    batch, seq, heads, d_head = sizes
    width = heads * d_head
    asymmetric = rng.random((seq, seq)) < 0.5
    asymmetric[np.arange(seq), rng.integers(seq, size=seq)] = True
    allowed = {
        "all": np.ones((seq, seq), dtype=bool),
        "causal": np.tri(seq, dtype=bool),
        "asymmetric": asymmetric,
        "only itself": np.eye(seq, dtype=bool),
    }
    x, dy = rng.standard_normal((2, batch, seq, width))
    matrices = rng.standard_normal((4, width, width)) / np.sqrt(width)
    return Layer(x, dict(zip(NAMES, matrices, strict=True)), heads, allowed[mask], dy)


def off(actual: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference, relative to the largest number where that exceeds one."""
    assert expected.shape == actual.shape
    return float(np.max(np.abs(actual - expected)) / max(1.0, np.max(np.abs(expected))))


def forward_head_by_head(x, matrices, heads, allowed):  # type: ignore[no-untyped-def]
    """Multi-head attention as a sum over heads, each with its columns of wq, wk, wv and its rows of wo."""
    wq, wk, wv, wo = matrices
    d_head = x.shape[2] // heads
    y = 0.0
    for head in range(heads):
        part = slice(head * d_head, (head + 1) * d_head)
        q, k, v = (anp.dot(x, w[:, part]) for w in (wq, wk, wv))
        scores = anp.einsum("bti,bsi->bts", q, k) / anp.sqrt(d_head)
        powers = anp.exp(scores - anp.max(anp.where(allowed, scores, -1e30), axis=2, keepdims=True)) * allowed
        weights = powers / anp.sum(powers, axis=2, keepdims=True)
        y = y + anp.dot(anp.einsum("bts,bsi->bti", weights, v), wo[part])
    return y


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_all_five_gradients_agree_with_complex_steps(sizes: tuple[int, int, int, int], mask: str) -> None:
    one = layer(sizes, mask)
    gradients = one.gradients()
    for name in ("x", *NAMES):
        at = one.x if name == "x" else one.params[name]
        expected = complex_step_gradient(lambda value, name=name: one.loss(name, value), at)
        assert np.float64 == gradients[name].dtype
        assert off(gradients[name], expected) < 1e-13, name


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_forward_and_gradients_agree_with_hips_autograd(sizes: tuple[int, int, int, int], mask: str) -> None:
    one = layer(sizes, mask)
    matrices = tuple(one.params[name] for name in NAMES)

    def loss(x, matrices):  # type: ignore[no-untyped-def]
        return anp.sum(forward_head_by_head(x, matrices, one.heads, one.allowed) * one.dy)

    expected_dx, expected_grads = autograd.grad(loss, (0, 1))(one.x, matrices)
    gradients = one.gradients()
    y, _ = reference.multihead(one.x, one.params, one.heads, one.allowed)
    assert off(y, forward_head_by_head(one.x, matrices, one.heads, one.allowed)) < 1e-13
    assert off(gradients["x"], expected_dx) < 1e-13
    for name, expected in zip(NAMES, expected_grads, strict=True):
        assert off(gradients[name], expected) < 1e-13, name


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_float32_gradients_agree_with_float64_ones(sizes: tuple[int, int, int, int], mask: str) -> None:
    one = layer(sizes, mask)
    expected = one.gradients()
    for name, gradient in one.gradients(np.float32).items():
        assert np.float32 == gradient.dtype
        assert off(gradient, expected[name]) < 1e-5, name


def test_the_routes_through_q_k_and_v_add_up_to_dx() -> None:
    x = np.array([[[1.0, 2.0], [0.0, 1.0]]])
    params = {"wq": np.eye(2), "wk": np.eye(2), "wv": 2 * np.eye(2), "wo": np.array([[1.0, 1.0], [0.0, 1.0]])}
    allowed, dy = np.ones((2, 2), dtype=bool), np.ones((1, 2, 2))

    def route(name: str) -> float:
        """The derivative of the loss by x[0, 0, 0] where x moves for one of the three projections alone."""
        moved = {one: (x @ params["w" + one]).astype(complex) for one in "qkv"}
        moved[name][0, 0] += 1e-30j * params["w" + name][0]
        out, _ = reference.attention(*(reference.split_heads(moved[one], 1) for one in "qkv"), allowed)
        return float(np.sum(reference.merge_heads(out) @ params["wo"] * dy).imag / 1e-30)

    assert [route(name) for name in "qkv"] == pytest.approx([0.4055, 0.4055, 6.2509], abs=5e-5)
    _, cache = reference.multihead(x, params, 1, allowed)
    dx, _ = reference.multihead_backward(cache, params, dy)
    assert sum(route(name) for name in "qkv") == pytest.approx(dx[0, 0, 0], abs=1e-14)
