"""Mistakes seen in ``MultiHeadAttention``."""

from autograder.checking.mistakes import MistakeSet

from . import layer_behaviour, layer_steps

mistakes = MistakeSet("MultiHeadAttention")
for _kind in (layer_steps, layer_behaviour):
    mistakes.include(_kind.mistakes)
