"""Numbers that remember how they were computed, and can therefore be differentiated.

A ``Tensor`` holds an array. Each operation on tensors computes a new array and *records* two things with it:
the tensors that it was made of, its parents, and a function that carries a gradient back to them. What
has been recorded is a graph from the result back to the parameters. ``backward`` walks it once, each tensor
after everything that was made of it (that is a topological order), adds up what arrives, and leaves
the sums in ``grad`` of the tensors at which the graph begins.

An operation of your own needs no more than ``record(result, parents, pull_back)``.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[Any]
#: Takes the gradient that arrives at a result; gives one for each parent, or None where none is wanted.
PullBack: TypeAlias = Callable[[Array], Sequence[Array | None]]
Operand: TypeAlias = "Tensor | ArrayLike"

_is_recording = True


@contextmanager
def no_grad() -> Iterator[None]:
    """Compute without recording: quicker, and nothing is kept. For testing and generating.

    >>> w = Tensor([2.0], requires_grad=True)
    >>> with no_grad():
    ...     (w * 3).requires_grad
    False
    """
    global _is_recording  # noqa: PLW0603 - one switch for all tensors is what this is
    before, _is_recording = _is_recording, False
    try:
        yield
    finally:
        _is_recording = before


class Tensor:
    """An array with a memory of how it was computed.

    Args:
        data: the numbers. Floats keep their precision; integers and booleans become float64.
        requires_grad: whether ``backward`` shall leave a gradient here.

    Raises:
        TypeError: ``data`` is something other than numbers.

    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad.tolist()
    [[2.0, 4.0], [6.0, 8.0]]
    """

    __slots__ = ("__weakref__", "_parents", "_pull_back", "data", "grad", "requires_grad")
    __array_ufunc__ = None  # so that `array + tensor` asks the tensor

    def __init__(self, data: ArrayLike, *, requires_grad: bool = False):
        array = np.asarray(data)
        if array.dtype.kind in "iub":
            array = array.astype(np.float64)
        elif array.dtype.kind not in "fc":
            raise TypeError(f"A tensor holds numbers; this is {type(data).__name__} of {array.dtype}.")
        self.data: Array = array
        self.grad: Array | None = None
        self.requires_grad = requires_grad
        self._parents: Sequence[Tensor] = ()
        self._pull_back: PullBack | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self.data.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.data.ndim

    @property
    def size(self) -> int:
        """The number of numbers."""
        return self.data.size

    def item(self) -> float:
        """The only number of a tensor that holds one."""
        return float(self.data.item())

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        grad = ", requires_grad=True" if self.requires_grad else ""
        return f"Tensor({np.array2string(self.data, separator=', ', prefix='Tensor(')}{grad})"

    # --- Arithmetic: shapes are broadcast as NumPy does it, and gradients summed back ---------------------

    def __add__(self, other: Operand) -> "Tensor":
        left, right = self, self._operand(other)

        def pull_back(grad: Array) -> tuple[Array | None, Array | None]:
            return _for(left, grad), _for(right, grad)

        return record(_broadcast("+", np.add, left, right), (left, right), pull_back)

    def __sub__(self, other: Operand) -> "Tensor":
        left, right = self, self._operand(other)

        def pull_back(grad: Array) -> tuple[Array | None, Array | None]:
            return _for(left, grad), _for(right, -grad) if right.requires_grad else None

        return record(_broadcast("-", np.subtract, left, right), (left, right), pull_back)

    def __mul__(self, other: Operand) -> "Tensor":
        left, right = self, self._operand(other)

        def pull_back(grad: Array) -> tuple[Array | None, Array | None]:
            return (
                _for(left, grad * right.data) if left.requires_grad else None,
                _for(right, grad * left.data) if right.requires_grad else None,
            )

        return record(_broadcast("*", np.multiply, left, right), (left, right), pull_back)

    def __truediv__(self, other: Operand) -> "Tensor":
        left, right = self, self._operand(other)
        result = _broadcast("/", np.true_divide, left, right)

        def pull_back(grad: Array) -> tuple[Array | None, Array | None]:
            part = grad / right.data
            return _for(left, part), _for(right, -part * result) if right.requires_grad else None

        return record(result, (left, right), pull_back)

    def __neg__(self) -> "Tensor":
        return record(-self.data, (self,), lambda grad: (-grad,))

    def __radd__(self, other: ArrayLike) -> "Tensor":
        return self._operand(other) + self

    def __rsub__(self, other: ArrayLike) -> "Tensor":
        return self._operand(other) - self

    def __rmul__(self, other: ArrayLike) -> "Tensor":
        return self._operand(other) * self

    def __rtruediv__(self, other: ArrayLike) -> "Tensor":
        return self._operand(other) / self

    def _operand(self, other: Operand) -> "Tensor":
        """The other side of an operation; a bare number takes this tensor's precision."""
        if isinstance(other, Tensor):
            return other
        return Tensor(np.asarray(other, dtype=self.data.dtype) if np.isscalar(other) else other)

    # --- Products of matrices ----------------------------------------------------------------------------

    def __matmul__(self, other: Operand) -> "Tensor":
        r"""The product over the last axis of the left and the last but one of the right.

        $$ Y = A B, \qquad dA = dY\,B^\top, \qquad dB = A^\top dY $$

        Raises ValueError where the two axes differ in length, or one side has fewer than two axes.

        >>> (Tensor(np.ones((4, 32, 64))) @ Tensor(np.ones((64, 256)))).shape
        (4, 32, 256)
        """
        left, right = self, self._operand(other)
        a, b = left.data, right.data
        _check_matmul(a, b)
        rows, out_shape = None, (*a.shape[:-1], b.shape[-1])
        if b.ndim == 2:  # all rows of all tables at once: one large product is quicker than many small ones
            rows, a = a.shape, a.reshape(-1, a.shape[-1])

        def pull_back(grad: Array) -> tuple[Array | None, Array | None]:
            if rows is not None:
                grad = grad.reshape(-1, grad.shape[-1])
            grad_left = grad @ b.swapaxes(-1, -2) if left.requires_grad else None
            grad_right = a.swapaxes(-1, -2) @ grad if right.requires_grad else None
            if rows is not None:
                return None if grad_left is None else grad_left.reshape(rows), grad_right
            return (
                None if grad_left is None else _for(left, grad_left),
                None if grad_right is None else _for(right, grad_right),
            )

        result = a @ b
        return record(result.reshape(out_shape) if rows else result, (left, right), pull_back)

    def __rmatmul__(self, other: ArrayLike) -> "Tensor":
        return self._operand(other) @ self

    # --- Shapes ------------------------------------------------------------------------------------------

    def reshape(self, *shape: int) -> "Tensor":
        """The same numbers in the same order with other axes; -1 stands for what is left.

        Raises ValueError where the numbers cannot be dealt out so.
        """
        before = self.shape
        try:
            result = self.data.reshape(shape)
        except ValueError as error:
            raise ValueError(f"reshape: {self.size} numbers of shape {before} do not fit {shape}.") from error
        return record(result, (self,), lambda grad: (grad.reshape(before),))

    def transpose(self, *axes: int) -> "Tensor":
        """The axes in another order; all of them reversed if none is named.

        Raises ValueError where ``axes`` does not name each axis once.

        >>> Tensor(np.ones((4, 32, 2, 16))).transpose(0, 2, 1, 3).shape
        (4, 2, 32, 16)
        """
        order = axes or tuple(reversed(range(self.ndim)))
        if sorted(axis % self.ndim for axis in order) != list(range(self.ndim)):
            raise ValueError(f"transpose: {order} does not name each axis of shape {self.shape} once.")
        back = np.argsort([axis % self.ndim for axis in order])
        return record(self.data.transpose(order), (self,), lambda grad: (grad.transpose(back),))

    def swapaxes(self, one: int, other: int) -> "Tensor":
        """Two axes exchanged: ``swapaxes(-1, -2)`` transposes each matrix."""
        return record(self.data.swapaxes(one, other), (self,), lambda grad: (grad.swapaxes(one, other),))

    def __getitem__(self, index: Any) -> "Tensor":
        """A part, chosen as in NumPy. A number chosen twice collects both gradients."""
        before = self.data

        def pull_back(grad: Array) -> tuple[Array]:
            whole = np.zeros_like(before)
            np.add.at(whole, index, grad)
            return (whole,)

        return record(self.data[index], (self,), pull_back)

    # --- Sums --------------------------------------------------------------------------------------------

    def sum(self, axis: int | tuple[int, ...] | None = None, *, keepdims: bool = False) -> "Tensor":
        """The sum over the named axes, or over all."""
        before = self.shape
        result = np.asarray(np.sum(self.data, axis=axis, keepdims=keepdims))

        def pull_back(grad: Array) -> tuple[Array]:
            if axis is not None and not keepdims:
                grad = np.expand_dims(grad, axis)
            return (np.broadcast_to(grad, before),)

        return record(result, (self,), pull_back)

    def mean(self, axis: int | tuple[int, ...] | None = None, *, keepdims: bool = False) -> "Tensor":
        """The mean over the named axes, or over all."""
        total = self.sum(axis, keepdims=keepdims)
        return total * (max(total.size, 1) / max(self.size, 1))

    # --- The way back ------------------------------------------------------------------------------------

    def backward(self, grad: ArrayLike | None = None) -> None:
        """Add to ``grad`` of every tensor with ``requires_grad`` at which the graph begins.

        The graph is given up on the way, so that its arrays are freed; it can be walked once.

        Args:
            grad: what arrives at this tensor; 1 by default, which makes sense for a single number only.

        Raises:
            ValueError: nothing was recorded; or this is more than one number and no ``grad`` came along;
                or ``grad`` has another shape; or this graph has been walked already.
        """
        if not self.requires_grad:
            raise ValueError("backward: nothing was recorded here: does any parameter have requires_grad?")
        if grad is None and self.size != 1:
            raise ValueError(f"backward: shape {self.shape} is no single number: take sum() or mean() first.")
        start = np.ones_like(self.data) if grad is None else np.asarray(grad, dtype=self.data.dtype)
        if start.shape != self.shape:
            raise ValueError(f"backward: grad has shape {start.shape}, but the tensor has {self.shape}.")
        arrived = {id(self): start}
        for tensor in reversed(_parents_first(self)):
            arriving = arrived.pop(id(tensor), None)
            if arriving is None:  # no operation passed anything on to it
                continue
            if tensor._pull_back is None:
                tensor._collect(arriving)
                continue
            for parent, part in zip(tensor._parents, tensor._pulled_back(arriving), strict=True):
                if part is not None and parent.requires_grad:
                    known = arrived.get(id(parent))
                    arrived[id(parent)] = part if known is None else known + part
            tensor._parents, tensor._pull_back = (), _walked

    def _pulled_back(self, grad: Array) -> Sequence[Array | None]:
        """The gradients of the parents, as the operation computes them; what does not fit is refused."""
        assert self._pull_back is not None
        parts = self._pull_back(grad)
        if not isinstance(parts, tuple | list) or len(parts) != len(self._parents):
            raise ValueError(
                f"pull_back must give a tuple with {len(self._parents)} gradients, one a parent."
            )
        for number, (parent, part) in enumerate(zip(self._parents, parts, strict=True)):
            if part is not None and part.shape != parent.shape:
                raise ValueError(
                    f"pull_back gave a gradient of shape {part.shape} for parent {number}, whose shape is "
                    f"{parent.shape}."
                )
        return parts

    def _collect(self, grad: Array) -> None:
        """Add to the gradient, in place where there is one: it may be a part of a longer array."""
        if self.grad is None:
            self.grad = np.array(grad, dtype=self.data.dtype)
        else:
            self.grad += grad


def record(result: Array, parents: Sequence[Tensor], pull_back: PullBack) -> Tensor:
    r"""A new tensor, with the way back to what it was made of: this is how an operation is added.

    Args:
        result: what the operation computed, a new array or a view of one.
        parents: the tensors that it was computed from.
        pull_back: takes the gradient that arrives at the result and gives a gradient for each parent, in the
            shape of that parent; None for a parent that needs none. It must not change what it is given.

    >>> def square(x):
    ...     return record(x.data**2, (x,), lambda grad: (2 * x.data * grad,))
    >>> x = Tensor([3.0], requires_grad=True)
    >>> square(x).backward()
    >>> x.grad.tolist()
    [6.0]
    """
    tensor = Tensor.__new__(Tensor)
    tensor.data, tensor.grad = result, None
    tensor.requires_grad, tensor._parents, tensor._pull_back = False, (), None
    if _is_recording and any(parent.requires_grad for parent in parents):
        tensor.requires_grad, tensor._parents, tensor._pull_back = True, parents, pull_back
    return tensor


def _walked(_grad: Array) -> Sequence[Array | None]:
    raise ValueError("backward: this graph has been walked already; compute the result anew.")


def _parents_first(last: Tensor) -> list[Tensor]:
    """Every tensor with a gradient that ``last`` was made of, each after all of its own parents."""
    order: list[Tensor] = []
    seen = {id(last)}
    path = [(last, iter(last._parents))]
    while path:
        tensor, parents = path[-1]
        for parent in parents:
            if parent.requires_grad and id(parent) not in seen:
                seen.add(id(parent))
                path.append((parent, iter(parent._parents)))
                break
        else:
            order.append(tensor)
            path.pop()
    return order


def _for(parent: Tensor, grad: Array) -> Array | None:
    """The gradient in the parent's shape: a number that was broadcast collects from all its copies."""
    if not parent.requires_grad:
        return None
    shape = parent.data.shape
    if grad.shape == shape:
        return grad
    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))
    ones = tuple(axis for axis, length in enumerate(shape) if length == 1 and grad.shape[axis] != 1)
    return grad.sum(axis=ones, keepdims=True) if ones else grad


def _broadcast(sign: str, function: Callable[[Array, Array], Array], left: Tensor, right: Tensor) -> Array:
    try:
        return function(left.data, right.data)
    except ValueError as error:
        raise ValueError(
            f"{sign}: shapes {left.shape} and {right.shape} do not go together: counted from the last axis, "
            "lengths must be equal or 1."
        ) from error


def _check_matmul(a: Array, b: Array) -> None:
    if a.ndim < 2 or b.ndim < 2:
        raise ValueError(f"@: both sides need two axes or more, but have shapes {a.shape} and {b.shape}.")
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"@: shapes {a.shape} and {b.shape} do not go together: the last axis of the left "
            f"({a.shape[-1]}) and the last but one of the right ({b.shape[-2]}) must be equal."
        )
