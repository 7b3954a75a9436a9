"""Every operation certified by two judges; graphs in every form; clear refusals."""

import gc
import weakref
from typing import Any

import autograd.numpy as anp
import numpy as np
import pytest

from autodiff.tensor import Tensor, no_grad, record

Shape = tuple[int, ...]
ALIKE = ((2, 3, 4), (2, 3, 4))
#: Shapes that broadcast in every way there is.
BROADCAST: list[tuple[Shape, Shape]] = [
    ALIKE,
    ((2, 3, 4), (4,)),
    ((4,), (2, 3, 4)),
    ((2, 1, 4), (3, 1)),
    ((1, 1), (2, 3)),
    ((), (2, 3)),
    ((2, 3), ()),
    ((2, 1, 1), (1, 3, 1)),
]
OPERATIONS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / (b * b + 1),
}
MATRICES: list[tuple[Shape, Shape]] = [
    ((3, 4), (4, 5)),
    ((2, 3, 4), (4, 5)),
    ((2, 6, 3, 4), (4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((2, 6, 3, 4), (6, 4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (1, 6, 4, 5)),
    ((1, 1), (1, 1)),
]
ONE = {
    "negative": lambda a: -a,
    "numbers left and right": lambda a: 3 - (2 * a + 1) / 4 + 2 / (a * a + 1),
    "sum of all": lambda a: a.sum(),
    "mean of all": lambda a: a.mean(),
    "sum over the last": lambda a: a.sum(-1),
    "sum over two": lambda a: a.sum((0, 2)),
    "mean over the first, kept": lambda a: a.mean(0, keepdims=True),
    "transpose": lambda a: a.transpose() * 2,
    "swapaxes": lambda a: a.swapaxes(-1, -2) * a.swapaxes(1, 2),
    "a part": lambda a: a[1, :, ::2],
    "rows chosen twice": lambda a: a[[0, 1, 0, 0]],
    "used three times": lambda a: a * a + a,
}


@pytest.mark.parametrize("shapes", BROADCAST, ids=str)
@pytest.mark.parametrize("name", OPERATIONS)
def test_arithmetic_has_the_gradients_of_two_judges(
    certify: Any, name: str, shapes: tuple[Shape, Shape]
) -> None:
    certify(OPERATIONS[name], OPERATIONS[name], *shapes)


@pytest.mark.parametrize("shapes", MATRICES, ids=str)
def test_products_have_the_gradients_of_two_judges(certify: Any, shapes: tuple[Shape, Shape]) -> None:
    certify(lambda a, b: a @ b, lambda a, b: a @ b, *shapes)


@pytest.mark.parametrize("name", ONE)
def test_an_operation_on_one_tensor_has_the_gradients_of_two_judges(certify: Any, name: str) -> None:
    certify(ONE[name], lambda a: ONE[name](anp.asarray(a) if isinstance(a, np.ndarray) else a), (2, 3, 4))


def test_shapes_may_be_changed_and_changed_back(certify: Any) -> None:
    certify(
        lambda a: a.reshape(2, 3, 2, 2).transpose(0, 2, 1, 3) * 2,
        lambda a: anp.transpose(anp.reshape(a, (2, 3, 2, 2)), (0, 2, 1, 3)) * 2,
        (2, 3, 4),
    )
    certify(lambda a: a.transpose(-1, 0, 1), lambda a: anp.transpose(a, (2, 0, 1)), (2, 3, 4))


def test_a_graph_with_several_routes_adds_them_up(certify: Any) -> None:
    def forked(a: Any, b: Any) -> Any:
        c = a * b
        d = c + a
        return (d * c - b) / (d * d + 1)

    certify(forked, forked, (2, 3), (2, 3))


def test_a_long_chain_needs_no_deep_recursion() -> None:
    x = Tensor([1.0], requires_grad=True)
    y = x
    for _ in range(5000):
        y = y + 1
    y.backward()
    assert x.grad == [1.0]


def test_gradients_add_up_over_calls_of_backward() -> None:
    x = Tensor([2.0], requires_grad=True)
    (x * 3).backward()
    (x * 4).backward()
    assert x.grad == [7.0]


def test_a_gradient_is_added_in_place_and_is_nobody_elses() -> None:
    x, z = Tensor([2.0], requires_grad=True), Tensor([1.0], requires_grad=True)
    dy = np.array([1.0])
    (x + z).backward(dy)
    before = x.grad
    (x + z).backward(dy)
    assert x.grad is before
    assert ([2.0], [2.0], [1.0]) == (x.grad, z.grad, dy)


def test_a_number_takes_the_precision_of_the_tensor() -> None:
    x = Tensor(np.ones(3, dtype=np.float32), requires_grad=True)
    y = (2 * x + np.float64(0.5) - 1) / 3
    assert np.float32 == y.data.dtype
    y.sum().backward()
    assert x.grad is not None
    assert np.float32 == x.grad.dtype


def test_integers_become_floats_and_other_things_are_refused() -> None:
    assert np.float64 == Tensor([1, 2]).data.dtype
    with pytest.raises(TypeError, match="A tensor holds numbers; this is list of <U1"):
        Tensor(["a"])  # type: ignore[list-item]


def test_an_array_on_the_left_asks_the_tensor() -> None:
    x = Tensor(np.ones((2, 2)), requires_grad=True)
    for y in (np.ones((2, 2)) + x, np.ones((2, 2)) - x, np.ones((2, 2)) * x, np.eye(2) @ x, np.eye(2) / x):
        assert isinstance(y, Tensor)
        assert y.requires_grad


def test_constants_get_no_gradient_and_nothing_is_recorded_for_them() -> None:
    x, constant = Tensor([1.0], requires_grad=True), Tensor([5.0])
    for y in (x + constant, x - constant, x * constant, x / constant, constant - x, constant / x):
        y.backward()
    assert constant.grad is None
    assert not (constant * 2).requires_grad


def test_without_recording_nothing_is_kept_even_after_an_error() -> None:
    x = Tensor([1.0], requires_grad=True)
    with no_grad():
        assert not (x * 2).requires_grad
    with pytest.raises(ValueError, match=r"\+: shapes"), no_grad():
        x + np.ones((3, 2, 2)) + np.ones(3)
    assert (x * 2).requires_grad


def test_an_operation_of_ones_own_takes_part() -> None:
    def cube(x: Tensor) -> Tensor:
        return record(x.data**3, (x,), lambda grad: (3 * x.data**2 * grad,))

    x = Tensor([2.0], requires_grad=True)
    cube(x * 2).backward()
    assert x.grad == [96.0]


@pytest.mark.parametrize(
    ("pull_back", "message"),
    [
        (lambda grad: (grad.sum(),), r"a gradient of shape \(\) for parent 0, whose shape is \(2,\)"),
        (lambda grad: (grad[:, None],), r"a gradient of shape \(2, 1\) for parent 0, whose shape is \(2,\)"),
        (lambda grad: grad, "must give a tuple with 1 gradients, one a parent"),
        (lambda grad: (grad, grad), "must give a tuple with 1 gradients, one a parent"),
    ],
)
def test_a_pull_back_that_answers_otherwise_is_refused(pull_back: Any, message: str) -> None:
    x = Tensor([2.0, 3.0], requires_grad=True)
    for parent in (x, x * 2):
        with pytest.raises(ValueError, match=message):
            record(parent.data * 2, (parent,), pull_back).backward(np.ones(2))


def test_a_pull_back_may_pass_nothing_on() -> None:
    x, z = Tensor([2.0], requires_grad=True), Tensor([3.0], requires_grad=True)
    record(x.data + z.data, (x * 2, z), lambda grad: (None, grad)).backward()
    assert x.grad is None
    assert z.grad == [1.0]


def test_a_graph_is_freed_without_the_garbage_collector() -> None:
    x = Tensor(np.ones(3), requires_grad=True)
    gc.disable()
    try:
        for walk in (True, False):
            y = x * 2
            between = weakref.ref(y)
            z = (y @ Tensor(np.ones((3, 1))) if y.ndim > 1 else y).sum()
            del y
            if walk:
                z.backward()
                assert between() is None, "backward gives the graph up"
            del z
            assert between() is None
    finally:
        gc.enable()


REFUSALS = {
    r"\+: shapes \(2, 3\) and \(4,\) do not go together": lambda: Tensor(np.ones((2, 3))) + np.ones(4),
    r"@: shapes \(2, 3\) and \(4, 5\) do not go together: the last axis of the left \(3\)": lambda: (
        Tensor(np.ones((2, 3))) @ np.ones((4, 5))
    ),
    r"@: both sides need two axes or more, but have shapes \(3,\) and \(3, 1\)": lambda: (
        Tensor(np.ones(3)) @ np.ones((3, 1))
    ),
    r"reshape: 6 numbers of shape \(2, 3\) do not fit \(4, 2\)": lambda: Tensor(np.ones((2, 3))).reshape(
        4, 2
    ),
    r"transpose: \(0, 0\) does not name each axis of shape \(2, 3\) once": lambda: Tensor(
        np.ones((2, 3))
    ).transpose(0, 0),
    r"backward: nothing was recorded here": lambda: Tensor([1.0]).backward(),
    r"backward: shape \(2,\) is no single number": lambda: Tensor([1.0, 2.0], requires_grad=True).backward(),
    r"backward: grad has shape \(3,\), but the tensor has \(2,\)": lambda: (
        Tensor([1.0, 2.0], requires_grad=True) * 2
    ).backward(np.ones(3)),
}


@pytest.mark.parametrize("message", REFUSALS)
def test_wrong_use_is_refused_with_its_shapes(message: str) -> None:
    with pytest.raises(ValueError, match=message):
        REFUSALS[message]()


def test_a_graph_is_walked_once() -> None:
    y = (Tensor([1.0], requires_grad=True) * 2) * 3
    y.backward()
    with pytest.raises(ValueError, match="this graph has been walked already"):
        y.backward()
