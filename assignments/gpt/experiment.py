"""The experiment of this lab: the same model with 1, 2, 4 and 8 heads.

    from experiment import compare
    results = compare(MultiHeadAttention)         # four models on the embedded text
    results                                       # losses and curves
    results.times(); results.maps("2"); results.samples()

The full setting is the lesson's: two epochs, some minutes for each model.

    from experiment import FULL, text_of
    compare(MultiHeadAttention, text=text_of(Path("tinyshakespeare.txt")), settings=FULL)
"""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from autodiff import charts, checkpoints, comparison, lab
from autodiff.lab import FULL, SHORT, Lab, Text, embedded_text, text_of
from autodiff.layers import Layer
from autodiff.model import MakeAttention
from autodiff.training import Settings

#: What notebooks use, and what the command line does.
__all__ = ["FULL", "SHORT", "compare", "embedded_text", "lab_of", "text_of"]
__all__ += ["charts", "checkpoints", "comparison", "lab"]

HEADS = (1, 2, 4, 8)


def make_lab(layer: Callable[..., Any]) -> Lab:
    """The lab; ``layer(d_model, heads, rng)`` makes attention with several heads."""

    def with_heads(heads: int) -> MakeAttention:
        def make(d_model: int, rng: np.random.Generator) -> Layer:
            made: Layer = layer(d_model, heads, rng)
            return made

        return make

    return Lab("gpt", "heads", {str(heads): with_heads(heads) for heads in HEADS})


def lab_of(reference: ModuleType) -> Lab:
    """The lab of the command line, with the reference's layer."""
    return make_lab(reference.MultiHeadAttention)


def compare(
    layer: Callable[..., Any],
    *,
    text: Text | None = None,
    settings: Settings = SHORT,
    folder: Path | None = None,
) -> comparison.Comparison:
    """Train the model with each number of heads, with your own layer."""
    return comparison.compare(make_lab(layer), text, settings, folder)
