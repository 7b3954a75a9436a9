"""Mistakes seen in ``split_heads``."""

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograder.checking.mistakes import MistakeSet

Array = NDArray[Any]

mistakes = MistakeSet("split_heads")


@mistakes.add(
    hint="Write down a 2 by 4 table and read it row by row: in which order do its numbers come?",
    seen="reczoo/FuxiCTR#30",
)
def direct_reshape(right: ModuleType, x: Array, heads: int) -> Any:
    """One reshape straight to (B, H, T, d) puts every number where it belongs, because the shape is right."""
    batch, seq, d_model = x.shape
    return x.reshape(batch, heads, seq, d_model // heads)


@mistakes.add(
    hint="Over which axis does attention compare tokens, and what stands there in your answer?",
    seen="courses",
)
def no_swap(right: ModuleType, x: Array, heads: int) -> Any:
    """Cutting the channels in two axes is all: time may stay before the heads."""
    batch, seq, d_model = x.shape
    return x.reshape(batch, seq, heads, d_model // heads)


@mistakes.add(
    hint="Are the channels of one head neighbours in x?",
    seen="courses",
)
def interleaved(right: ModuleType, x: Array, heads: int) -> Any:
    """Channels are dealt out like cards: head h gets channels h, h + H, h + 2H ..."""
    batch, seq, d_model = x.shape
    return x.reshape(batch, seq, d_model // heads, heads).transpose(0, 3, 1, 2)


@mistakes.add(
    hint="Which axis should answer[0] remove?",
    seen="gazelle93/Transformer-Various-Positional-Encoding#1",
)
def heads_before_batch(right: ModuleType, x: Array, heads: int) -> Any:
    """The heads are the outermost axis, before the batch."""
    return right.split_heads(x, heads).swapaxes(0, 1)


@mistakes.add(
    hint="Which numbers of x does x.reshape(B * H, T, d) put beside each other?",
    seen="649453932/Chinese-Text-Classification-Pytorch#53",
)
def viewed_into_batch(right: ModuleType, x: Array, heads: int) -> Any:
    """One reshape to (B*H, T, d) makes each head a sequence of its own."""
    right.split_heads(x, heads)
    return x.reshape(-1, x.shape[1], x.shape[2] // heads)


@mistakes.add(
    hint="Who is meant to tell the sequences of a batch from the heads afterwards?",
    seen="courses",
)
def heads_in_batch(right: ModuleType, x: Array, heads: int) -> Any:
    """Batch and heads are one axis of B*H, since each head works alone."""
    split = right.split_heads(x, heads)
    return split.reshape(-1, *split.shape[2:])


@mistakes.add(
    hint="If a mask comes once a sequence, in which order must it be repeated to fit your answer?",
    seen="lsdefine/attention-is-all-you-need-keras#28",
)
def heads_outside_batch(right: ModuleType, x: Array, heads: int) -> Any:
    """Heads and batch are one axis of H*B: first head 0 of all sequences, then head 1."""
    right.split_heads(x, heads)
    return np.concatenate(np.split(x, heads, axis=-1))


@mistakes.add(
    hint="What should the last axis of the answer hold: one token's features, or one feature over time?",
    seen="courses",
)
def features_before_time(right: ModuleType, x: Array, heads: int) -> Any:
    """Every head comes as (d, T), ready to be used as keys."""
    return right.split_heads(x, heads).swapaxes(2, 3)


@mistakes.add(
    hint="A reshape cuts and joins neighbouring axes only: which ones were neighbours when yours was done?",
    seen="courses",
)
def transposed_then_reshaped(right: ModuleType, x: Array, heads: int) -> Any:
    """Once the channels are brought before time, one reshape does the rest."""
    batch, seq, d_model = x.shape
    return x.transpose(0, 2, 1).reshape(batch, heads, seq, d_model // heads)


@mistakes.add(
    hint="Into how many pieces does your answer cut the channels?",
    seen="feevos/ceecnet#6",
)
def one_head(right: ModuleType, x: Array, heads: int) -> Any:
    """A new axis of length one is all: its single head has all channels."""
    right.split_heads(x, heads)
    return x[:, None]


@mistakes.add(
    hint="How wide is x, and how wide are all your heads together?",
    seen="courses",
)
def channels_for_each_head(right: ModuleType, x: Array, heads: int) -> Any:
    """Every head has all channels: x is repeated along a new axis, once for each head."""
    right.split_heads(x, heads)
    return np.repeat(x[:, None], heads, axis=1)


@mistakes.add(
    hint="The answer is one array with an axis for the heads: how do many arrays become one?",
    seen="courses",
)
def list_of_heads(right: ModuleType, x: Array, heads: int) -> Any:
    """A list of H arrays is as good as an array with an axis for the heads."""
    right.split_heads(x, heads)
    return np.split(x, heads, axis=-1)


@mistakes.add(
    hint="With 12 channels and heads = 3, how many numbers has one head?",
    seen="courses",
)
def heads_taken_for_width(right: ModuleType, x: Array, heads: int) -> Any:
    """The argument heads says how many channels one head has."""
    return right.split_heads(x, right.split_heads(x, heads).shape[-1])


@mistakes.add(
    hint="How many axes has your answer when heads is 1?",
    seen="courses",
)
def one_head_as_it_is(right: ModuleType, x: Array, heads: int) -> Any:
    """For a single head there is nothing to split, and x is the answer."""
    split = right.split_heads(x, heads)
    return x if heads == 1 else split


@mistakes.add(
    hint="Which heads does the task exclude?",
    seen="courses",
)
def one_channel_refused(right: ModuleType, x: Array, heads: int) -> Any:
    """A head needs two channels at least: one number is no vector."""
    if heads >= x.shape[-1] > 1:
        raise ValueError("a head of one channel makes no sense")
    return right.split_heads(x, heads)


@mistakes.add(
    hint="What are 6 % 0, 6 % True and 6 % -2?",
    seen="courses",
)
def only_divisibility(right: ModuleType, x: Array, heads: int) -> Any:
    """Whether the channels can be divided by heads is all there is to ask."""
    batch, seq, d_model = x.shape
    if d_model % heads != 0:
        raise ValueError("heads must divide d_model")
    return x.reshape(batch, seq, heads, d_model // heads).swapaxes(1, 2)


@mistakes.add(
    hint="What becomes of the channels that are left over?",
    seen="vipshop/cache-dit#581",
)
def floored(right: ModuleType, x: Array, heads: Any) -> Any:
    """Where heads does not divide the channels, the remainder may be dropped."""
    if isinstance(heads, int) and not isinstance(heads, bool) and heads > 0:
        x = x[..., : x.shape[-1] - x.shape[-1] % heads]
    return right.split_heads(x, heads)


@mistakes.add(
    hint="What does isinstance(True, int) say?",
    seen="ai-dynamo/dynamo#14431",
)
def bool_passes(right: ModuleType, x: Array, heads: Any) -> Any:
    """Whatever is an int may count heads."""
    return right.split_heads(x, int(heads) if isinstance(heads, int) else heads)


@mistakes.add(
    hint="What does int() make of 2.5, of True, of a text?",
    seen="courses",
)
def converted(right: ModuleType, x: Array, heads: Any) -> Any:
    """Whatever int() understands may count heads."""
    return right.split_heads(x, int(heads))


@mistakes.add(
    hint="Which types have the numbers that come out of an array?",
    seen="pytorch/pytorch#75704",
)
def numpy_integers_refused(right: ModuleType, x: Array, heads: Any) -> Any:
    """Only Python's own int may count heads."""
    if type(heads) is not int:
        raise TypeError("heads must be an int")
    return right.split_heads(x, heads)


@mistakes.add(
    hint="Which exceptions does the task name for arguments that are wrong?",
    seen="courses",
)
def asserted(right: ModuleType, x: Array, heads: Any) -> Any:
    """An assert is the way to refuse a wrong argument."""
    try:
        return right.split_heads(x, heads)
    except (TypeError, ValueError) as error:
        raise AssertionError("x or heads is wrong") from error


@mistakes.add(
    hint="What does your function do with an x that has two axes, or four?",
    seen="courses",
)
def any_axes(right: ModuleType, x: Array, heads: int) -> Any:
    """Whatever stands before time and channels is carried along, however many axes that are."""
    right.split_heads(np.zeros((1, 1, x.shape[-1])), heads)
    return x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads).swapaxes(-3, -2)


@mistakes.add(
    hint="Whose array gets the new shape?",
    seen="courses",
)
def shape_set_in_place(right: ModuleType, x: Array, heads: int) -> Any:
    """Giving x a new shape makes a new array."""
    right.split_heads(x, heads)
    split = x if x.flags.c_contiguous else x.copy()
    split.shape = (*x.shape[:2], heads, x.shape[2] // heads)
    return split.swapaxes(1, 2)


@mistakes.add(
    hint="Print the dtype of x and that of your answer.",
    seen="courses",
)
def made_float32(right: ModuleType, x: Array, heads: int) -> Any:
    """Networks compute in float32, so the answer is float32."""
    return right.split_heads(x, heads).astype(np.float32)


@mistakes.add(
    stateful=True,
    hint="Call the function twice and look at the first answer again.",
    seen="linkedin/Liger-Kernel#254",
)
def one_buffer(right: ModuleType) -> Any:
    """One array can serve the answers of all calls of the same shape."""
    buffers: dict[tuple[int, ...], Array] = {}

    def split_heads(x: Array, heads: int) -> Array:
        answer = right.split_heads(x, heads)
        buffer = buffers.setdefault((*answer.shape, answer.itemsize, ord(answer.dtype.kind)), answer.copy())
        buffer[...] = answer
        return buffer

    return split_heads
