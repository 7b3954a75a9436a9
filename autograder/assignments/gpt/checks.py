"""The hidden checks of ``gpt``: the contract of its notebook, on numbers that nobody guesses.

Each exercise has a module in ``hidden``, ``MultiHeadAttention`` three. There, the first line of a check's
docstring is its sentence in the report, and weights are points: those of an exercise sum to the points of
its test cell.
"""

from autograder.checking.framework import CheckSet

from . import analysis
from .hidden import behaviour, build_gpt, causal_mask, gradients, multi_head_attention

checks = CheckSet("gpt")
for _part in (causal_mask, multi_head_attention, gradients, behaviour, build_gpt):
    checks.include(_part.checks)
checks.declare_as(analysis.analyses)
checks.follow_through("MultiHeadAttention", helpers=("CausalMask",))
checks.follow_through("build_gpt", helpers=("CausalMask", "MultiHeadAttention"))
