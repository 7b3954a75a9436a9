"""What the visible checks of this lesson ask of modules, layers and tensors; of arrays, see ``outcomes.py``.

Nothing is known by its class here: what a check gets may be an object of this notebook, or stand for one that
lies somewhere else.
"""

import textwrap
from typing import Any

import numpy as np

from outcomes import LINE_WIDTH, Array, describe, fail, shape_text
from torch_examples import ForwardExample

#: The layer that holds each matrix of the NumPy lessons, transposed.
LAYERS = {"query": "wq", "key": "wk", "value": "wv", "output": "wo"}


class TorchMissing(ImportError):
    """PyTorch cannot be imported; the text says what to do. A notebook shows it without a traceback."""

    def __init__(self, problem: BaseException):
        is_absent = isinstance(problem, ModuleNotFoundError) and problem.name == "torch"
        where = (
            "this notebook's Python does not have it" if is_absent else f"it cannot be imported: {problem}"
        )
        super().__init__(
            f"This lesson needs PyTorch, and {where}. Run `%pip install torch` in a cell of its own (once; "
            "it takes some minutes), restart the kernel and run this cell again."
        )

    def _render_traceback_(self) -> list[str]:
        """The lines that Jupyter shows in place of a traceback."""
        return textwrap.wrap(str(self), LINE_WIDTH, break_on_hyphens=False)


def size(what: str, module: Any, name: str, expected: int) -> None:
    """Raise CheckFailed unless an attribute of the module is this whole number."""
    got = getattr(module, name, None)
    if got is None:
        fail(what, f"expected self.{name} = {expected}, got nothing: __init__ puts it there.")
    if not isinstance(got, (int, np.integer)) or isinstance(got, bool) or got != expected:
        hint = " Whole numbers are divided by //." if isinstance(got, float) and got == expected else ""
        fail(what, f"expected self.{name} = {expected}, got {describe(got)}.{hint}")


def linear(what: str, module: Any, name: str, d_model: int, *, has_bias: bool) -> Any:
    """A layer of the module; raises CheckFailed unless it leads from d_model numbers to as many.

    The bias is looked at where ``has_bias`` says whether there is one.
    """
    where = f"{what}, self.{name}"
    wanted = (
        f"expected a linear layer with{'' if has_bias else 'out'} bias from {d_model} numbers to {d_model}"
    )
    layer = getattr(module, name, None)
    if layer is None:
        fail(where, f"{wanted}, got nothing: __init__ puts it there.")
    weight = getattr(layer, "weight", None)
    if weight is None:
        fail(where, f"{wanted}, got {describe(layer)} without a weight.")
    shape = getattr(weight, "shape", None)
    if shape != (d_model, d_model):
        fail(where, f"{wanted}, got a weight of the shape {_plain(shape)}.")
    bias = getattr(layer, "bias", None)
    if has_bias and bias is None:
        fail(where, f"{wanted}, got one without.")
    if not has_bias and bias is not None:
        fail(where, f"{wanted}, got one with a bias: only the output layer has one.")
    return layer


def fill(what: str, module: Any, example: ForwardExample, torch: Any) -> None:
    """Put the matrices of an example into the module, in float64; raises CheckFailed unless it takes them."""
    d_model = example.query.shape[-1]
    for name, matrix in LAYERS.items():
        layer = linear(what, module, name, d_model, has_bias=name == "output")
        layer.weight.data = torch.tensor(np.ascontiguousarray(example.params[matrix].T))


def method(what: str, module: Any, name: str) -> Any:
    """A method of the module; raises CheckFailed where there is none."""
    found = getattr(module, name, None)
    if found is None:
        fail(
            what,
            f"the class has no method {name}. Run the cell that adds it, and again whenever you have run the "
            "cell of the class: that makes a new class without methods.",
        )
    return found


def numbers(what: str, answer: Any, expected: Array, axes: str) -> Array:
    """The numbers of a tensor as an array; raises CheckFailed where the answer is no tensor."""
    try:
        array = answer.numpy(force=True)
    except (AttributeError, TypeError, ValueError, RuntimeError):
        array = None
    if type(array) is not np.ndarray:
        shape = shape_text(expected.shape, axes)
        fail(what, f"expected a tensor of the shape {shape}, got {describe(answer)}.")
    return array


def _plain(shape: Any) -> str:
    """A shape as a tuple of numbers, whatever PyTorch calls it."""
    return str(tuple(shape)) if isinstance(shape, tuple) else describe(shape)
