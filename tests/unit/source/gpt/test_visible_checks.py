"""The visible checks pass the reference and tell everybody else, in a sentence, what came out differently."""

import ast
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from autograder.assignments.loading import load_modules
from autograder.checking.local import LocalStudent
from autograder.checking.notebook_names import Name

ROOT = Path(__file__).parents[4]
SOURCE, REFERENCE = ROOT / "source" / "gpt", ROOT / "solutions" / "gpt.py"
NAMES = ("CausalMask", "MultiHeadAttention", "build_gpt")

Namespace = dict[str, Any]
Way = Callable[[Namespace, str], Any]


def direct(namespace: Namespace, name: str) -> Any:
    return namespace[name]


def by_proxy(namespace: Namespace, name: str) -> Any:
    """As the judge uses it: arrays are copied, objects stay behind a window."""
    return Name(LocalStudent(namespace), name)


WAYS = pytest.mark.parametrize("way", [direct, by_proxy], ids=["in the notebook", "by the judge"])


@pytest.fixture(scope="module")
def loaded() -> tuple[ModuleType, ModuleType]:
    """The visible checks and the reference, with the same library."""
    visible, reference = load_modules([SOURCE / "visible_checks.py", REFERENCE], helpers=SOURCE)
    return visible, reference


@pytest.fixture
def visible(loaded: tuple[ModuleType, ModuleType], monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(loaded[0].milestones, "done", set())
    return loaded[0]


@pytest.fixture
def right(loaded: tuple[ModuleType, ModuleType]) -> Namespace:
    """What the reference's module defines, and what it imports."""
    return dict(vars(loaded[1]))


Check = Callable[..., Any]


@pytest.fixture
def check(visible: ModuleType) -> Check:
    """Calls a visible check with names of a namespace."""

    def run(exercise: str, namespace: Namespace, way: Way = direct) -> Any:
        target = getattr(visible, f"check_{exercise}")
        return target(*(way(namespace, name) for name in inspect.signature(target).parameters))

    return run


@pytest.fixture
def complaint(check: Check, visible: ModuleType) -> Callable[..., str]:
    """What a visible check says of a namespace that is wrong."""

    def run(exercise: str, namespace: Namespace, way: Way = direct) -> str:
        with pytest.raises(visible.CheckFailed) as caught:
            check(exercise, namespace, way)
        return str(caught.value)

    return run


def changed(right: Namespace, *changes: tuple[str, str]) -> Namespace:
    """The reference with some of its text replaced."""
    text = REFERENCE.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    namespace = {name: value for name, value in right.items() if not name.startswith("__")}
    # Its imports are there already: another copy of the library would have classes of its own.
    body = [one for one in ast.parse(text).body if not isinstance(one, ast.Import | ast.ImportFrom)]
    exec(compile(ast.Module(body, []), "changed", "exec"), namespace)
    return namespace


@WAYS
@pytest.mark.parametrize(("exercise", "examples"), list(zip(NAMES, (2, 3, 3), strict=True)))
def test_the_reference_passes(exercise: str, examples: int, way: Way, check: Check, right: Namespace) -> None:
    passed = check(exercise, right, way)
    assert f"{exercise}: {examples} of {examples} visible checks pass." == repr(passed)


MASK = "np.tri(x.shape[-1], dtype=bool)"
RESULT = "np.where(allowed, x.data, x.data.dtype.type(FORBIDDEN))"
BACK = "np.where(allowed, grad, grad.dtype.type(0))"


@WAYS
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (MASK, MASK + ".T", "forward: 6 of 9 entries"),
        (
            MASK,
            "np.tri(x.shape[-1], k=-1, dtype=bool)",
            "first at [query 0, key 0] in the shape (query=3, key=3)",
        ),
        ("FORBIDDEN = -1e9", "FORBIDDEN = -1e-9", "expected -1e+09, got -1e-09"),
        (RESULT, "np.where(allowed, 2 * x.data, FORBIDDEN)", "kept scores: 6 of 9 numbers are wrong"),
        (
            RESULT,
            RESULT + "\n        x.data[~np.broadcast_to(allowed, x.shape)] = 0",
            "must stay as they are",
        ),
        (
            RESULT,
            "x.data * allowed + ~allowed * np.float64(FORBIDDEN)",
            "the type float32: expected this type, got f",
        ),
        (BACK, "grad", "gradient: 3 of 9 numbers are wrong, the first at [query 0, key 1]"),
        ("record(result, (x,), pull_back)", "Tensor(result)", "forgot how it was computed"),
        (
            "record(result, (x,), pull_back)",
            "result",
            "expected a Tensor, got an array of the shape (3, 3): comp",
        ),
        (
            "return record(result, (x,), pull_back)",
            "pass",
            "expected a Tensor, got None (does the function end",
        ),
    ],
)
def test_a_wrong_mask_is_told_what_differs(
    old: str, new: str, said: str, way: Way, complaint: Callable[..., str], right: Namespace
) -> None:
    text = complaint("CausalMask", changed(right, (old, new)), way)
    assert text.startswith("CausalMask, ")
    assert said.replace("entries", "numbers") in text


SPLIT = "x.reshape(batch, seq, self.heads, d_model // self.heads).transpose(0, 2, 1, 3)"
TWO_HEADS = "MultiHeadAttention(8, 2, rng), three tokens"


@WAYS
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (SPLIT, "x.reshape(batch, self.heads, seq, d_model // self.heads)", TWO_HEADS),
        ("1 / math.sqrt(q.shape[-1])", "1 / math.sqrt(x.shape[-1])", "divided by the root of d = 4."),
        ("self.mask(scores)", "scores", "token 1 cannot see whom it asks for"),
        ("self.heads = heads", "self.heads = 1", f"{TWO_HEADS}"),
        ("return self.output(joined)", "return joined", "MultiHeadAttention(4, 1, rng)"),
        ("self._split(self.key(x))", "self._split(self.query(x))", "MultiHeadAttention(4, 1, rng)"),
        (
            "weights = self.softmax(self.mask(scores))",
            "weights = Tensor(self.softmax(self.mask(scores)).data)",
            "no gradient reached self.query.weight. Numbers that are taken out",
        ),
        (
            "return self.output(joined)",
            "return Tensor(self.output(joined).data)",
            "forgot how it was computed",
        ),
        (
            "return self.output(joined)",
            "return self.output(joined).data",
            "got an array of the shape (1, 3, 4)",
        ),
        (BACK, "np.where(allowed, 2 * grad, 0)", "the gradient of x: "),
        (
            "self.query = Linear(d_model, d_model, rng)",
            "self.query = Linear(d_model, d_model // heads, rng)",
            "self.query: expected Linear(8, 8, rng), got a weight of the shape (8, 4): all heads",
        ),
        ("self.value = ", "self.values = ", "self.value: expected Linear(4, 4, rng), got nothing: __init__"),
        ("self.output = Linear(d_model, d_model, rng)", "self.output = [1]", "got a list."),
    ],
)
def test_a_wrong_layer_is_told_what_differs(
    old: str, new: str, said: str, way: Way, complaint: Callable[..., str], right: Namespace
) -> None:
    changes = [(old, new)]
    if "self.values" in new:
        changes.append(("self.value(x)", "self.values(x)"))
    assert said in complaint("MultiHeadAttention", changed(right, *changes), way)


@WAYS
@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda right, args: None, "expected a Model, got None (does the function end with `return`?)"),
        (lambda right, args: right["build_gpt"], "expected a Model, got a function."),
        (lambda right, args: right["build_gpt"](args[0], 1, args[2]), "with 1 and with 2 heads say the same"),
        (lambda right, args: right["build_gpt"](64, *args[1:]), "parameters, got the number 109760."),
        (lambda right, args: with_blocks(right, 3), "expected 109889 parameters, got the number 159617."),
    ],
)
def test_a_wrong_model_is_told_what_differs(
    made: Callable[..., Any], said: str, way: Way, complaint: Callable[..., str], right: Namespace
) -> None:
    namespace = {**right, "build_gpt": lambda *args: made(right, args)}
    text = complaint("build_gpt", namespace, way)
    assert text.startswith("build_gpt")
    assert said in text


def with_blocks(right: Namespace, blocks: int) -> Any:
    """A model with another number of blocks."""
    return right["Model"](
        65, make_attention=lambda d_model, rng: right["MultiHeadAttention"](d_model, 1, rng), blocks=blocks
    )


ODD_ANSWERS: list[Any] = [
    *(None, True, 3, 2.5, 1j, "text", b"bytes", [1, 2], {}, {"data": 1}, set(), (), (1,), (1, 2), object()),
    *(object, len, np.float32(1), np.array(1.0), np.zeros((1, 3, 4)), np.array([None]), np.ma.masked_all(3)),
]


@WAYS
@pytest.mark.parametrize("exercise", NAMES)
@pytest.mark.parametrize("answer", ODD_ANSWERS, ids=lambda one: ascii(one).partition(" at 0x")[0][:40])
def test_any_odd_answer_leads_to_a_sentence(
    answer: Any, exercise: str, way: Way, complaint: Callable[..., str], right: Namespace
) -> None:
    odd: Any = lambda *_: answer  # noqa: E731
    if exercise != "build_gpt":
        odd = type("Odd", (right[exercise],), {"forward": odd})
    text = complaint(exercise, {**right, exercise: odd}, way)
    assert text.startswith(exercise)
    assert ": expected a " in text
    assert "Remote" not in text


@pytest.mark.parametrize("name", ["visible_checks", "gpt_examples", "tensor_outcomes"])
def test_numpy_is_all_that_is_needed(name: str) -> None:
    tree = ast.parse((SOURCE / f"{name}.py").read_text(encoding="utf-8"))
    imported = {
        alias.name if isinstance(node, ast.Import) else str(node.module)
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    beside = {path.stem for path in SOURCE.glob("*.py")}
    assert imported - beside - sys.stdlib_module_names <= {"numpy"}


def test_the_numbers_written_down_are_those_of_multi_head_attention_in_numpy() -> None:
    import gpt_examples
    import multihead

    for example in gpt_examples.forward_examples():
        y, cache = multihead.multihead(example.x, example.params, example.heads, example.allowed)
        assert example.y == pytest.approx(y, abs=1e-6)
        if example.heads == 2:
            dy, expected = gpt_examples.way_back()
            dx, _ = multihead.multihead_backward(cache, example.params, dy)
            assert expected == pytest.approx(dx, abs=1e-6)


def test_a_check_whose_outcome_nobody_shows_prints_nothing_and_keeps_nothing(
    check: Check, visible: ModuleType, right: Namespace, capsys: pytest.CaptureFixture[str]
) -> None:
    for exercise in NAMES:
        check(exercise, right)
    assert (set(), "") == (visible.milestones.done, capsys.readouterr().out)
    check("CausalMask", right)._ipython_display_()
    assert "Milestone: 1 of 3 done; next: MultiHeadAttention." in capsys.readouterr().out
