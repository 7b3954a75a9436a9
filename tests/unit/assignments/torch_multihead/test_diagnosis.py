"""Follow-through among a class and its four methods, written in cells or in one piece."""

from collections.abc import Callable
from typing import Any

import pytest

CLASS = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.d_model = d_model
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model)
"""
SPLIT = """
@method_of(MultiHeadAttention)
def split_heads(self, x, batch_size):
    return x.view(batch_size, -1, self.num_heads, self.head_dim).transpose(1, 2)
"""
ATTENTION = """
@method_of(MultiHeadAttention)
def compute_attention(self, query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(self.head_dim)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -math.inf)
    return F.softmax(scores, dim=-1) @ value
"""
COMBINE = """
@method_of(MultiHeadAttention)
def combine_heads(self, x, batch_size):
    return x.transpose(1, 2).reshape(batch_size, -1, self.d_model)
"""
FORWARD = """
@method_of(MultiHeadAttention)
def forward(self, query, key, value, mask=None):
    batch_size = query.shape[0]
    q = self.split_heads(self.query(query), batch_size)
    k = self.split_heads(self.key(key), batch_size)
    v = self.split_heads(self.value(value), batch_size)
    x = self.compute_attention(q, k, v, mask)
    return self.output(self.combine_heads(x, batch_size))
"""
CELLS = (CLASS, SPLIT, ATTENTION, COMBINE, FORWARD)
FULL = [3, 3, 6, 2, 8]


@pytest.fixture(scope="module")
def assessing(assessing_of: Callable[[str], Any]) -> Any:
    return assessing_of("torch_multihead")


def scores(results: dict[str, Any]) -> list[float]:
    return [pytest.approx(one.score) for one in results.values()]


def end_to_end(results: dict[str, Any], exercise: str) -> str:
    (row,) = (one for one in results[exercise].checks if one.name == "end_to_end")
    return str(row.message)


def changed(cell: str, old: str, new: str) -> tuple[str, ...]:
    """All cells, of which one has another line."""
    assert cell.count(old) == 1
    return tuple(one.replace(old, new) if one == cell else one for one in CELLS)


def test_a_right_notebook_has_all_points(assessing: Any) -> None:
    results = assessing.notebook(*CELLS)
    assert scores(results) == FULL
    assert {} == assessing.said(results)


def test_a_class_in_one_piece_has_all_points_too(assessing: Any) -> None:
    methods = "".join(
        "\n".join(f"    {line}" for line in cell.splitlines() if not line.startswith("@"))
        for cell in CELLS[1:]
    )
    assert scores(assessing.notebook(CLASS.rstrip("\n") + methods)) == FULL


@pytest.mark.parametrize(
    ("cell", "old", "new", "exercise", "mistake"),
    [
        (SPLIT, ".transpose(1, 2)", "", "split_heads", "not_swapped"),
        (ATTENTION, " / math.sqrt(self.head_dim)", "", "compute_attention", "no_scale"),
        (ATTENTION, "mask == 0, -math.inf", "mask == 0, 0", "compute_attention", "hidden_by_zero"),
        (COMBINE, "reshape", "view", "combine_heads", "view_of_a_transpose"),
        (COMBINE, ".transpose(1, 2)", "", "combine_heads", "not_swapped_back"),
    ],
)
def test_a_wrong_method_costs_its_own_points_only(
    assessing: Any, cell: str, old: str, new: str, exercise: str, mistake: str
) -> None:
    results = assessing.notebook(*changed(cell, old, new))
    assert {exercise: [mistake]} == assessing.said(results)
    others = {name: one.score for name, one in results.items() if name != exercise}
    assert {name: results[name].max_score for name in others} == pytest.approx(others)
    assert results[exercise].score < 3
    assert f"fails only because {exercise} is wrong" in end_to_end(results, "forward")


@pytest.mark.parametrize(
    ("old", "new", "mistake"),
    [
        ("d_model // num_heads", "d_model / num_heads", "float_width"),
        ("self.key = nn.Linear(d_model, d_model, bias=False)", "self.key = self.query", None),
        ("self.head_dim = d_model // num_heads", "self.head_dim = num_heads", None),
        ("self.head_dim = d_model // num_heads", "pass", None),
    ],
)
def test_a_wrong_class_costs_its_own_points_only(
    assessing: Any, old: str, new: str, mistake: str | None
) -> None:
    results = assessing.notebook(*changed(CLASS, old, new))
    assert scores(results)[1:] == FULL[1:]
    assert results["MultiHeadAttention"].score < 3
    if mistake is not None:
        assert [mistake] == assessing.said(results)["MultiHeadAttention"]


def test_nothing_but_the_last_method_has_the_points_of_that_one(assessing: Any) -> None:
    stubs = [
        f"{cell[: cell.index(end)]}{end}\n    raise NotImplementedError\n"
        for cell, end in ((SPLIT, "batch_size):"), (ATTENTION, "None):"), (COMBINE, "batch_size):"))
    ]
    results = assessing.notebook(CLASS, *stubs, FORWARD)
    assert scores(results) == [3, 0, 0, 0, 8]


def test_a_wrong_forward_pass_is_named(assessing: Any) -> None:
    results = assessing.notebook(*changed(FORWARD, "self.value(value)", "self.value(key)"))
    assert {"forward": ["values_of_key"]} == assessing.said(results)
    assert scores(results)[:4] == FULL[:4]


def test_a_tensor_of_half_precision_is_not_said_to_be_none(assessing: Any) -> None:
    join = assessing.changed(COMBINE, "self.d_model)", "self.d_model).half()")
    results = assessing.notebook(CLASS, SPLIT, ATTENTION, join, FORWARD)
    messages = {one.name: one.message for one in results["combine_heads"].checks}
    assert "holds numbers of a type that cannot be compared, such as float16." in messages["joined"]
    assert "got another type, such as float16." in messages["visible"]
    listed = assessing.changed(COMBINE, "return x", "return [x]\n    return x")
    results = assessing.notebook(CLASS, SPLIT, ATTENTION, listed, FORWARD)
    messages = {one.name: one.message for one in results["combine_heads"].checks}
    assert "must be a tensor; it is a list." in messages["joined"]
