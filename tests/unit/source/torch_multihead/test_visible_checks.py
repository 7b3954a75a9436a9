"""The visible checks pass the reference and tell everybody else, in a sentence, what came out differently."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import torch_multihead as reference
from autograder.assignments.loading import load_module
from autograder.checking.local import LocalStudent
from autograder.checking.notebook_names import Name
from autograder.checking.student import StudentRaised

SOURCE = Path(__file__).parents[4] / "source" / "torch_multihead"
visible_checks = load_module(SOURCE / "visible_checks.py", helpers=SOURCE)
NAMES = ("MultiHeadAttention", "split_heads", "compute_attention", "combine_heads", "forward")
METHODS = NAMES[1:]
RIGHT = reference.MultiHeadAttention

Way = Callable[[Any], tuple[Any, Any]]


def direct(cls: Any) -> tuple[Any, Any]:
    return cls, torch


def by_proxy(cls: Any) -> tuple[Any, Any]:
    """As the judge calls it: arrays are copied, everything else stays behind a window."""
    student = LocalStudent({"MultiHeadAttention": cls, "torch": torch})
    return Name(student, "MultiHeadAttention"), Name(student, "torch")


WAYS = pytest.mark.parametrize("way", [direct, by_proxy], ids=["in the notebook", "by the judge"])


def grown(**methods: Any) -> type:
    """The reference's class with other methods."""
    return type("MultiHeadAttention", (RIGHT,), methods)


def built(change: Callable[[Any], object]) -> type:
    """The reference's class, whose modules are changed as soon as they are there."""

    def init(self: Any, d_model: int, num_heads: int) -> None:
        RIGHT.__init__(self, d_model, num_heads)
        change(self)

    return grown(__init__=init)


def check(exercise: str, cls: Any = RIGHT, way: Way = direct) -> Any:
    run = getattr(visible_checks, f"check_{exercise}")
    return run(*way(cls)[: 1 if exercise == "MultiHeadAttention" else 2])


def complaint(exercise: str, cls: Any, way: Way = direct) -> str:
    with pytest.raises(visible_checks.CheckFailed) as caught:
        check(exercise, cls, way)
    return str(caught.value)


def direct_view(self: Any, x: Any, batch_size: int) -> Any:
    return x.view(batch_size, self.num_heads, -1, self.head_dim)


def without_transpose(self: Any, x: Any, batch_size: int) -> Any:
    return x.reshape(batch_size, -1, self.d_model)


def hidden(scores: Any, mask: Any) -> Any:
    return scores.masked_fill(mask == 0, -torch.inf)


def attention(
    scale: Callable[[Any], float] = lambda self: self.head_dim**0.5,
    dim: int = -1,
    hide: Callable[[Any, Any], Any] = hidden,
) -> Callable[..., Any]:
    """Attention with one thing of it changed."""

    def compute_attention(self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
        scores = query @ key.mT / scale(self)
        return (scores if mask is None else hide(scores, mask)).softmax(dim) @ value

    return compute_attention


def forward(
    order: str = "qkv", *, masked: bool = True, projected: bool = True, biased: bool = True
) -> Callable[..., Any]:
    """The whole module with one thing of it changed; ``order`` says which projection goes where."""

    def forward(self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
        size = query.shape[0]
        parts = {"q": self.query(query), "k": self.key(key), "v": self.value(value)}
        heads = [self.split_heads(parts[name], size) for name in order]
        joined = self.combine_heads(self.compute_attention(*heads, mask if masked else None), size)
        if not projected:
            return joined
        return self.output(joined) if biased else joined @ self.output.weight.T

    return forward


@WAYS
@pytest.mark.parametrize("exercise", NAMES)
def test_the_reference_passes(exercise: str, way: Way) -> None:
    passed = check(exercise, RIGHT, way)
    assert f"{exercise}: {passed.examples} of {passed.examples} visible checks pass." == repr(passed)


def set_to(name: str, value: Any) -> Callable[[Any], object]:
    return lambda module: setattr(module, name, value)


@WAYS
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (set_to("head_dim", 2.0), "expected self.head_dim = 2, got the number 2.0. Whole numbers are"),
        (set_to("num_heads", None), "expected self.num_heads = 3, got nothing: __init__ puts it there."),
        (set_to("d_model", True), "expected self.d_model = 6, got the number True."),
        (
            lambda module: delattr(module, "key"),
            "self.key: expected a linear layer without bias from 6 numbers",
        ),
        (set_to("query", nn.Linear(6, 6)), "got one with a bias: only the output layer has one."),
        (
            set_to("output", nn.Linear(6, 6, bias=False)),
            "expected a linear layer with bias from 6 numbers to 6",
        ),
        (set_to("value", nn.Linear(6, 2, bias=False)), "got a weight of the shape (2, 6)."),
        (set_to("value", nn.Dropout()), "without a weight."),
    ],
)
def test_what_init_leaves_out_or_makes_otherwise_is_named(
    change: Callable[[Any], object], said: str, way: Way
) -> None:
    text = complaint("MultiHeadAttention", built(change), way)
    assert text.startswith("MultiHeadAttention(6, 3)")
    assert said in text


@WAYS
@pytest.mark.parametrize(
    ("exercise", "method", "said"),
    [
        ("split_heads", direct_view, "[batch 0, head 0, seq 1, head_dim 0]"),
        ("split_heads", direct_view, "expected 4, got 2. Head 0 is [[0, 1], [4, 5]]."),
        (
            "split_heads",
            without_transpose,
            "expected the shape (batch=1, heads=2, seq=2, head_dim=2), got the",
        ),
        ("combine_heads", without_transpose, "expected 2, got 4. Token 0 is [0, 1, 2, 3] again."),
        ("compute_attention", attention(lambda self: 1.0), "the weights are [0.75, 0.25]"),
        ("compute_attention", attention(lambda self: self.d_model**0.5), "which of the two sizes goes under"),
        ("compute_attention", attention(dim=-2), "one query and two keys"),
        (
            "compute_attention",
            attention(hide=lambda scores, mask: scores),
            "0 and 1 for all heads of all sequences, of the shape (2, 3): ",
        ),
        ("forward", forward("kqv"), "which layer projects what"),
        ("forward", forward("qvk"), "y = [2, 4] @ wo = [2, 6]"),
        ("forward", forward(masked=False), "does the mask reach compute_attention?"),
        ("forward", forward(masked=False), "If the check of that one does not pass yet, begin there."),
        ("forward", forward(projected=False), "expected 6, got 4"),
        ("forward", forward(biased=False), "The output layer adds its bias at the very end."),
    ],
)
def test_wrong_numbers_are_told_what_differs(exercise: str, method: Any, said: str, way: Way) -> None:
    text = complaint(exercise, grown(**{exercise: method}), way)
    assert text.startswith(exercise)
    assert said in text


@pytest.mark.parametrize(
    ("hide", "said"),
    [
        (
            lambda scores, mask: scores.masked_fill(~mask.bool(), 0.0),
            "0 and 1 for all heads of all sequences",
        ),
        (lambda scores, mask: scores.masked_fill(mask == 1, -torch.inf), "0 and 1 for all heads of all"),
        (lambda scores, mask: hidden(scores, mask if mask.ndim == 2 else mask[0, 0]), "(2, 1, 2, 3)"),
        (lambda scores, mask: hidden(scores, mask if mask.ndim == 2 else mask[:, :1]), "(2, 2, 2, 3)"),
    ],
)
def test_a_mask_of_each_shape_has_an_example_of_its_own(hide: Any, said: str) -> None:
    assert said in complaint("compute_attention", grown(compute_attention=attention(hide=hide)))


ODD_ANSWERS: list[Any] = [
    *(None, True, 3, 2.5, 1j, "text", b"bytes", [1, 2], {}, set(), (), (1,), object(), object, len),
    *(np.float32(1), np.array(1.0), np.zeros((1, 2, 2, 2)), np.zeros((1, 2, 4))),
    *(torch.tensor(1.0), torch.zeros(0), torch.zeros(1, 2, 2, 2), torch.full((1, 2, 4), torch.nan)),
    *(torch.zeros(1, 2, 4, dtype=torch.complex64), torch.zeros(1, 2, 4) > 0),
    torch.zeros(1, 2, 4, dtype=torch.float16),
    *(nn.Linear(2, 2), [torch.zeros(1, 2, 4)], (torch.zeros(1, 2, 4), torch.zeros(2))),
]
#: Tensors that PyTorch does not turn into arrays.
NO_ARRAYS = [
    torch.zeros(1, 2, 4, dtype=torch.bfloat16),
    torch.zeros(1, 2, 4).to_sparse(),
    torch.zeros(1, 2, 4, device="meta"),
]


@WAYS
@pytest.mark.parametrize("exercise", METHODS)
def test_any_odd_answer_leads_to_a_sentence(exercise: str, way: Way) -> None:
    for answer in ODD_ANSWERS:
        text = complaint(exercise, grown(**{exercise: lambda *_, answer=answer: answer}), way)
        assert text.startswith(exercise), answer
        assert ": expected " in text or "numbers are wrong" in text
        assert "Remote" not in text


@WAYS
@pytest.mark.parametrize("exercise", METHODS)
def test_a_tensor_of_half_precision_is_not_said_to_be_none(exercise: str, way: Way) -> None:
    right = getattr(RIGHT, exercise)
    half = grown(**{exercise: lambda self, *args: right(self, *args).half()})
    assert "float16" in complaint(exercise, half, way)


@pytest.mark.parametrize("exercise", METHODS)
def test_a_tensor_that_is_no_array_leads_to_a_sentence_in_the_notebook_and_counts_as_an_error_for_the_judge(
    exercise: str,
) -> None:
    for answer in NO_ARRAYS:
        cls = grown(**{exercise: lambda *_, answer=answer: answer})
        assert "got a Tensor" in complaint(exercise, cls)
        with pytest.raises(StudentRaised):
            check(exercise, cls, by_proxy)


@WAYS
def test_what_is_no_module_leads_to_a_sentence(way: Way) -> None:
    for thing in ODD_ANSWERS:
        for exercise in NAMES:
            text = complaint(exercise, lambda *_, thing=thing: thing, way)
            assert ": expected " in text or "has no method" in text, (thing, text)


@pytest.mark.parametrize("exercise", METHODS[:3])
def test_a_class_that_was_made_anew_is_told_to_run_the_next_cell_again(exercise: str) -> None:
    class MultiHeadAttention(nn.Module):
        def __init__(self, d_model: int, num_heads: int):
            super().__init__()

    assert f"the class has no method {exercise}. Run the cell that adds it, and again" in complaint(
        exercise, MultiHeadAttention
    )


def test_a_method_without_return_is_asked_about_it() -> None:
    for name in METHODS:
        assert "got None (does the function end with `return`?)" in complaint(
            name, grown(**{name: lambda *_: None})
        )


def test_single_precision_in_answer_to_double_is_wrong() -> None:
    def single(self: Any, *args: Any) -> Any:
        return RIGHT.compute_attention(self, *args).float()

    text = complaint("compute_attention", grown(compute_attention=single))
    assert "expected numbers of the type float64, got the type float32" in text


def test_an_error_of_the_students_own_reaches_the_student() -> None:
    def stub(self: Any, *args: Any) -> Any:
        raise NotImplementedError("This function is waiting for you.")

    for name in METHODS:
        with pytest.raises(NotImplementedError, match="waiting for you"):
            check(name, grown(**{name: stub}))


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (
            ModuleNotFoundError("No module named 'torch'", name="torch"),
            "this notebook's Python does not have it.",
        ),
        (ModuleNotFoundError("No module named 'sympy'", name="sympy"), "imported: No module named 'sympy'."),
        (OSError("a library is damaged"), "it cannot be imported: a library is damaged."),
    ],
)
def test_without_pytorch_a_few_lines_say_what_to_install(problem: Exception, said: str) -> None:
    missing = visible_checks.TorchMissing(problem)
    lines = missing._render_traceback_()
    assert str(missing).split() == " ".join(lines).split()
    assert said in str(missing)
    assert "Run `%pip install torch` in a cell of its own" in str(missing)
    assert all(len(line) <= 80 for line in lines)
