"""Mistakes seen in ``causal_mask``."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.mistakes import MistakeSet

mistakes = MistakeSet("causal_mask")


def checked(right: ModuleType, seq: Any) -> int:
    """What the right function makes of ``seq`` before it answers: a refusal, or nothing."""
    right.causal_mask(seq)
    return int(seq)


@mistakes.add(hint="May a token look at itself?", seen="RVC-Boss/GPT-SoVITS#965")
def diagonal_hidden(right: ModuleType, seq: Any) -> Any:
    """A token looks at those before it, not at itself."""
    return np.tri(checked(right, seq), k=-1, dtype=np.bool_)


@mistakes.add(hint="Which token may token 0 look at?", seen="RVC-Boss/GPT-SoVITS#965")
def one_ahead(right: ModuleType, seq: Any) -> Any:
    """A token may also look at the next one, which is the one to be guessed."""
    return np.tri(checked(right, seq), k=1, dtype=np.bool_)


@mistakes.add(hint="Which of the two axes belongs to the queries?", seen="courses")
def transposed(right: ModuleType, seq: Any) -> Any:
    """The columns of the mask are the queries."""
    return np.tri(checked(right, seq), dtype=np.bool_).T


@mistakes.add(hint="What does a True in the mask say?", seen="rasbt/LLMs-from-scratch#1061")
def inverted(right: ModuleType, seq: Any) -> Any:
    """True marks the keys that are hidden."""
    return ~np.tri(checked(right, seq), dtype=np.bool_)


@mistakes.add(hint="Which tokens may look at which, in a text that is read from its start?", seen="courses")
def all_allowed(right: ModuleType, seq: Any) -> Any:
    """Every token may look at every other."""
    return np.ones((checked(right, seq),) * 2, dtype=np.bool_)


@mistakes.add(hint="May the last token look at the first?", seen="courses")
def itself_only(right: ModuleType, seq: Any) -> Any:
    """A token looks at itself alone."""
    return np.eye(checked(right, seq), dtype=np.bool_)


@mistakes.add(hint="Print the dtype of your mask.", seen="courses")
def zeros_and_ones(right: ModuleType, seq: Any) -> Any:
    """One stands for True and zero for False."""
    return np.tri(checked(right, seq))


@mistakes.add(
    hint="Is the mask added to the scores, or does it say something?", seen="harvard-edge/cs249r_book#1785"
)
def ready_to_be_added(right: ModuleType, seq: Any) -> Any:
    """A mask holds 0 where a key is allowed and minus infinity where it is not."""
    return np.where(np.tri(checked(right, seq), dtype=np.bool_), 0.0, -np.inf)


@mistakes.add(hint="How many axes does the task name?", seen="courses")
def with_a_batch_axis(right: ModuleType, seq: Any) -> Any:
    """The mask gets an axis for the batch, so that it fits everywhere."""
    return np.tri(checked(right, seq), dtype=np.bool_)[None]


@mistakes.add(hint="Try your function with True, with 2.0 and with -1.", seen="courses")
def anything_passes(right: ModuleType, seq: Any) -> Any:
    """NumPy complains by itself about what is no number of tokens."""
    return np.tri(int(seq), dtype=np.bool_)


@mistakes.add(hint="What is isinstance(True, int)?", seen="ai-dynamo/dynamo#14431")
def bool_passes(right: ModuleType, seq: Any) -> Any:
    """Whatever isinstance calls an int is an integer."""
    return right.causal_mask(int(seq) if isinstance(seq, bool) else seq)


@mistakes.add(hint="What is type(np.int64(3))?", seen="pytorch/pytorch#75704")
def numpy_integers_refused(right: ModuleType, seq: Any) -> Any:
    """Only Python's own int is an integer."""
    if type(seq) is not int:
        raise TypeError("seq must be an int")
    return right.causal_mask(seq)


@mistakes.add(hint="What does an empty mask allow?", seen="courses")
def zero_passes(right: ModuleType, seq: Any) -> Any:
    """A sequence without tokens has an empty mask."""
    is_zero = isinstance(seq, int) and not isinstance(seq, bool) and seq == 0
    return np.ones((0, 0), dtype=np.bool_) if is_zero else right.causal_mask(seq)


@mistakes.add(hint="Where would a number like 128 come from?", seen="courses")
def cut_from_a_buffer(right: ModuleType, seq: Any) -> Any:
    """One mask of 128 tokens is made, and each call cuts its corner out of it."""
    count = checked(right, seq)
    return np.tri(128, dtype=np.bool_)[:count, :count]


@mistakes.add(
    stateful=True,
    hint="Call causal_mask(4), then causal_mask(3): is the first still there?",
    seen="courses",
)
def one_table(right: ModuleType) -> Any:
    """One table is cleared and filled at each call, and its corner is the answer."""
    table = np.zeros((256, 256), dtype=np.bool_)

    def causal_mask(seq: Any) -> Any:
        mask = right.causal_mask(seq)
        table[...] = False
        table[:seq, :seq] = mask
        return table[:seq, :seq]

    return causal_mask


@mistakes.add(stateful=True, hint="Call causal_mask(3) and then causal_mask(4).", seen="courses")
def first_mask_kept(right: ModuleType) -> Any:
    """The mask is made once and kept for all calls."""
    kept: list[Any] = []

    def causal_mask(seq: Any) -> Any:
        mask = right.causal_mask(seq)
        kept.append(mask)
        return kept[0]

    return causal_mask
