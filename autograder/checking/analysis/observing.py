"""From wrong arrays to a sentence: what was seen of one check on all inputs that were tried."""

from collections.abc import Sequence

import numpy as np

from autograder.checking.analysis.factors import constant_factor, is_close
from autograder.checking.analysis.order import Order, order_of, same_numbers
from autograder.checking.analysis.slices import common_pattern, right_slices
from autograder.checking.framework import Comparison
from autograder.checking.recording import Asked, Event
from autograder.model import Diagnosis

#: Simple numbers that an answer may be off by, whatever the sizes are.
_SIMPLE = {"2": 2.0, "3": 3.0, "1/2": 0.5, "1/3": 1 / 3, "-1": -1.0, "0": 0.0}


def observed(kind: str, sentence: str, hint: str) -> Diagnosis:
    """An observation in the form of a diagnosis; its id cannot be taken for a known mistake's."""
    return Diagnosis(f"observed_{kind}", f"Seen on every input tried: {sentence}", hint)


def observe(comparisons: Sequence[Comparison]) -> Diagnosis | None:
    """What can be said of one array, refused on several inputs; None if nothing holds of all of them.

    Raises ValueError for fewer than two comparisons: one proves nothing.
    """
    if len(comparisons) < 2:
        raise ValueError("an observation needs two inputs")
    if len({one.what for one in comparisons}) > 1:
        return None
    if any(one.got.dtype.kind not in "iuf" for one in comparisons):
        return None
    return _order(comparisons) or _factor(comparisons) or _slices(comparisons)


def only_integers(events: Sequence[Event]) -> bool:
    """Whether the numbers of the call that was made last were integers, all of them."""
    call = next((one for one in reversed(events) if one.asked is Asked.CALL and _kinds(one.args)), None)
    return call is not None and _kinds(call.args) <= {"i", "u"}


INTEGERS = observed(
    "integers",
    "the numbers are right for floats and wrong for integers.",
    "Which of your arrays takes over the dtype of an integer one?",
)
STATE = observed(
    "state",
    "the first call after a fresh start is right, a later one is wrong.",
    "What of the first call is still there in the second: a global variable, a default argument, an array?",
)


def _order(comparisons: Sequence[Comparison]) -> Diagnosis | None:
    orders = [order_of(one.got, one.want) for one in comparisons]
    what, axes = comparisons[0].what, comparisons[0].axes
    if orders[0] is not None and all(one == orders[0] for one in orders):
        return observed(
            "order", f"{what} holds the right numbers, {_order_words(orders[0], axes)}.", _ORDER_HINT
        )
    if all(same_numbers(one.got, one.want) and one.got.size > 1 for one in comparisons):
        return observed("order", f"{what} holds the right numbers, but not at their places.", _ORDER_HINT)
    return None


_ORDER_HINT = "Give every number of a small array a value that names its place, and follow them line by line."


def _order_words(order: Order, axes: Sequence[str]) -> str:
    names = ", ".join(axes[i] for i in order.axes)
    if order.reversed is not None:
        return f"but backward along the axis {axes[order.reversed]}"
    if len(set(axes)) < len(axes):
        return "but transposed" if len(axes) == 2 and not order.cut else "but not at their places"
    if order.reshaped:
        return f"but read in the order of the axes ({names}) and then reshaped"
    if order.cut:
        return f"but cut into the axes ({names}) before they were brought into the right order"
    return f"with the axes in the order ({names})"


def _factor(comparisons: Sequence[Comparison]) -> Diagnosis | None:
    factors = [constant_factor(one.got, one.want) for one in comparisons]
    found = [one for one in factors if one is not None]
    if len(found) < len(factors):
        return None
    what = comparisons[0].what
    for name, value in _SIMPLE.items():
        if all(is_close(one, value) for one in found):
            words = "is zero everywhere" if name == "0" else f"is the right one times {name}"
            return observed("factor", f"{what} {words}.", "Where does this number enter, or get lost?")
    return observed(
        "factor",
        f"{what} is the right one times a number that depends on the sizes.",
        "Which of your lines divides, or averages, and by how much?",
    )


def _slices(comparisons: Sequence[Comparison]) -> Diagnosis | None:
    if any(one.got.shape != one.want.shape for one in comparisons):
        return None
    for axis, name in enumerate(comparisons[0].axes):
        pattern = common_pattern([right_slices(one.got, one.want, axis) for one in comparisons])
        if pattern is not None:
            sentence = f"along the axis {name}, {comparisons[0].what} is {pattern}."
            return observed("slices", sentence, f"What does your code do differently there, along {name}?")
    return None


def _kinds(values: object) -> set[str]:
    """The kinds of dtype of all arrays of numbers in an argument, or in several."""
    if isinstance(values, np.ndarray):
        return {values.dtype.kind} - {"b"}
    if isinstance(values, dict):
        values = tuple(values.values())
    if isinstance(values, tuple | list):
        return set().union(*map(_kinds, values))
    return set()
