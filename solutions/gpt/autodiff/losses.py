"""How wrong a prediction is: the number that training makes smaller."""

import numpy as np
from numpy.typing import NDArray

from autodiff.tensor import Array, Tensor, record


def cross_entropy(logits: Tensor, targets: NDArray[np.integer]) -> Tensor:
    r"""The mean surprise, in nats, at the right classes: minus the logarithm of the share that each got.

    $$ L = -\tfrac{1}{N} \textstyle\sum_n \log \mathrm{softmax}(z_n)_{t_n}, \qquad
       dz_n = (\mathrm{softmax}(z_n) - \mathrm{onehot}(t_n))/N $$

    Args:
        logits: scores before the softmax, (..., classes).
        targets: the numbers of the right classes, (...).

    Raises:
        ValueError: the shapes do not go together.
        IndexError: a target is not the number of a class.

    >>> same_for_all = cross_entropy(Tensor(np.zeros((4, 32, 65))), np.zeros((4, 32), dtype=int))
    >>> round(same_for_all.item(), 6) == round(float(np.log(65)), 6)
    True
    """
    _check(logits.shape, targets)
    rows = logits.data.reshape(-1, logits.shape[-1])
    places = np.arange(len(rows)), targets.ravel()
    shifted, sums, powers = _shifted(rows)
    loss = np.asarray((np.log(sums) - shifted[places]).mean())

    def pull_back(grad: Array) -> tuple[Array]:
        part = powers / sums[:, None]
        part[places] -= 1
        part *= grad / len(rows)
        return (part.reshape(logits.shape),)

    return record(loss, (logits,), pull_back)


def surprises(logits: Array, targets: NDArray[np.integer]) -> Array:
    """The surprise at each right class by itself: what ``cross_entropy`` is the mean of.

    >>> surprises(np.zeros((2, 3, 4)), np.zeros((2, 3), dtype=int)).shape
    (2, 3)
    """
    _check(logits.shape, targets)
    rows = logits.reshape(-1, logits.shape[-1])
    shifted, sums, _ = _shifted(rows)
    surprise: Array = np.log(sums) - shifted[np.arange(len(rows)), targets.ravel()]
    return surprise.reshape(targets.shape)


def _shifted(rows: Array) -> tuple[Array, Array, Array]:
    """Each row minus its largest number, so that none is too large; the sums of its powers; the powers."""
    shifted = rows - rows.max(axis=-1, keepdims=True)
    powers = np.exp(shifted)
    return shifted, powers.sum(axis=-1), powers


def _check(shape: tuple[int, ...], targets: NDArray[np.integer]) -> None:
    if shape[:-1] != targets.shape:
        raise ValueError(
            f"cross_entropy: logits of shape {shape} want targets of shape {shape[:-1]}, not {targets.shape}."
        )
    if targets.size and not 0 <= int(targets.min()) <= int(targets.max()) < shape[-1]:
        raise IndexError(
            f"cross_entropy: targets go from {targets.min()} to {targets.max()}, but there are {shape[-1]} "
            "classes."
        )
