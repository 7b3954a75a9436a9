"""The hidden checks of ``multihead``: the contract of its notebook, on numbers that nobody can guess.

Each exercise has a module in ``hidden``. There, the first line of a check's docstring is its sentence in the
report, and weights are points: those of an exercise sum to the points of its test cell.
"""

from autograder.assignments.attention_layer import registering
from autograder.checking.framework import CheckSet

from .hidden import layer, merge_heads, split_heads

checks = CheckSet("multihead")
for _exercise in (split_heads.checks, merge_heads.checks, layer.forward, layer.backward):
    checks.include(_exercise)
registering.follow_through(checks, layer.LAYER, helpers=("split_heads", "merge_heads"))
checks.declare_as(registering.analyses(layer.LAYER))
