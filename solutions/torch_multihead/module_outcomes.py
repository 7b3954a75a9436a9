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


def linear(what: str, module: Any, name: str, d_model: int, *, has_bias: bool) -> tuple[Any, Any]:
    """Weight and bias of a layer; raises CheckFailed unless it leads from d_model numbers to as many.

    ``has_bias`` says whether there must be a bias, or must be none.
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
    shape = _plain(getattr(weight, "shape", None))
    if shape != str((d_model, d_model)):
        fail(where, f"{wanted}, got a weight of the shape {shape}.")
    bias = getattr(layer, "bias", None)
    if has_bias and bias is None:
        fail(where, f"{wanted}, got one without.")
    if not has_bias and bias is not None:
        fail(where, f"{wanted}, got one with a bias: only the output layer has one.")
    return weight, bias


def fill(what: str, module: Any, example: ForwardExample, torch: Any) -> Any:
    """Put the matrices of an example into the module, in float64; returns the bias of the output layer.

    Raises CheckFailed unless the module takes them.
    """
    d_model, bias = example.query.shape[-1], None
    for name, matrix in LAYERS.items():
        weight, bias = linear(what, module, name, d_model, has_bias=name == "output")
        transposed = np.ascontiguousarray(example.params[matrix].T)
        put(f"{what}, self.{name}.weight", weight, torch.tensor(transposed))
    return bias


def put(what: str, parameter: Any, tensor: Any) -> None:
    """Put numbers in the place of a parameter's; raises CheckFailed where it is none."""
    try:
        parameter.data = tensor
    except (AttributeError, TypeError, ValueError):
        fail(what, f"expected a tensor, got {describe(parameter)}.")


def method(what: str, module: Any, name: str) -> Any:
    """A method of the module; raises CheckFailed where there is none."""
    found = getattr(module, name, None)
    if found is None:
        fail(
            what,
            f"the class has no method {name}. Run the cell that adds it, and again whenever you have run the "
            "cell of the class: that makes a new class without methods.",
        )
    if not callable(found):
        fail(what, f"expected a method self.{name}, got {describe(found)}: does another line use this name?")
    return found


def numbers(what: str, answer: Any, expected: Array, axes: str) -> Array:
    """The numbers of a tensor as an array; raises CheckFailed where the answer is no tensor."""
    try:
        array = answer.numpy(force=True)
    except (AttributeError, TypeError, ValueError, RuntimeError):
        array = None
    # The judge copies no array of float16: of that it knows nothing but that it has an unusual dtype.
    if getattr(array, "kind", None) == "dtype" or getattr(array, "dtype", None) == np.float16:
        fail(what, f"expected numbers of the type {expected.dtype}, got another type, such as float16.")
    if type(array) is not np.ndarray:
        shape = shape_text(expected.shape, axes)
        fail(what, f"expected a tensor of the shape {shape}, got {describe(answer)}.")
    return array


def _plain(shape: Any) -> str:
    """A shape as a tuple of numbers, whatever PyTorch calls it."""
    is_shape = isinstance(shape, tuple) and all(type(length) is int for length in shape)
    return str(tuple(shape)) if is_shape else describe(shape)
