"""Mistakes seen in ``merge_heads``."""

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograder.checking.mistakes import MistakeSet

Array = NDArray[Any]

mistakes = MistakeSet("merge_heads")


@mistakes.add(
    hint="Which two axes must be neighbours before a reshape can join them?",
    seen="jsbaan/transformer-from-scratch#6",
)
def no_transpose(right: ModuleType, h: Array) -> Any:
    """One reshape joins heads and d_head, wherever the two stand."""
    batch, heads, seq, d_head = h.shape
    return h.reshape(batch, seq, heads * d_head)


@mistakes.add(
    hint="In which order did split_heads hand out the channels?",
    seen="courses",
)
def interleaved(right: ModuleType, h: Array) -> Any:
    """The first channels are the first channel of each head."""
    batch, heads, seq, d_head = h.shape
    return h.transpose(0, 2, 3, 1).reshape(batch, seq, d_head * heads)


@mistakes.add(
    hint="Follow one sequence of the batch: where is it after the axes have been exchanged?",
    seen="gazelle93/Transformer-Various-Positional-Encoding#1",
)
def heads_before_batch(right: ModuleType, h: Array) -> Any:
    """Once the heads are the outermost axis a reshape can join them."""
    batch, heads, seq, d_head = h.shape
    return h.transpose(1, 2, 0, 3).reshape(batch, seq, heads * d_head)


@mistakes.form("heads_before_batch")
def heads_before_batch_alone(right: ModuleType, h: Array) -> Any:
    """Batch and heads are exchanged, and time stays behind them."""
    batch, heads, seq, d_head = h.shape
    return h.swapaxes(0, 1).reshape(batch, seq, heads * d_head)


@mistakes.add(
    hint="Over which axis does np.concatenate walk when it is given one array?",
    seen="courses",
)
def sequences_concatenated(right: ModuleType, h: Array) -> Any:
    """np.concatenate(h, axis=-1) puts the heads side by side."""
    right.merge_heads(h)
    return np.concatenate(h, axis=-1)


@mistakes.add(
    hint="What is the shape of h.T?",
    seen="courses",
)
def all_axes_reversed(right: ModuleType, h: Array) -> Any:
    """The transpose h.T exchanges time and heads, and a reshape does the rest."""
    batch, heads, seq, d_head = h.shape
    return h.T.reshape(batch, seq, heads * d_head)


@mistakes.add(
    hint="How many channels has x, how many has your answer?",
    seen="courses",
)
def averaged(right: ModuleType, h: Array) -> Any:
    """The heads are opinions on one thing, so their average counts."""
    return right.merge_heads(h).reshape(h.shape[0], h.shape[2], h.shape[1], h.shape[3]).mean(axis=2)


@mistakes.add(
    hint="An average of the heads is the same for all of them: what is left of what each has found?",
    seen="courses",
)
def averaged_and_tiled(right: ModuleType, h: Array) -> Any:
    """The average of the heads, once for each head, has the right shape and so is the answer."""
    right.merge_heads(h)
    return right.merge_heads(np.broadcast_to(h.mean(axis=1, keepdims=True), h.shape))


@mistakes.add(
    hint="Which of the heads' numbers are in your answer?",
    seen="courses",
)
def first_head(right: ModuleType, h: Array) -> Any:
    """One head speaks for all."""
    right.merge_heads(h)
    return h[:, 0]


@mistakes.add(
    hint="A token has one vector after merging: along which axis must the heads stand side by side?",
    seen="courses",
)
def joined_in_time(right: ModuleType, h: Array) -> Any:
    """The heads' sequences follow each other."""
    batch, heads, seq, d_head = h.shape
    return h.reshape(batch, heads * seq, d_head)


@mistakes.add(
    hint="Which axis of the answer is time?",
    seen="courses",
)
def channels_before_time(right: ModuleType, h: Array) -> Any:
    """The answer is (B, C, T)."""
    return right.merge_heads(h).swapaxes(1, 2)


@mistakes.add(
    hint="Merge what you have split, with numbers that you can follow: does head 0 come first?",
    seen="courses",
)
def heads_reversed(right: ModuleType, h: Array) -> Any:
    """The last head comes first."""
    return right.merge_heads(h[:, ::-1])


@mistakes.add(
    hint="How many axes has your answer when there is one head?",
    seen="courses",
)
def one_head_as_it_is(right: ModuleType, h: Array) -> Any:
    """A single head has nobody to be merged with, and h is the answer."""
    merged = right.merge_heads(h)
    return h if h.shape[1] == 1 else merged


@mistakes.add(
    hint="What does your function do with an h that has three axes, or five?",
    seen="courses",
)
def any_axes(right: ModuleType, h: Array) -> Any:
    """Whatever stands before the heads is carried along, however many axes that are."""
    swapped = np.swapaxes(h, -3, -2)
    return swapped.reshape(*swapped.shape[:-2], -1)


@mistakes.add(
    hint="Which numbers can an array of integers not hold?",
    seen="courses",
)
def made_integer(right: ModuleType, h: Array) -> Any:
    """The answer is filled into an array of zeros made by np.zeros(..., dtype=int)."""
    merged = right.merge_heads(h)
    answer = np.zeros(merged.shape, dtype=int)
    answer[...] = merged
    return answer


@mistakes.add(
    hint="Look at h after the call.",
    seen="courses",
)
def within_h(right: ModuleType, h: Array) -> Any:
    """Merging only moves numbers, so they can move within the memory of h."""
    merged = right.merge_heads(h)
    moved = h.reshape(merged.shape)
    moved[...] = merged
    return moved


@mistakes.add(
    stateful=True,
    hint="Merge twice and look at the first answer again.",
    seen="courses",
)
def kept_array(right: ModuleType) -> Any:
    """An array outside the function, made once for each shape, saves making one at every call."""
    arrays: dict[tuple[int, ...], Array] = {}

    def merge_heads(h: Array) -> Array:
        right.merge_heads(h)
        batch, heads, seq, d_head = h.shape
        fresh = np.empty((batch, seq, heads * d_head), np.result_type(h, np.float32))
        out = arrays.setdefault((*fresh.shape, fresh.itemsize), fresh)
        return np.concatenate([h[:, head] for head in range(heads)], axis=-1, out=out)

    return merge_heads
