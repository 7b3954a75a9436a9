"""The hidden checks of ``weighted_attention``, 4 points, and of ``weighted_attention_backward``, 6 points."""

from types import ModuleType

import numpy as np

from autograder.assignments.attention_layer import registering
from autograder.assignments.attention_layer.backward_checks import BackwardChecks
from autograder.assignments.attention_layer.forward_checks import ForwardChecks
from autograder.assignments.attention_layer.layer import Layer
from autograder.assignments.weighted_attention.one_head import OneHead
from autograder.checking.student import Student

LAYER = Layer(
    assignment="weighted_attention",
    forward="weighted_attention",
    backward="weighted_attention_backward",
    joined="out",
    keys=("x", "attention", "out"),
    sizes=((2, 3, 1, 5), (3, 4, 1, 5), (4, 3, 1, 5), (2, 4, 1, 6), (3, 5, 1, 6), (5, 4, 1, 6), (4, 5, 1, 6)),
    extremes=((1, 4, 1, 1), (3, 1, 1, 5)),
    look_sizes=((2, 3, 1, 5), (3, 5, 1, 7)),
    fit_sizes=((2, 3, 1, 8), (2, 3, 1, 7)),
    has_heads=False,
    as_multihead=OneHead,
)


class Forward(ForwardChecks):
    """The checks of the forward pass in the words of one head."""

    def dtypes(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """Integers are computed in float64, and float32 comes out right."""
        super().dtypes(student, reference, rng)

    def extremes(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """A single channel, a single sequence and a single time step are right, too."""
        super().extremes(student, reference, rng)

    def cache(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """The cache holds x, the attention's own cache and out, each under its name."""
        super().cache(student, reference, rng)


class Backward(BackwardChecks):
    """The checks of the backward pass in the words of one head."""

    def extremes(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """A single channel, a single sequence and a single time step are right, too."""
        super().extremes(student, reference, rng)


forward = registering.forward_checks(
    Forward(LAYER),
    {
        "visible": 0.6,
        "all_allowed": 0.9,
        "masked": 0.9,
        "dtypes": 0.4,
        "large_scores": 0.2,
        "extremes": 0.2,
        "cache": 0.4,
        "untouched": 0.2,
        "repeatable": 0.2,
    },
)
backward = registering.backward_checks(
    Backward(LAYER),
    {
        "visible": 0.9,
        "dx": 0.8,
        "dwq": 0.6,
        "dwk": 0.6,
        "dwv": 0.6,
        "dwo": 0.6,
        "dtypes": 0.3,
        "large_scores": 0.2,
        "extremes": 0.2,
        "untouched": 0.1,
        "repeatable": 0.2,
        "cost": 0.9,
    },
)
