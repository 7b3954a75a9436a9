"""Mistakes in what surrounds the steps of ``MultiHeadAttention``: the graph, its parts, its memory."""

import math
from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.mistakes import MistakeSet

from .steps import layer, steps

mistakes = MistakeSet("MultiHeadAttention")


@mistakes.add(hint="Which line computes with .data?", seen="hashintel/aprender#2203")
def scores_outside_the_graph(right: ModuleType, *size: Any) -> Any:
    """Scores may be computed with arrays and put into a tensor at the end."""

    def scores(self: Any, q: Any, k: Any) -> Any:
        return right.Tensor(q.data @ k.data.swapaxes(-1, -2) / np.sqrt(q.data.dtype.type(q.shape[-1])))

    return layer(right, size, scores=scores)


@mistakes.add(hint="Which line computes with .data?", seen="hashintel/aprender#2203")
def values_outside_the_graph(right: ModuleType, *size: Any) -> Any:
    """The values are only numbers to be gathered."""
    return layer(right, size, gather=lambda self, shares, v: shares @ v.data)


@mistakes.add(hint="Which line computes with .data?", seen="hashintel/aprender#2203")
def joined_outside_the_graph(right: ModuleType, *size: Any) -> Any:
    """Heads may be put together with NumPy, since no number changes."""

    def merge(self: Any, gathered: Any, x: Any) -> Any:
        return right.Tensor(gathered.data.transpose(0, 2, 1, 3).reshape(x.shape))

    return layer(right, size, merge=merge)


@mistakes.add(hint="Does a key get a gradient, too?", seen="courses")
def keys_outside_the_graph(right: ModuleType, *size: Any) -> Any:
    """Keys are looked at and not changed, so they need no gradient."""

    def project(self: Any, x: Any) -> Any:
        return (
            self.split(self.query(x)),
            self.split(right.Tensor(self.key(x).data)),
            self.split(self.value(x)),
        )

    return layer(right, size, project=project)


@mistakes.add(hint="Which call tells the tensor that comes in what became of it?", seen="courses")
def input_outside_the_graph(right: ModuleType, *size: Any) -> Any:
    """The layer begins with a tensor of its own, made of the numbers that come in."""

    class Apart(right.MultiHeadAttention):  # type: ignore[misc, name-defined]
        """The layer on a copy of x."""

        def forward(self, x: Any) -> Any:
            return super().forward(right.Tensor(x.data))

    return Apart(*size)


@mistakes.add(hint="What must the next layer be able to send back?", seen="courses")
def array_returned(right: ModuleType, *size: Any) -> Any:
    """The array in the tensor is the answer."""
    return layer(right, size, answer=lambda self, joined, x: self.output(joined).data)


@mistakes.add(hint="Print the dtype after each step, for an x of float32.", seen="courses")
def made_float64(right: ModuleType, *size: Any) -> Any:
    """Numbers are best kept in full precision."""

    def scores(self: Any, q: Any, k: Any) -> Any:
        return (q / np.sqrt(np.array([q.shape[-1]], dtype=np.float64))) @ k.swapaxes(-1, -2)

    return layer(right, size, scores=scores)


@mistakes.add(hint="What is exp(10000)?", seen="pytorch/executorch#18407")
def softmax_without_maximum(right: ModuleType, *size: Any) -> Any:
    """Powers divided by their sum are a softmax, whatever the scores are."""

    def shares(self: Any, scores: Any) -> Any:
        masked = self.mask(scores)
        with np.errstate(all="ignore"):
            powers = np.exp(masked.data)
            y = powers / powers.sum(axis=-1, keepdims=True)

        def pull_back(grad: Any) -> Any:
            return (y * (grad - (y * grad).sum(axis=-1, keepdims=True)),)

        return right.record(y, (masked,), pull_back)

    return layer(right, size, shares=shares)


@mistakes.add(hint="Which score can an allowed key have?", seen="courses")
def hidden_by_minus_hundred(right: ModuleType, *size: Any) -> Any:
    """Minus a hundred is far enough below every score."""

    def shares(self: Any, scores: Any) -> Any:
        allowed = np.tri(scores.shape[-1], dtype=bool)
        number = scores.data.dtype.type(-100)
        masked = right.record(np.where(allowed, scores.data, number), (scores,), lambda g: (g * allowed,))
        return self.softmax(masked)

    return layer(right, size, shares=shares)


@mistakes.add(hint="What is a derivative of the softmax where i and j differ?", seen="KonduitAI/libnd4j#440")
def softmax_derivative_of_the_diagonal(right: ModuleType, *size: Any) -> Any:
    """The derivative of a share is share times one minus share."""

    def shares(self: Any, scores: Any) -> Any:
        masked = self.mask(scores)
        y = self.softmax(right.Tensor(masked.data)).data
        return right.record(y, (masked,), lambda grad: (grad * y * (1 - y),))

    return layer(right, size, shares=shares)


@mistakes.add(hint="Where are the weights after a call?", seen="courses")
def weights_not_kept(right: ModuleType, *size: Any) -> Any:
    """The weights are needed for the answer alone."""
    return layer(right, size, keep=lambda self, shares: None)


@mistakes.add(hint="Is what you keep an array?", seen="courses")
def weights_kept_as_a_tensor(right: ModuleType, *size: Any) -> Any:
    """The weights are kept as they are computed, with their history."""

    def keep(self: Any, shares: Any) -> None:
        self.weights = shares

    return layer(right, size, keep=keep)


@mistakes.add(
    hint="Which of your variables holds weights, and which scores?", seen="ethen8181/machine-learning#13"
)
def scores_kept_as_weights(right: ModuleType, *size: Any) -> Any:
    """What is kept are the scores before the softmax."""

    def shares(self: Any, scores: Any) -> Any:
        self.weights = scores.data
        return self.softmax(self.mask(scores))

    return layer(right, size, shares=shares, keep=lambda self, shares: None)


@mistakes.add(hint="How many tables of weights are there?", seen="courses")
def mean_of_the_heads_kept(right: ModuleType, *size: Any) -> Any:
    """One table shows what all heads look at, on average."""

    def keep(self: Any, shares: Any) -> None:
        self.weights = shares.data.mean(axis=1)

    return layer(right, size, keep=keep)


@mistakes.add(hint="Count the parameters of the layer, in one head and in four.", seen="courses")
def weights_for_each_head(right: ModuleType, d_model: int, heads: int, rng: Any) -> Any:
    """Every head has a query layer of its own, as wide as the whole."""
    made = right.MultiHeadAttention(d_model, heads, rng)
    made.more = [right.Linear(d_model, d_model, rng) for _ in range(heads - 1)]
    return made


@mistakes.add(hint="What looks like a parameter to Composite?", seen="courses")
def mask_as_a_parameter(right: ModuleType, d_model: int, heads: int, rng: Any) -> Any:
    """The table that hides what comes later is kept as a tensor that can be trained."""
    made = right.MultiHeadAttention(d_model, heads, rng)
    made.table = right.Tensor(np.tri(32), requires_grad=True)
    return made


@mistakes.add(hint="From how many numbers to how many does each projection lead?", seen="courses")
def narrow_projections(right: ModuleType, d_model: int, heads: int, rng: Any) -> Any:
    """The first three layers lead to the numbers of one head."""
    made = right.MultiHeadAttention(d_model, heads, rng)
    for name in ("query", "key", "value"):
        setattr(made, name, right.Linear(d_model, d_model // heads, rng))
    return made


@mistakes.add(hint="Change the weight of the query layer: does that of the keys change, too?", seen="courses")
def one_layer_under_three_names(right: ModuleType, d_model: int, heads: int, rng: Any) -> Any:
    """One linear layer can be query, key and value at once."""
    made = right.MultiHeadAttention(d_model, heads, rng)
    made.query = made.key = made.value
    return made


@mistakes.add(hint="In which order do the four layers draw their first numbers?", seen="courses")
def output_layer_made_first(right: ModuleType, d_model: int, heads: int, rng: Any) -> Any:
    """The order in which the layers are made does not matter."""
    made = right.MultiHeadAttention(d_model, heads, rng)
    made.query, made.key, made.value, made.output = made.key, made.value, made.output, made.query
    return made


@mistakes.add(hint="Where do the first numbers of your layers come from?", seen="courses")
def generator_of_its_own(right: ModuleType, d_model: int, heads: int, rng: Any) -> Any:
    """A layer makes its own random numbers."""
    return right.MultiHeadAttention(d_model, heads, np.random.default_rng(0))


@mistakes.form("generator_of_its_own")
def zeros_to_begin_with(right: ModuleType, d_model: int, heads: int, rng: Any) -> Any:
    """All weights begin with zero."""
    made = right.MultiHeadAttention(d_model, heads, rng)
    for name, parameter in made.parameters().items():
        parameter.data = np.zeros_like(parameter.data) if name != "output.weight" else parameter.data
    return made


@mistakes.add(hint="How many channels does each of 5 heads get from 12?", seen="vipshop/cache-dit#581")
def heads_that_do_not_divide_pass(right: ModuleType, d_model: int, heads: int, rng: Any) -> Any:
    """What is left over when the channels are divided can be left out."""
    if heads < 1:
        raise ValueError("heads must be positive")
    return right.MultiHeadAttention(d_model, heads if d_model % heads == 0 else 1, rng)


@mistakes.add(hint="What is 12 % -3?", seen="courses")
def negative_heads_pass(right: ModuleType, d_model: int, heads: int, rng: Any) -> Any:
    """A remainder of 0 says that a number of heads is fine."""
    return right.MultiHeadAttention(d_model, abs(heads), rng)


@mistakes.add(hint="Which exception does the task name?", seen="courses")
def bad_heads_asserted(right: ModuleType, d_model: int, heads: int, rng: Any) -> Any:
    """An assert says what went wrong."""
    try:
        return right.MultiHeadAttention(d_model, heads, rng)
    except ValueError:
        raise AssertionError from None


@mistakes.add(hint="What does d_model % 0 raise?", seen="courses")
def zero_heads_divide_by_zero(right: ModuleType, d_model: int, heads: int, rng: Any) -> Any:
    """Python itself complains about zero heads."""
    if heads == 0:
        raise ZeroDivisionError
    return right.MultiHeadAttention(d_model, heads, rng)


@mistakes.add(hint="Call your layer with a text of 3 tokens, then with one of 5.", seen="courses")
def sizes_of_the_first_call(right: ModuleType, *size: Any) -> Any:
    """Batch and length are noted at the first call and hold for all others."""

    def merge(self: Any, gathered: Any, x: Any) -> Any:
        self.noted = getattr(self, "noted", x.shape)
        return gathered.transpose(0, 2, 1, 3).reshape(*self.noted)

    return layer(right, size, merge=merge)


@mistakes.add(hint="Call your layer with a text of 3 tokens, then with one of 5.", seen="courses")
def triangle_of_the_first_text(right: ModuleType, *size: Any) -> Any:
    """The table that hides what comes later is made for the first text and serves all others."""

    def shares(self: Any, scores: Any) -> Any:
        self.noted = getattr(self, "noted", scores.shape[-1])
        allowed = np.tri(self.noted, dtype=bool)[: scores.shape[-1], : scores.shape[-1]]
        wide = np.pad(allowed, [(0, scores.shape[-1] - len(allowed))] * 2, constant_values=True)
        number = scores.data.dtype.type(-1e9)
        masked = right.record(np.where(wide, scores.data, number), (scores,), lambda g: (g * wide,))
        return self.softmax(masked)

    return layer(right, size, shares=shares)


@mistakes.add(
    stateful=True, hint="Make a layer with 2 heads, then one with 4, and call the first.", seen="courses"
)
def heads_shared_by_all_layers(right: ModuleType) -> Any:
    """The number of heads is kept where all layers find it."""
    kept: dict[str, int] = {}

    class Shared(steps(right)):  # type: ignore[misc]
        """A layer whose heads are those of the layer that was made last."""

        def __init__(self, d_model: int, heads: int, rng: Any):
            super().__init__(d_model, heads, rng)
            kept["heads"] = heads

        def split(self, x: Any) -> Any:
            return x.reshape(*x.shape[:2], kept["heads"], -1).transpose(0, 2, 1, 3)

    return Shared


@mistakes.add(hint="Which line writes into an array that was handed in?", seen="linkedin/Liger-Kernel#254")
def scaled_in_place(right: ModuleType, *size: Any) -> Any:
    """The weight of the query layer takes the scale in, at each call."""

    class InPlace(steps(right)):  # type: ignore[misc]
        """A layer that changes its own weight."""

        def forward(self, x: Any) -> Any:
            answer = super().forward(x)
            self.query.weight.data *= self.query.weight.data.dtype.type(1 / math.sqrt(x.shape[-1]))
            return answer

    return InPlace(*size)


@mistakes.add(hint="Is x still what it was after the call?", seen="linkedin/Liger-Kernel#254")
def input_rounded_in_place(right: ModuleType, *size: Any) -> Any:
    """What comes in may be rounded to single precision where it lies, once it has been read."""

    class InPlace(steps(right)):  # type: ignore[misc]
        """A layer that changes x after its call."""

        def forward(self, x: Any) -> Any:
            answer = super().forward(right.record(x.data.copy(), (x,), lambda grad: (grad,)))
            x.data[...] = x.data.astype(np.float32)
            return answer

    return InPlace(*size)


@mistakes.add(
    hint="Call your layer twice: is the first answer still there?", seen="linkedin/Liger-Kernel#254"
)
def one_array_for_all_answers(right: ModuleType, *size: Any) -> Any:
    """One array takes all answers of the same shape."""

    def answer(self: Any, joined: Any, x: Any) -> Any:
        right_answer = self.output(joined)
        kept = vars(self).setdefault("kept", {}).setdefault(x.shape, np.empty_like(right_answer.data))
        kept[...] = right_answer.data
        return right.record(kept, (right_answer,), lambda grad: (grad,))

    return layer(right, size, answer=answer)
