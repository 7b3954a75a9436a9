"""The experiment of this lab: each of the three projections in turn is replaced by the input itself.

    from experiment import compare
    compare(attention, attention_backward)        # four models on the embedded text, in less than a minute

The full setting is the lesson's: two epochs, some minutes for each model.

    from experiment import FULL, text_of
    compare(attention, attention_backward, text=text_of(Path("tinyshakespeare.txt")), settings=FULL)
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from attention_layer import ROLES, Functions, WeightedAttention
from autodiff import charts, checkpoints, comparison, lab
from autodiff.lab import FULL, SHORT, Lab, Text, embedded_text, text_of
from autodiff.progress import is_graded
from autodiff.training import Settings

#: What notebooks use, and what the command line does.
__all__ = ["FULL", "SHORT", "compare", "embedded_text", "lab_of", "text_of"]
__all__ += ["charts", "checkpoints", "comparison", "lab"]

#: With slower functions the short setting would take minutes.
SLOW_SECONDS = 0.005
TOO_SLOW = (
    "Your two functions take {:.0f} ms for one batch, and would be called thousands of times: to spare you "
    "the wait, the core computed the same in their place."
)


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

    Functions that go through tokens one by one in Python are right but slow: the core's layer then stands in.

    Raises ValueError where one of the two functions is given without the other.
    """
    if (attention is None) != (attention_backward is None):
        raise ValueError("compare takes both attention and attention_backward, or neither of them.")
    functions = Functions(attention, attention_backward) if attention and attention_backward else None
    remark = ""
    if functions is not None and not is_graded():
        seconds = seconds_of(functions)
        if seconds > SLOW_SECONDS:
            functions, remark = None, TOO_SLOW.format(1000 * seconds)
    return comparison.compare(make_lab(functions), text, settings, folder, remark)


def seconds_of(functions: Functions) -> float:
    """How long two functions take, forward and backward, for one batch of the model: the best of five."""
    q, k, v, dout = np.random.default_rng(0).standard_normal((4, 4, 32, 64)).astype(np.float32)
    allowed = np.tri(32, dtype=bool)
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        _, cache = functions.attention(q, k, v, allowed)
        functions.attention_backward(cache, dout)
        taken.append(time.perf_counter() - start)
    return min(taken)
