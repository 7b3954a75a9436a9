"""Operations that are quicker, or steadier, with a way back of their own than put together from others."""

import math

import numpy as np
from numpy.typing import NDArray

from autodiff.tensor import Array, Tensor, record


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    r"""Every row times a matrix, plus the same bias.

    $$ Y = X W + b, \qquad dX = dY\,W^\top, \qquad dW = X^\top dY, \qquad db = \textstyle\sum dY $$

    ``x`` is (..., C), ``weight`` (C, D), ``bias`` (D,); the result is (..., D). The sum goes over all rows.
    """
    rows = x.data.reshape(-1, x.shape[-1])
    result = rows @ weight.data + bias.data

    def pull_back(grad: Array) -> tuple[Array | None, Array, Array]:
        grad_rows = grad.reshape(-1, grad.shape[-1])
        grad_x = (grad_rows @ weight.data.T).reshape(x.shape) if x.requires_grad else None
        return grad_x, rows.T @ grad_rows, grad_rows.sum(axis=0)

    return record(result.reshape(*x.shape[:-1], bias.shape[-1]), (x, weight, bias), pull_back)


def lookup(table: Tensor, indices: NDArray[np.integer]) -> Tensor:
    """The rows of ``table`` (N, C) with the numbers ``indices`` (...): shape (..., C).

    Raises IndexError where a number is not the number of a row.
    """
    if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < len(table):
        raise IndexError(
            f"lookup: numbers from {indices.min()} to {indices.max()}, but the table has rows 0 to "
            f"{len(table) - 1}."
        )
    rows, width = table.shape

    def pull_back(grad: Array) -> tuple[Array]:
        # A row that was looked up many times collects from all places: a product with zeros and ones adds up
        # faster than np.add.at does.
        chosen = np.zeros((indices.size, rows), dtype=grad.dtype)
        chosen[np.arange(indices.size), indices.ravel()] = 1
        return (chosen.T @ grad.reshape(indices.size, width),)

    return record(table.data[indices], (table,), pull_back)


def keep(x: Tensor, allowed: NDArray[np.bool_], otherwise: float = -1e9) -> Tensor:
    """``x`` where ``allowed`` is True, elsewhere the number ``otherwise``; gradients pass where kept.

    ``allowed`` has the shape of ``x``, or one that broadcasts to it.
    """
    return record(np.where(allowed, x.data, x.data.dtype.type(otherwise)), (x,), lambda g: (g * allowed,))


def softmax(x: Tensor) -> Tensor:
    r"""Shares over the last axis: positive, and 1 in sum.

    $$ y = e^x / \textstyle\sum e^x, \qquad dx = y \odot \bigl(dy - \sum y \odot dy\bigr) $$

    The largest of each row becomes 0 before the exponential, so that no score is too large for it.
    """
    y = x.data - x.data.max(axis=-1, keepdims=True)
    np.exp(y, out=y)
    y /= y.sum(axis=-1, keepdims=True)

    def pull_back(grad: Array) -> tuple[Array]:
        part = grad * y
        part -= y * part.sum(axis=-1, keepdims=True)
        return (part,)

    return record(y, (x,), pull_back)


def gelu(x: Tensor) -> Tensor:
    r"""A smooth bend: nearly 0 for negative numbers, nearly x for positive ones.

    $$ y = x\,(1 + t)/2, \qquad t = \tanh\bigl(\sqrt{2/\pi}\,(x + 0.044715\,x^3)\bigr) $$
    $$ dx = dy\,\bigl((1 + t) + x\,(1 - t^2)\,\sqrt{2/\pi}\,(1 + 0.134145\,x^2)\bigr)/2 $$
    """
    scale = math.sqrt(2 / math.pi)
    # Steps in place save half of the time: arrays of this size are the largest in the model.
    data = x.data
    slope = data * data
    t = slope * (0.044715 * scale)
    t += scale
    t *= data
    np.tanh(t, out=t)
    slope *= 0.134145 * scale
    slope += scale
    half = data * 0.5
    y = t * half
    y += half

    def pull_back(grad: Array) -> tuple[Array]:
        part = t * t
        np.subtract(1, part, out=part)
        part *= slope
        part *= half
        part += t * 0.5
        part += 0.5
        part *= grad
        return (part,)

    return record(y, (x,), pull_back)
