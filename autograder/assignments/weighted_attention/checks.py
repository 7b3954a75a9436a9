"""The hidden checks of ``weighted_attention``: the contract of its notebook, on numbers that nobody guesses.

Each exercise has a module in ``hidden``. There, the first line of a check's docstring is its sentence in the
report, and weights are points: those of an exercise sum to the points of its test cell.
"""

from autograder.assignments.attention_layer import registering
from autograder.checking.framework import CheckSet

from . import analysis
from .hidden import attention, attention_backward, causal_mask, layer

checks = CheckSet("weighted_attention")
for _exercise in (causal_mask, attention, attention_backward):
    checks.include(_exercise.checks)
for _pass in (layer.forward, layer.backward):
    checks.include(_pass)
checks.follow_through(
    "attention_backward",
    cache_of="attention",
    keys=attention.KEYS,
    fits=analysis.fits_own_attention,
)
registering.follow_through(checks, layer.LAYER, helpers=("attention",), more_backward=("attention_backward",))
for _analyses in (analysis.analyses, registering.analyses(layer.LAYER)):
    checks.declare_as(_analyses)
