"""The experiment of this lab: each of the three projections in turn is replaced by the input itself.

    from experiment import compare
    compare(attention, attention_backward)        # four models on the embedded text, in less than a minute

The full setting is the lesson's: two epochs, some minutes for each model.

    from experiment import FULL, text_of
    compare(attention, attention_backward, text=text_of(Path("tinyshakespeare.txt")), settings=FULL)
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from attention_layer import ROLES, Functions, WeightedAttention
from autodiff import charts, checkpoints, comparison, lab
from autodiff.lab import FULL, SHORT, Lab, Text, embedded_text, text_of
from autodiff.training import Settings

#: What notebooks use, and what the command line does.
__all__ = ["FULL", "SHORT", "compare", "embedded_text", "lab_of", "text_of"]
__all__ += ["charts", "checkpoints", "comparison", "lab"]


def make_lab(functions: Functions | None = None) -> Lab:
    """The lab; ``functions`` are a student's own, by default the layer computes by tensors."""
    choices = {
        choice: partial(WeightedAttention, replaced=None if choice == "none" else choice, functions=functions)
        for choice in ("none", *ROLES)
    }
    return Lab("weighted_attention", "replace", choices)


def lab_of(_reference: ModuleType | None) -> Lab:
    """The lab of the command line: it computes by tensors, and needs no reference."""
    return make_lab()


def compare(
    attention: Callable[..., Any] | None = None,
    attention_backward: Callable[..., Any] | None = None,
    *,
    text: Text | None = None,
    settings: Settings = SHORT,
    folder: Path | None = None,
) -> comparison.Comparison:
    """Train the whole model and those with a projection replaced; with your own functions if you give them.

    Raises ValueError where one of the two functions is given without the other.
    """
    if (attention is None) != (attention_backward is None):
        raise ValueError("compare takes both attention and attention_backward, or neither of them.")
    functions = Functions(attention, attention_backward) if attention and attention_backward else None
    return comparison.compare(make_lab(functions), text, settings, folder)
