"""The checks that you see while you work: examples small enough to be followed by hand.

Each ``check_...`` function uses your class or function and compares what comes back with known numbers; how
it does so, and what it says, stands in ``outcomes.py`` and ``tensor_outcomes.py``. More checks, with other
sizes and numbers, run when the notebook is graded. Nothing is computed before a check is called.

A check also takes other names of the notebook, ``Tensor`` and ``np``: it makes its tensors and random numbers
where your code runs.
"""

from typing import TYPE_CHECKING, Any

from gpt_examples import HIDDEN, PARTS, MaskExample, characters, forward_examples, mask_examples, way_back
from layer_examples import ForwardExample
from outcomes import (
    X_AXES,
    CheckFailed,
    Milestones,
    Passed,
    StudentFunction,
    compare,
    describe,
    fail,
    wrong_places,
)
from tensor_outcomes import called, gradient, linear, numbers, put, walk_back
from worked_examples import weights_of_three_tokens

if TYPE_CHECKING:
    from pictures import Picture

__all__ = ["CheckFailed"]  # what a failing check raises

milestones = Milestones(("CausalMask", "MultiHeadAttention", "build_gpt"), last="the experiment")

#: How many characters the vocabulary of the lesson has, and how many parameters that gives the model.
VOCABULARY, PARAMETERS = 65, 109_889
SCORES_SHAPE = (4, 32, VOCABULARY)


def check_CausalMask(CausalMask: StudentFunction, Tensor: StudentFunction) -> Passed:  # noqa: N802 (its name)
    """Scores of three tokens, then of two tokens in two heads, forward and back; and scores in float32."""
    __tracebackhide__ = True
    milestones.begin("CausalMask")
    examples = mask_examples()
    for example in examples:
        _check_mask(CausalMask(), Tensor(example.scores.copy(), requires_grad=True), example)
    what = "CausalMask, scores of the type float32"
    got = numbers(what, called(what, CausalMask(), Tensor(examples[0].scores.astype("float32"))))
    if got.dtype != "float32":
        fail(what, f"expected this type, got {got.dtype}.")
    return Passed("CausalMask", len(examples), milestones)


def check_MultiHeadAttention(  # noqa: N802 (its name)
    MultiHeadAttention: StudentFunction, Tensor: StudentFunction, np: Any
) -> Passed:
    """Three tokens with three roles, then three tokens in 2 and in 4 heads; and the way back through two."""
    __tracebackhide__ = True
    milestones.begin("MultiHeadAttention")
    examples = forward_examples()
    for example in examples:
        d_model = example.x.shape[-1]
        what = f"MultiHeadAttention({d_model}, {example.heads}, rng)"
        layer = MultiHeadAttention(d_model, example.heads, np.random.default_rng(0))
        weights = _set_parameters(what, layer, example)
        x = Tensor(example.x.copy(), requires_grad=True)
        what = f"{what}, {example.name}"
        y = called(what, layer, x)
        compare(f"{what}, y", numbers(what, y), example.y, X_AXES, _hint(example))
        if example.heads == 2:
            _check_way_back(what, x, y, weights)
    return Passed("MultiHeadAttention", len(examples), milestones, _weights)


def check_build_gpt(build_gpt: StudentFunction, np: Any) -> Passed:
    """The lesson's model with 1, 2 and 8 heads: its scores, and how many parameters it has."""
    __tracebackhide__ = True
    milestones.begin("build_gpt")
    said = {}
    for heads in (1, 2, 8):
        what = f"build_gpt({VOCABULARY}, {heads}, rng)"
        model = build_gpt(VOCABULARY, heads, np.random.default_rng(42))
        if not (hasattr(model, "count") and hasattr(model, "attention_layers")):
            fail(what, f"expected a Model, got {describe(model)}.")
        count = called(f"{what}.count", getattr(model, "count", None))
        if not isinstance(count, int) or count != PARAMETERS:
            fail(what, f"expected {PARAMETERS} parameters, got {describe(count)}.")
        what = f"{what}, called with characters of the shape (4, 32)"
        said[heads] = numbers(what, called(what, model, characters()))
        if said[heads].shape != SCORES_SHAPE or said[heads].dtype.kind != "f":
            fail(what, f"expected scores of the shape {SCORES_SHAPE}, got {describe(said[heads])}.")
    if not wrong_places(said[1], said[2]).any():
        fail("build_gpt", "the models with 1 and with 2 heads say the same: does each layer get its heads?")
    return Passed("build_gpt", len(said), milestones)


def _check_mask(mask: Any, scores: Any, example: MaskExample) -> None:
    """Raise CheckFailed unless the scores are masked, stay as they were, and let the right gradients pass."""
    __tracebackhide__ = True
    what = f"CausalMask, {example.name}"
    masked = called(what, mask, scores)
    got = numbers(what, masked)
    hint = (
        "Rows are queries, columns are keys: a query sees itself and what came before; -1e9 hides the rest."
    )
    compare(f"{what}, forward", got, example.masked, example.axes, hint)
    kept = example.masked > HIDDEN  # beside -1e9 every other number counts as small
    hint = "What a query may look at keeps its score."
    compare(f"{what}, kept scores", got * kept, example.masked * kept, example.axes, hint)
    hint = "The scores that came in must stay as they are: write into a new array."
    after = numbers(f"{what}, the scores after the call", scores)
    compare(f"{what}, the scores after the call", after, example.scores, example.axes, hint)
    walk_back(what, masked, example.dy, "Make it with record(result, (x,), pull_back).")
    hint = "A gradient passes where the score was kept, and is 0 where it was hidden."
    compare(f"{what}, gradient", gradient(what, scores, "the scores"), example.dx, example.axes, hint)


def _set_parameters(what: str, layer: Any, example: ForwardExample) -> dict[str, Any]:
    """Give the layer the example's matrices and biases of 0; returns its weights.

    Raises CheckFailed unless the layer takes them.
    """
    d_model, weights = example.x.shape[-1], {}
    for name, key in PARTS.items():
        weights[name], bias = linear(what, layer, name, d_model)
        put(f"{what}, self.{name}.weight", weights[name], example.params[key])
        put(f"{what}, self.{name}.bias", bias, 0 * example.x[0, 0])
    return weights


def _check_way_back(what: str, x: Any, y: Any, weights: dict[str, Any]) -> None:
    """Raise CheckFailed unless gradients reach every matrix, and the right one reaches x."""
    __tracebackhide__ = True
    dy, dx = way_back()
    walk_back(what, y, dy, "Compute with tensors from x to y.")
    for name, weight in weights.items():
        gradient(what, weight, f"self.{name}.weight")
    hint = "The way forward is right: look at the way back of your mask, and at what left the graph."
    compare(f"{what}, the gradient of x", gradient(what, x, "x"), dx, X_AXES, hint)


def _hint(example: ForwardExample) -> str:
    """What to look at when the numbers of an example are wrong."""
    if example.heads == 1:
        return example.hint
    return (
        f"Each head has scores of its own, of the shape (B, H, T, T) = (1, {example.heads}, 3, 3), and they "
        f"are divided by the root of d = {example.x.shape[-1] // example.heads}."
    )


def _weights() -> "Picture":
    from pictures import weights  # noqa: PLC0415 - see outcomes.py

    title = "What each head listens to: the weights of the three tokens under the causal mask"
    tables = {f"{n} head{'s' if n > 1 else ''}": table for n, table in weights_of_three_tokens().items()}
    return weights(tables, title)
