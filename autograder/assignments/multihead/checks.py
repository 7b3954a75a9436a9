"""The hidden checks of ``multihead``: the contract of its notebook, on numbers that nobody can guess.

Each exercise has a module in ``hidden``. There, the first line of a check's docstring is its sentence in the
report, and weights are points: those of an exercise sum to the points of its test cell.
"""

from autograder.checking.framework import CheckSet

from . import analysis_backward, analysis_forward
from .hidden import merge_heads, multihead, multihead_backward, split_heads

checks = CheckSet("multihead")
for _exercise in (split_heads, merge_heads, multihead, multihead_backward):
    checks.include(_exercise.checks)

checks.follow_through("multihead", helpers=("split_heads", "merge_heads"))
checks.follow_through(
    "multihead_backward",
    helpers=("split_heads", "merge_heads"),
    cache_of="multihead",
    keys=("x", "heads", "attention", "joined"),
    fits=analysis_backward.fits_own_forward,
)
for _analyses in (analysis_forward.analyses, analysis_backward.analyses):
    checks.declare_as(_analyses)
