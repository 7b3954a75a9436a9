"""AdamW: how gradients change parameters; and how fast, at each step of the training."""

import math
from collections.abc import Mapping

import numpy as np

from autodiff.tensor import Tensor


class AdamW:
    r"""Adam with weight decay of its own (Loshchilov and Hutter, 2019).

    $$ m \leftarrow \beta_1 m + (1-\beta_1)\,g, \qquad v \leftarrow \beta_2 v + (1-\beta_2)\,g^2 $$
    $$ w \leftarrow (1 - \eta\lambda)\,w - \eta\,\frac{m/(1-\beta_1^t)}{\sqrt{v/(1-\beta_2^t)} + \epsilon} $$

    All parameters are moved into one long array, and so are their gradients: a step is then a dozen
    operations on long arrays, not a dozen for every parameter. Each parameter's ``data`` and ``grad`` are
    views of its part.

    Args:
        parameters: what is trained, by name; all of one precision.
        decay: how strongly weights are drawn to zero.

    Raises ValueError where there is no parameter, or not all have one precision.
    """

    #: The long arrays that a run needs to be taken up again, besides ``steps``.
    STATE = ("weights", "mean", "square")

    def __init__(
        self,
        parameters: Mapping[str, Tensor],
        *,
        decay: float = 0.01,
        betas: tuple[float, float] = (0.9, 0.999),
        epsilon: float = 1e-8,
    ):
        tensors = list(parameters.values())
        if len({tensor.data.dtype for tensor in tensors}) != 1:
            raise ValueError("AdamW needs parameters, all of one precision.")
        self._tensors = tensors
        self._decay, self._betas, self._epsilon = decay, betas, epsilon
        self.steps = 0
        self.weights = np.concatenate([tensor.data.ravel() for tensor in tensors])
        self.gradients = np.zeros_like(self.weights)
        self.mean = np.zeros_like(self.weights)
        self.square = np.zeros_like(self.weights)
        self._scratch = np.empty_like(self.weights), np.empty_like(self.weights)
        ends = np.cumsum([tensor.size for tensor in tensors])
        shapes = [tensor.shape for tensor in tensors]

        def parts(whole: np.ndarray) -> list[np.ndarray]:
            pieces = np.split(whole, ends[:-1])
            return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]

        self._views = list(zip(tensors, parts(self.weights), parts(self.gradients), strict=True))
        for tensor, weights, gradients in self._views:
            tensor.data, tensor.grad = weights, gradients

    def zero_grad(self) -> None:
        """Forget all gradients, before the next ``backward`` adds to them."""
        self._take_in()
        self.gradients.fill(0)

    def clip_grad_norm(self, limit: float) -> float:
        """Shorten the gradient of all parameters together to the length ``limit``; returns what it was."""
        self._take_in()
        norm = math.sqrt(float(self.gradients @ self.gradients))
        if norm > limit:
            self.gradients *= limit / norm
        return norm

    def step(self, rate: float) -> None:
        """Change all parameters by their gradients, at the learning rate ``rate``."""
        self._take_in()
        self.steps += 1
        beta1, beta2 = self._betas
        part, root = self._scratch
        np.subtract(self.gradients, self.mean, out=part)
        part *= 1 - beta1
        self.mean += part
        np.multiply(self.gradients, self.gradients, out=part)
        part -= self.square
        part *= 1 - beta2
        self.square += part
        np.multiply(self.square, 1 / (1 - beta2**self.steps), out=root)
        np.sqrt(root, out=root)
        root += self._epsilon
        np.divide(self.mean, root, out=part)
        part *= rate / (1 - beta1**self.steps)
        self.weights *= 1 - rate * self._decay
        self.weights -= part

    def _take_in(self) -> None:
        """Bring back into the long arrays what somebody has put in the place of a view."""
        for tensor, weights, gradients in self._views:
            if tensor.data is not weights:
                weights[...] = tensor.data
                tensor.data = weights
            if tensor.grad is not gradients:
                gradients[...] = 0 if tensor.grad is None else tensor.grad
                tensor.grad = gradients


class WarmupCosine:
    """A learning rate that rises in a straight line, then falls as half a cosine wave.

    Args:
        peak: the highest rate, reached after ``warmup`` steps.
        warmup: how many steps it rises; from 1/warmup of the peak.
        steps: how many steps there are in all; the last one has the rate ``peak * floor``.

    >>> rate = WarmupCosine(0.001, warmup=100, steps=1000)
    >>> [round(rate(step), 6) for step in (0, 99, 999)]
    [1e-05, 0.001, 0.0001]
    """

    def __init__(self, peak: float, *, warmup: int, steps: int, floor: float = 0.1):
        self.peak, self.warmup, self.steps, self.floor = peak, warmup, steps, floor

    def __call__(self, step: int) -> float:
        """The rate at a step; the first step is number 0."""
        if step < self.warmup:
            return self.peak * (step + 1) / self.warmup
        done = min(1.0, (step - self.warmup + 1) / max(1, self.steps - self.warmup))
        return self.peak * (self.floor + (1 - self.floor) * (1 + math.cos(math.pi * done)) / 2)
