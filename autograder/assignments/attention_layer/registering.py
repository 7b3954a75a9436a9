"""Puts a layer's checks, analyses and follow-through into the sets of its assignment."""

from collections.abc import Mapping

from autograder.checking.framework import CheckSet

from .backward_analysis import BackwardAnalysis
from .backward_checks import BackwardChecks
from .forward_analysis import ForwardAnalysis
from .forward_checks import ForwardChecks
from .layer import Layer

FORWARD_VALUES = ("all_allowed", "masked", "dtypes")
MATRICES = ("dwq", "dwk", "dwv", "dwo")
BACKWARD_VALUES = ("dx", *MATRICES, "dtypes")


def forward_checks(judged: ForwardChecks, weights: Mapping[str, float]) -> CheckSet:
    """The checks of a forward pass by their names, in this order; "visible" stands for the visible ones."""
    return _checks(judged, judged.layer.forward, weights, FORWARD_VALUES)


def backward_checks(judged: BackwardChecks, weights: Mapping[str, float]) -> CheckSet:
    """The checks of a backward pass by their names, in this order; "visible" stands for the visible ones."""
    return _checks(judged, judged.layer.backward, weights, BACKWARD_VALUES)


def analyses(layer: Layer) -> CheckSet:
    """What is tried where no known mistake explains what is wrong with a layer, in this order."""
    found = CheckSet(layer.assignment)
    forward, backward = ForwardAnalysis(layer), BackwardAnalysis(layer)
    for look in (forward.digits, forward.scale, forward.ignored):
        found.analysis(layer.forward, *FORWARD_VALUES)(look)
    found.analysis(layer.forward, "masked")(forward.mask)
    found.analysis(layer.forward, *FORWARD_VALUES)(forward.heads)
    found.analysis(layer.backward, "dx")(backward.routes)
    found.analysis(layer.backward, *MATRICES)(backward.matrices)
    found.analysis(layer.backward, *MATRICES)(backward.tokens)
    found.analysis(layer.backward, "dx", *MATRICES)(backward.where)
    return found


def follow_through(
    checks: CheckSet, layer: Layer, helpers: tuple[str, ...], more_backward: tuple[str, ...] = ()
) -> None:
    """Say that the layer builds on helpers; its backward pass on them, on more, and on its forward pass."""
    checks.follow_through(layer.forward, helpers=helpers)
    checks.follow_through(
        layer.backward,
        helpers=(*helpers, *more_backward),
        cache_of=layer.forward,
        keys=layer.keys,
        fits=BackwardAnalysis(layer).fits_own_forward,
    )


def _checks(
    judged: ForwardChecks | BackwardChecks,
    exercise: str,
    weights: Mapping[str, float],
    values: tuple[str, ...],
) -> CheckSet:
    checks = CheckSet(judged.layer.assignment)
    for name, weight in weights.items():
        if name == "visible":
            checks.visible(exercise, weight=weight)
        elif name in values:
            checks.value(exercise, weight=weight)(getattr(judged, name))
        else:
            checks.contract(exercise, weight=weight)(getattr(judged, name))
    return checks
