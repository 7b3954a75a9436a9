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
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            f"cross_entropy: logits of shape {logits.shape} want targets of shape {logits.shape[:-1]}, "
            f"not {targets.shape}."
        )
    classes = logits.shape[-1]
    if targets.size and not 0 <= int(targets.min()) <= int(targets.max()) < classes:
        raise IndexError(
            f"cross_entropy: targets go from {targets.min()} to {targets.max()}, but there are {classes} "
            "classes."
        )
    rows = logits.data.reshape(-1, classes)
    places = np.arange(len(rows)), targets.ravel()
    shifted = rows - rows.max(axis=-1, keepdims=True)
    powers = np.exp(shifted)
    sums = powers.sum(axis=-1, keepdims=True)
    loss = np.asarray((np.log(sums[:, 0]) - shifted[places]).mean())

    def pull_back(grad: Array) -> tuple[Array]:
        part = powers / sums
        part[places] -= 1
        part *= grad / len(rows)
        return (part.reshape(logits.shape),)

    return record(loss, (logits,), pull_back)
