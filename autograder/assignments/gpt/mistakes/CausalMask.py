"""Mistakes seen in ``CausalMask``."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.mistakes import MistakeSet

mistakes = MistakeSet("CausalMask")

HIDDEN = -1e9
Result = Callable[[Any], Any]
Gradient = Callable[[Any, Any], Any]


def lower(numbers: Any, k: int = 0) -> Any:
    """True where a query may look, by the last axis of scores."""
    return np.tri(numbers.shape[-1], k=k, dtype=bool)


def hidden_where(allowed: Any, numbers: Any) -> Any:
    """The numbers where they are allowed, and -1e9 elsewhere, in their precision."""
    return np.where(allowed, numbers, numbers.dtype.type(HIDDEN))


def passing_where(allowed: Any, grad: Any) -> Any:
    """The gradient where it is allowed, and 0 elsewhere, in its precision."""
    return np.where(allowed, grad, grad.dtype.type(0))


def layer(right: ModuleType, result: Result | None = None, gradient: Gradient | None = None) -> Any:
    """A mask layer that computes this, or what is right; ``gradient`` gets what arrives, and the scores."""

    def forward(x: Any) -> Any:
        numbers = x.data
        came = hidden_where(lower(numbers), numbers) if result is None else result(numbers)

        def pull_back(grad: Any) -> Any:
            return (passing_where(lower(numbers), grad) if gradient is None else gradient(grad, numbers),)

        return right.record(came, (x,), pull_back)

    return of_function(right, forward)


def of_function(right: ModuleType, forward: Callable[[Any], Any]) -> Any:
    """A layer whose forward is this function of a tensor."""

    class CausalMask(right.CausalMask):  # type: ignore[misc, name-defined]
        """A mask that is wrong somewhere."""

        def forward(self, x: Any) -> Any:
            return forward(x)

    return CausalMask()


def consistent(right: ModuleType, allowed: Callable[[Any], Any]) -> Any:
    """A layer that hides other scores than the right one, and lets gradients pass where it keeps scores."""
    return layer(
        right,
        lambda numbers: hidden_where(allowed(numbers), numbers),
        lambda grad, numbers: passing_where(allowed(numbers), grad),
    )


@mistakes.add(hint="May a token look at itself?", seen="RVC-Boss/GPT-SoVITS#965")
def diagonal_hidden(right: ModuleType) -> Any:
    """A query looks at what came before it, not at itself."""
    return consistent(right, lambda numbers: lower(numbers, k=-1))


@mistakes.add(hint="Which character does the model have to guess?", seen="RVC-Boss/GPT-SoVITS#965")
def one_ahead(right: ModuleType) -> Any:
    """A query may also look at the next place."""
    return consistent(right, lambda numbers: lower(numbers, k=1))


@mistakes.add(hint="Which of the two axes belongs to the queries?", seen="courses")
def transposed(right: ModuleType) -> Any:
    """The columns of the scores are the queries."""
    return consistent(right, lambda numbers: lower(numbers).T)


@mistakes.add(hint="Print the triangle: where is it True?", seen="rasbt/LLMs-from-scratch#1061")
def inverted(right: ModuleType) -> Any:
    """The lower triangle is what must be hidden."""
    return consistent(right, lambda numbers: ~lower(numbers))


@mistakes.add(hint="What may the first token of a text look at?", seen="stanford-cs336/assignment1-basics#51")
def nothing_hidden(right: ModuleType) -> Any:
    """What comes later may be seen, too."""
    return consistent(right, lambda numbers: np.ones(numbers.shape[-2:], dtype=bool))


@mistakes.add(hint="May the last token look at the first?", seen="courses")
def itself_only(right: ModuleType) -> Any:
    """A query looks at its own place alone."""
    return consistent(right, lambda numbers: np.eye(numbers.shape[-1], dtype=bool))


@mistakes.add(hint="In which corner of the table is the first key of the first query?", seen="courses")
def mirrored(right: ModuleType) -> Any:
    """The triangle leans on the other diagonal of the table."""
    return consistent(right, lambda numbers: lower(numbers)[:, ::-1])


@mistakes.add(hint="What does the softmax make of a score of 0?", seen="courses")
def zero_hides(right: ModuleType) -> Any:
    """A score of next to nothing is not seen."""
    return layer(right, lambda numbers: numbers * lower(numbers).astype(numbers.dtype))


@mistakes.form("zero_hides")
def sign_in_the_exponent(right: ModuleType) -> Any:
    """A number that was meant to be -1e9 (seen in Shujun-He/RibonanzaNet#5)."""
    return layer(right, lambda numbers: np.where(lower(numbers), numbers, numbers.dtype.type(-1e-9)))


@mistakes.add(hint="What is minus infinity minus minus infinity?", seen="pytorch/pytorch#41508")
def minus_infinity(right: ModuleType) -> Any:
    """Minus infinity hides a score as well as -1e9."""
    return layer(right, lambda numbers: np.where(lower(numbers), numbers, numbers.dtype.type(-np.inf)))


@mistakes.add(hint="Which number does the task name?", seen="courses")
def another_large_number(right: ModuleType) -> Any:
    """Any large negative number hides a score."""
    return layer(right, lambda numbers: np.where(lower(numbers), numbers, numbers.dtype.type(-1e4)))


@mistakes.form("another_large_number")
def the_smallest_number(right: ModuleType) -> Any:
    """The smallest number that there is."""
    return layer(right, lambda numbers: np.where(lower(numbers), numbers, np.finfo(numbers.dtype).min))


@mistakes.add(hint="What is written over what must not be seen, and what is added to it?", seen="courses")
def added_to_the_scores(right: ModuleType) -> Any:
    """To add -1e9 to a score is the same as to write it in its place."""
    offset = numbers_above(HIDDEN)
    return layer(right, lambda numbers: numbers + offset(numbers), lambda grad, numbers: grad)


@mistakes.form("added_to_the_scores")
def added_and_cut_on_the_way_back(right: ModuleType) -> Any:
    """The way back is right."""
    offset = numbers_above(HIDDEN)
    return layer(right, lambda numbers: numbers + offset(numbers))


@mistakes.add(hint="Does the result depend on a score that was replaced?", seen="courses")
def gradient_everywhere(right: ModuleType) -> Any:
    """The gradient passes as it comes, since a mask has nothing to learn."""
    return layer(right, gradient=lambda grad, numbers: grad)


@mistakes.add(
    hint="Does the result depend on a score that was kept, or on one that was replaced?", seen="courses"
)
def gradient_where_hidden(right: ModuleType) -> Any:
    """The gradient passes where the score was hidden."""
    return layer(right, gradient=lambda grad, numbers: passing_where(~lower(numbers), grad))


@mistakes.add(hint="By how much does the result change when a hidden score changes a little?", seen="courses")
def gradient_hidden_by_the_number(right: ModuleType) -> Any:
    """Where the scores became -1e9 the gradient becomes -1e9, too."""
    return layer(right, gradient=lambda grad, numbers: hidden_where(lower(numbers), grad))


@mistakes.add(hint="On the way back, which axis belongs to the queries?", seen="courses")
def gradient_transposed(right: ModuleType) -> Any:
    """On the way back the mask is the other way round."""
    return layer(right, gradient=lambda grad, numbers: passing_where(lower(numbers).T, grad))


@mistakes.add(hint="What is the slope of y = x?", seen="courses")
def gradient_times_scores(right: ModuleType) -> Any:
    """The gradient of a score that was kept is multiplied by the score."""
    return layer(right, gradient=lambda grad, numbers: passing_where(lower(numbers), grad * numbers))


@mistakes.add(hint="What becomes of the gradient that arrives?", seen="courses")
def gradient_of_ones(right: ModuleType) -> Any:
    """The gradient is 1 where a score was kept."""
    return layer(right, gradient=lambda grad, numbers: passing_where(lower(numbers), np.ones_like(grad)))


@mistakes.add(hint="Does the mask itself change its sign?", seen="courses")
def gradient_negated(right: ModuleType) -> Any:
    """What is hidden by a minus sends back a minus."""
    return layer(right, gradient=lambda grad, numbers: passing_where(lower(numbers), -grad))


@mistakes.add(hint="Which call tells a new tensor what it was made of?", seen="hashintel/aprender#2203")
def not_recorded(right: ModuleType) -> Any:
    """A new tensor knows by itself where its numbers come from."""
    return of_function(right, lambda x: right.Tensor(hidden_where(lower(x.data), x.data)))


@mistakes.form("not_recorded")
def not_recorded_with_requires_grad(right: ModuleType) -> Any:
    """It asks for a gradient of its own."""
    return of_function(right, lambda x: right.Tensor(hidden_where(lower(x.data), x.data), requires_grad=True))


@mistakes.add(hint="What does the next layer want to be called with?", seen="courses")
def array_returned(right: ModuleType) -> Any:
    """The array of masked scores is the answer."""
    return of_function(right, lambda x: hidden_where(lower(x.data), x.data))


@mistakes.add(hint="How many parents are there, and how many gradients come back?", seen="courses")
def gradient_without_a_tuple(right: ModuleType) -> Any:
    """A single gradient needs no tuple."""

    def forward(x: Any) -> Any:
        allowed = lower(x.data)
        came = hidden_where(allowed, x.data)
        return right.record(came, (x,), lambda grad: passing_where(allowed, grad))

    return of_function(right, forward)


@mistakes.add(hint="Print the dtype of what your layer answers, for scores of float32.", seen="courses")
def made_float64(right: ModuleType) -> Any:
    """Numbers are best kept in full precision."""
    return layer(right, lambda numbers: hidden_where(lower(numbers), numbers.astype(np.float64)))


@mistakes.add(hint="Who else may still need these scores?", seen="linkedin/Liger-Kernel#254")
def written_into_the_scores(right: ModuleType) -> Any:
    """The scores can be overwritten where they stand."""

    def masked(numbers: Any) -> Any:
        numbers[..., ~lower(numbers)] = HIDDEN
        return numbers

    return layer(right, masked)


@mistakes.add(hint="Who else may still need this gradient?", seen="linkedin/Liger-Kernel#254")
def written_into_the_gradient(right: ModuleType) -> Any:
    """The gradient that arrives can be overwritten where it stands."""

    def cut(grad: Any, numbers: Any) -> Any:
        grad[..., ~lower(numbers)] = 0
        return grad

    return layer(right, gradient=cut)


@mistakes.add(hint="May scores come without a batch, or with one axis more?", seen="courses")
def four_axes_only(right: ModuleType) -> Any:
    """Scores have the axes batch, heads, query and key, and no others."""

    def allowed(numbers: Any) -> Any:
        batch, heads, seq, _ = numbers.shape
        return np.broadcast_to(np.tri(seq, dtype=bool), (batch, heads, seq, seq))

    return consistent(right, allowed)


@mistakes.add(hint="Where would a number like 32 come from?", seen="courses")
def cut_from_a_table(right: ModuleType) -> Any:
    """One triangle for the 32 characters of the lesson is made, and its corner is cut out."""
    return consistent(right, lambda numbers: np.tri(32, dtype=bool)[: numbers.shape[-1], : numbers.shape[-1]])


@mistakes.add(hint="Call your layer with 4 tokens, then with 6.", seen="courses")
def first_triangle_kept(right: ModuleType) -> Any:
    """The triangle is made at the first call and serves all others."""
    kept: list[Any] = []

    def allowed(numbers: Any) -> Any:
        kept.append(lower(numbers))
        return kept[0]

    return consistent(right, allowed)


@mistakes.add(
    hint="Call your layer twice: is the first answer still there?", seen="linkedin/Liger-Kernel#254"
)
def one_array_for_all_answers(right: ModuleType) -> Any:
    """One array takes all answers of the same shape."""
    kept: dict[Any, Any] = {}

    def masked(numbers: Any) -> Any:
        answer = kept.setdefault((numbers.shape, numbers.dtype), np.empty_like(numbers))
        answer[...] = hidden_where(lower(numbers), numbers)
        return answer

    return layer(right, masked)


def numbers_above(number: float) -> Callable[[Any], Any]:
    """A table with this number above the diagonal and 0 elsewhere, as large and precise as some scores."""
    return lambda numbers: np.triu(np.full(numbers.shape[-2:], number, numbers.dtype), k=1)
