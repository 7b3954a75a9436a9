"""The hidden checks of ``multihead``, 6 points, and of ``multihead_backward``, 9 points."""

from autograder.assignments.attention_layer import draws, registering
from autograder.assignments.attention_layer.backward_checks import BackwardChecks
from autograder.assignments.attention_layer.forward_checks import ForwardChecks
from autograder.assignments.attention_layer.layer import Layer

LAYER = Layer(
    assignment="multihead",
    forward="multihead",
    backward="multihead_backward",
    joined="joined",
    keys=("x", "heads", "attention", "joined"),
    sizes=draws.SIZES,
    extremes=((1, 4, 6, 1), (3, 1, 1, 5)),
    look_sizes=((2, 5, 4, 3), (3, 6, 2, 7)),
    fit_sizes=((2, 3, 4, 5), (2, 3, 2, 4)),
)

forward = registering.forward_checks(
    ForwardChecks(LAYER),
    {
        "visible": 0.9,
        "all_allowed": 1.5,
        "masked": 1.5,
        "dtypes": 0.5,
        "large_scores": 0.4,
        "extremes": 0.4,
        "cache": 0.4,
        "untouched": 0.2,
        "repeatable": 0.2,
    },
)
backward = registering.backward_checks(
    BackwardChecks(LAYER),
    {
        "visible": 1.2,
        "dx": 1.2,
        "dwq": 0.9,
        "dwk": 0.9,
        "dwv": 0.9,
        "dwo": 0.9,
        "dtypes": 0.5,
        "large_scores": 0.3,
        "extremes": 0.3,
        "untouched": 0.2,
        "repeatable": 0.2,
        "cost": 1.5,
    },
)
