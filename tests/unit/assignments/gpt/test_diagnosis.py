"""Follow-through between two layers and a model, and what is said of mistakes in them."""

from collections.abc import Callable
from typing import Any

import pytest

MASK = """
class CausalMask(Layer):
    def forward(self, x):
        allowed = np.tri(x.shape[-1], dtype=bool)
        result = np.where(allowed, x.data, x.data.dtype.type(-1e9))
        return record(result, (x,), lambda grad: (np.where(allowed, grad, grad.dtype.type(0)),))
"""
ATTENTION = """
class MultiHeadAttention(Composite):
    def __init__(self, d_model, heads, rng):
        super().__init__()
        if heads < 1 or d_model % heads:
            raise ValueError("heads must divide d_model")
        self.heads = heads
        self.query = Linear(d_model, d_model, rng)
        self.key = Linear(d_model, d_model, rng)
        self.value = Linear(d_model, d_model, rng)
        self.output = Linear(d_model, d_model, rng)
        self.mask = CausalMask()
        self.softmax = Softmax()

    def split(self, x):
        batch, seq, d_model = x.shape
        return x.reshape(batch, seq, self.heads, d_model // self.heads).transpose(0, 2, 1, 3)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
        weights = self.softmax(self.mask(scores))
        self.weights = weights.data
        return self.output((weights @ v).transpose(0, 2, 1, 3).reshape(*x.shape))
"""
MODEL = """
def build_gpt(vocabulary, heads, rng):
    return Model(vocabulary, make_attention=lambda d, rng: MultiHeadAttention(d, heads, rng), seed=rng)
"""
CELLS = (MASK, ATTENTION, MODEL)
NOT_WRITTEN = "raise NotImplementedError"


@pytest.fixture(scope="module")
def assessing(assessing_of: Callable[[str], Any]) -> Any:
    return assessing_of("gpt")


def test_a_right_notebook_has_all_points(assessing: Any) -> None:
    results = assessing.notebook(*CELLS)
    assert assessing.scores(results) == [4, 12, 4]
    assert {} == assessing.said(results)
    assert assessing.end_to_end(results, "build_gpt") == (
        "build_gpt works together with your own CausalMask and MultiHeadAttention."
    )


@pytest.mark.parametrize(
    ("new", "said"), [("np.tri(x.shape[-1], k=-1, dtype=bool)", "diagonal_hidden"), (NOT_WRITTEN, None)]
)
def test_a_wrong_mask_costs_its_own_points_only(assessing: Any, new: str, said: str | None) -> None:
    old = "np.tri(x.shape[-1], dtype=bool)"
    mask = assessing.changed(MASK, f"allowed = {old}", new if said is None else f"allowed = {new}")
    results = assessing.notebook(mask, *CELLS[1:])
    assert ({} if said is None else {"CausalMask": [said]}) == assessing.said(results)
    assert results["CausalMask"].score < 1
    assert assessing.scores(results)[1:] == [12, 4]
    for name in ("MultiHeadAttention", "build_gpt"):
        assert "fails only because CausalMask is wrong" in assessing.end_to_end(results, name)


def test_a_wrong_layer_leaves_the_model_its_points(assessing: Any) -> None:
    layer = assessing.changed(ATTENTION, "q.shape[-1])", "self.heads * q.shape[-1])")
    results = assessing.notebook(MASK, layer, MODEL)
    assert {"MultiHeadAttention": ["scaled_by_all_channels"]} == assessing.said(results)
    assert assessing.scores(results)[2:] == [4]
    assert "fails only because MultiHeadAttention is wrong" in assessing.end_to_end(results, "build_gpt")


def test_a_layer_that_is_not_written_leaves_the_others_their_points(assessing: Any) -> None:
    results = assessing.notebook(MASK, assessing.changed(ATTENTION, "self.heads = heads", NOT_WRITTEN), MODEL)
    assert assessing.scores(results) == [4, 0, 4]
    message = results["MultiHeadAttention"].checks[0].message
    assert "MultiHeadAttention is not written yet, or calls a function that is not." == message


@pytest.mark.parametrize("answer", ["x", "self.output(x)", "self.value(x) * 0.0", "self.query(self.key(x))"])
def test_a_layer_that_gathers_nothing_earns_nothing(assessing: Any, answer: str) -> None:
    lines = ATTENTION.splitlines()
    begin = next(number for number, line in enumerate(lines) if "def forward" in line)
    layer = "\n".join([*lines[: begin + 1], f"        return {answer}"])
    assert assessing.scores(assessing.notebook(MASK, layer, MODEL)) == [4, 0, 4]


def test_a_layer_that_is_wrong_beside_a_wrong_mask_is_named_too(assessing: Any) -> None:
    mask = assessing.changed(MASK, "np.tri(x.shape[-1], dtype=bool)", "np.tri(x.shape[-1], k=1, dtype=bool)")
    layer = assessing.changed(ATTENTION, "self.split(self.key(x))", "self.split(self.query(x))")
    results = assessing.notebook(mask, layer, MODEL)
    said = assessing.said(results)
    assert {"CausalMask": ["one_ahead"], "MultiHeadAttention": ["keys_by_the_query_layer"]} == said
    assert assessing.scores(results)[2:] == [4]


#: What a student's line becomes, and what is said of it.
NAMED = {
    (MASK, "np.where(allowed, grad, grad.dtype.type(0))", "grad"): "gradient_everywhere",
    (MASK, "x.data.dtype.type(-1e9)", "x.data.dtype.type(0)"): "zero_hides",
    (ATTENTION, ".transpose(0, 2, 1, 3).reshape(*x.shape)", ".reshape(*x.shape)"): "joined_without_the_swap",
    (ATTENTION, "self.softmax(self.mask(scores))", "self.softmax(scores)"): "mask_left_out",
    (ATTENTION, "q @ k.swapaxes(-1, -2) /", "Tensor(q.data @ k.data.swapaxes(-1, -2)) /"): (
        "scores_outside_the_graph"
    ),
    (
        ATTENTION,
        "d_model // self.heads).transpose(0, 2, 1, 3)",
        "d_model // self.heads).swapaxes(1, 2)",
    ): None,
    (
        ATTENTION,
        "if heads < 1 or d_model % heads:",
        "if heads == 0 or d_model % heads:",
    ): "negative_heads_pass",
    (MODEL, "MultiHeadAttention(d, heads, rng)", "MultiHeadAttention(d, 2, rng)"): "always_two_heads",
    (MODEL, ", seed=rng", ""): "rng_not_used",
}


@pytest.mark.parametrize(("change", "said"), NAMED.items(), ids=[new for _, _, new in NAMED])
def test_a_mistake_is_named(assessing: Any, change: tuple[str, str, str], said: str | None) -> None:
    cell = assessing.changed(*change)
    results = assessing.notebook(*(cell if one == change[0] else one for one in CELLS))
    found = [one for several in assessing.said(results).values() for one in several]
    assert ([] if said is None else [said]) == found


#: What a student's line becomes, and what is seen of it.
SEEN = {
    (ATTENTION, "math.sqrt(q.shape[-1])", "math.sqrt(4 * q.shape[-1])"): (
        "if all scores are 1/2 times as large as they should be."
    ),
    (ATTENTION, "self.split(self.query(x))", "self.split(x)"): "whatever the weight of self.query is.",
    (ATTENTION, "(weights @ v)", "(weights @ v - v + Tensor(v.data))"): (
        "the gradients at x and self.value are wrong or missing, those at self.query, self.key and "
        "self.output are right."
    ),
    (ATTENTION, "return self.output", "return -self.output"): "y is the right one times -1",
}


@pytest.mark.parametrize(("change", "sentence"), SEEN.items(), ids=[new for _, _, new in SEEN])
def test_what_nobody_has_made_before_is_described(
    assessing: Any, change: tuple[str, str, str], sentence: str
) -> None:
    assert sentence in assessing.seen(CELLS, change)
