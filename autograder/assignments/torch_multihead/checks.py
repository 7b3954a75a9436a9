"""The hidden checks of ``torch_multihead``: a module of PyTorch, on numbers that nobody guesses.

Each exercise has a module in ``hidden``. There, the first line of a check's docstring is its sentence in the
report, and weights are points: those of an exercise sum to the points of its test cell. Expected values come
from ``hidden.formula``, which knows NumPy alone.
"""

import torch

from autograder.checking.framework import CheckSet

from .hidden import combine_heads, compute_attention, construction, forward, split_heads

# What the judge computes with PyTorch is small: a second thread costs more than it saves.
torch.set_num_threads(1)

METHODS = ("split_heads", "compute_attention", "combine_heads", "forward")

checks = CheckSet("torch_multihead")
for _exercise in (construction, split_heads, compute_attention, combine_heads, forward):
    checks.include(_exercise.checks)
checks.methods_of("MultiHeadAttention", *METHODS)
for _method in METHODS[:3]:
    checks.follow_through(_method, helpers=("MultiHeadAttention",))
checks.follow_through("forward", helpers=("MultiHeadAttention", *METHODS[:3]))
