"""Whatever a student's function answers, a check ends in a verdict, never in a fault of ours."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.assignments.catalog import KIT, gradable_names, load_assignment
from autograder.checking.runner import run_check
from autograder.checking.student import StudentCrashed, StudentMalformed, StudentRaised, StudentTimedOut
from autograder.model import Verdict

EXERCISES = [
    (name, one.name)
    for name in gradable_names(KIT.parent)
    for one in load_assignment(KIT.parent, name).exercises
]
#: Of these, all that answer: not what only makes an object whose methods are exercises.
ANSWERING = [
    (name, one)
    for name, one in EXERCISES
    if one not in load_assignment(KIT.parent, name).checks.methods.values()
]
#: Of the large exercises, the checks that differ in what they ask.
CHECKS = {
    "multihead": ("visible", "masked", "cache", "untouched", "repeatable"),
    "multihead_backward": ("visible", "dx", "extremes", "untouched", "repeatable"),
    "attention": ("visible", "masked", "cache", "bad_masks", "untouched", "repeatable"),
    "attention_backward": ("visible", "dq", "hidden_keys", "untouched", "repeatable", "cost"),
    "weighted_attention": ("visible", "masked", "cache", "untouched", "repeatable"),
    "weighted_attention_backward": ("visible", "dx", "untouched", "repeatable"),
    "MultiHeadAttention": ("one_head", "causality", "weights_kept", "untouched", "repeatable", "dx"),
    "compute_attention": ("visible", "masked", "gradients", "untouched"),
    "combine_heads": ("joined", "way_back", "repeatable"),
    "forward": ("visible", "gradients_of_inputs", "untouched"),
    "build_gpt": ("scores", "first_numbers", "parameters", "repeatable"),
}
#: Of dicts, the items that stand for all: others are treated as they are.
ITEMS = ("x", "heads", "joined", "out", "wq", "q", "weights")


class Strange:
    """An object that answers every question, and none of them well."""

    def __getitem__(self, key: Any) -> Any:
        return self

    def __eq__(self, other: object) -> Any:
        raise ValueError("no")

    def __hash__(self) -> int:
        return 0


def spoilt(array: np.ndarray) -> Iterator[Any]:
    """Answers that look like the right array, and are not it."""
    for bad in (np.nan, np.inf, -np.inf, 1e308, -1e308, 0.5, -1e9):
        copy = array.astype(np.float64)
        copy[(0,) * array.ndim] = bad
        yield copy
        yield np.full(array.shape, bad)
    others = [one for one in ("bool", "i1", "u8", "f2", "f4", "c16", "g", "O", "S8") if array.dtype != one]
    yield from (array.astype(dtype) for dtype in others)
    yield np.ma.masked_array(array, np.ones(array.shape, bool))
    yield array.tolist()
    yield array[..., :0]
    yield array[None]
    yield array.swapaxes(-1, -2)
    yield np.broadcast_to(array, (2**8, *array.shape))


ODD: list[Any] = [
    None, True, 0, -(2**70), 1.5, np.nan, 1j, "", "x" * 5000, b"x", (), (1,), (1, 2), (None, None), [],
    [1, 2], {}, {"x": 1}, {1: 2}, object, len, Strange(), np.float64(3), np.bool_(True), np.array(3),
    np.array([]), np.array(None), np.array("text"), np.datetime64("2020-01-01"), np.zeros((0,) * 32),
    np.zeros((1,) * 64), np.zeros(3, [("a", "f8")]), np.zeros((1, 1)).view(np.recarray), range(3),
    {"x": {"y": [Strange()]}},
]  # fmt: skip
KEYS = ("x", "heads", "attention", "joined", "out", "wq", "wk", "wv", "wo", "q", "k", "v", "weights")


def variations(value: Any) -> Iterator[Any]:
    """Hostile answers in place of a right one: all of it, one of its results, one of its items."""
    yield from ODD
    if hasattr(value, "requires_grad"):
        yield from variations_of_tensor(value)
    elif hasattr(value, "forward"):
        yield from variations_of_layer(value)
    if isinstance(value, np.ndarray):
        yield from spoilt(value)
    if isinstance(value, tuple):
        for place, item in enumerate(value):
            for other in variations(item):
                yield (*value[:place], other, *value[place + 1 :])
        yield list(value)
        yield value[::-1]
        yield (*value, None)
    if isinstance(value, dict):
        for key, item in value.items():
            yield {other: one for other, one in value.items() if other != key}
            if key in ITEMS:
                yield from ({**value, key: other} for other in (*ODD, *variations_of_array(item)))


class Answering:
    """A layer whose answers are turned into others, given x, too; all else is the layer's own."""

    def __init__(self, layer: Any, turn: Callable[[Any, Any], Any]):
        self.layer = layer
        self.turn = turn

    def __call__(self, x: Any) -> Any:
        return self.turn(self.layer(x), x)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.layer, name)


class WithData:
    """A tensor with other numbers."""

    def __init__(self, tensor: Any, data: Any):
        self.tensor = tensor
        self.data = data

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tensor, name)


class Spoiling:
    """A tensor that leaves another gradient at x than the one that arrives there."""

    def __init__(self, tensor: Any, x: Any, number: int):
        self.tensor = tensor
        self.x = x
        self.number = number

    def backward(self, dy: Any) -> None:
        self.tensor.backward(dy)
        self.x.grad = nth_spoilt(self.x.grad, self.number)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tensor, name)


def nth_spoilt(array: np.ndarray, number: int) -> Any:
    return next(itertools.islice(spoilt(array), number, None))


def variations_of_layer(layer: Any) -> Iterator[Any]:
    """Layers that answer with anything, with a tensor of anything, or send anything back."""
    count = sum(1 for _ in spoilt(np.ones((2, 2))))
    for other in ODD:
        yield Answering(layer, lambda y, x, other=other: other)
        yield Answering(layer, lambda y, x, other=other: WithData(y, other))
    for n in range(count):
        yield Answering(layer, lambda y, x, n=n: WithData(y, nth_spoilt(y.data, n)))
        if not hasattr(layer, "attention_layers"):  # of a model nobody asks for gradients
            yield Answering(layer, lambda y, x, n=n: Spoiling(y, x, n))


def variations_of_tensor(tensor: Any) -> Iterator[Any]:
    """Tensors of PyTorch with other numbers, of other kinds, and out of the graph."""
    import torch

    for array in spoilt(tensor.detach().numpy()):
        if type(array) is np.ndarray and array.dtype.char not in "gOS":
            yield torch.tensor(array)
    yield from (tensor.bfloat16(), tensor.to("meta"), tensor.to_sparse(), tensor.detach())


def variations_of_array(item: Any) -> Iterator[Any]:
    return spoilt(item) if isinstance(item, np.ndarray) else iter(())


@pytest.mark.parametrize(("assignment", "exercise"), ANSWERING)
@pytest.mark.parametrize("good_calls", [0, 1])
def test_no_answer_is_taken_for_a_fault_of_ours(
    grading_of: Callable[[str], Any], assignment: str, exercise: str, good_calls: int
) -> None:
    grading = grading_of(assignment)
    right = vars(grading.reference)
    for number in itertools.count():
        calls, ran_out = 0, False

        def hostile(*args: Any) -> Any:
            nonlocal calls, ran_out
            value = right[exercise](*args)
            calls += 1
            if calls <= good_calls:
                return value
            other = next(itertools.islice(variations(value), number, None), hostile)  # noqa: B023
            ran_out = ran_out or other is hostile
            return value if other is hostile else other

        namespace = grading.with_own({exercise: hostile})
        result = grading.exercise(exercise, namespace, only=CHECKS.get(exercise))
        faults = {one.name: one.detail for one in result.checks if one.verdict is Verdict.JUDGE_ERROR}
        assert faults == {}
        if ran_out:
            break
        assert grading.lost(result)
    assert number > 50


class Liar:
    """The far side of a socket that sends any value that the wire can carry, whatever it was asked."""

    def __init__(self, draw: Any):
        self._draw = draw

    def call(self, function: str, /, *args: Any, **kwargs: Any) -> Any:
        return LyingAnswer(self._draw)

    def send(self, value: Any) -> Any:
        return LyingAnswer(self._draw)


class LyingAnswer:
    """An answer, or an argument to be looked at again."""

    def __init__(self, draw: Any):
        self._draw = draw
        self.value = draw()

    def reread(self) -> Any:
        return self._draw()


class LyingRemote:
    """An object that stayed behind, and is another one at each look."""

    def __init__(self, kind: str, draw: Any):
        self.kind = kind
        self._draw = draw

    def __getitem__(self, key: Any) -> Any:
        return self._draw()

    def __setitem__(self, key: Any, value: Any) -> None:
        raise StudentRaised("TypeError")

    def fetch(self) -> Any:
        return self._draw()

    def call(self, *args: Any, **kwargs: Any) -> LyingAnswer:
        return LyingAnswer(self._draw)

    def method(self, name: str, /, *args: Any, **kwargs: Any) -> LyingAnswer:
        return LyingAnswer(self._draw)

    def attribute(self, name: str) -> Any:
        return self._draw()

    def set_attribute(self, name: str, value: Any) -> None:
        self._draw()


def lies(data: st.DataObject) -> Any:
    """A function that draws the next value, or ends the examination."""
    dtypes = st.sampled_from(["float64", "float32", "int64", "bool", "complex128", "uint8"])
    shapes = st.lists(st.integers(0, 5), max_size=5).map(tuple)
    arrays = st.builds(
        lambda shape, dtype, fill: np.full(shape, fill).astype(dtype), shapes, dtypes, st.just(1)
    )
    plain = st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=3) | arrays
    plain |= st.sampled_from([np.int64(2), np.float32(1)])
    kinds = st.sampled_from(["dict", "list", "array_subclass", "object_array", "dtype", "function", "object"])
    failures = [StudentCrashed(), StudentMalformed(), StudentRaised("KeyError"), StudentTimedOut()]

    def draw() -> Any:
        remotes = kinds.map(lambda kind: LyingRemote(kind, draw))
        values = plain | remotes | st.dictionaries(st.sampled_from(KEYS), plain | remotes, max_size=3)
        values |= st.tuples(plain | remotes, plain | remotes) | st.lists(plain, max_size=2)
        chosen = data.draw(st.one_of(values, values, values, st.sampled_from(failures)))
        if isinstance(chosen, Exception):
            raise chosen
        return chosen

    return draw


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_lie_over_the_wire_is_taken_for_a_fault_of_ours(
    grading_of: Callable[[str], Any], data: st.DataObject
) -> None:
    assignment, exercise = data.draw(st.sampled_from(EXERCISES))
    grading = grading_of(assignment)
    check = data.draw(st.sampled_from(grading.checks.of(exercise)))
    outcome = run_check(check, Liar(lies(data)), grading.reference, grading.draw(b"lies", check))
    assert outcome.verdict is not Verdict.JUDGE_ERROR, outcome.detail
