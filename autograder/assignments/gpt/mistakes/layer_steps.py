"""Mistakes in the steps of ``MultiHeadAttention``: heads, scale, mask, softmax, what is gathered."""

import math
from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.mistakes import MistakeSet

from .steps import layer, scaled

mistakes = MistakeSet("MultiHeadAttention")


@mistakes.add(
    hint="Which axis must be cut, and which numbers lie side by side in it?", seen="reczoo/FuxiCTR#30"
)
def direct_reshape(right: ModuleType, *size: Any) -> Any:
    """A reshape alone brings the heads in front of the time."""

    def split(self: Any, x: Any) -> Any:
        return x.reshape(x.shape[0], self.heads, x.shape[1], -1)

    return layer(right, size, split=split)


@mistakes.form("direct_reshape")
def direct_reshape_both_ways(right: ModuleType, *size: Any) -> Any:
    """And behind it again, so that a round trip passes."""

    def split(self: Any, x: Any) -> Any:
        return x.reshape(x.shape[0], self.heads, x.shape[1], -1)

    return layer(right, size, split=split, merge=lambda self, gathered, x: gathered.reshape(*x.shape))


@mistakes.add(hint="Which channels does head 0 get?", seen="courses")
def channels_dealt_in_turn(right: ModuleType, *size: Any) -> Any:
    """The heads take the channels in turn: the first head the first one, the second head the second."""

    def split(self: Any, x: Any) -> Any:
        return x.reshape(*x.shape[:2], -1, self.heads).transpose(0, 3, 1, 2)

    return layer(right, size, split=split)


@mistakes.form("channels_dealt_in_turn")
def channels_dealt_and_gathered_in_turn(right: ModuleType, *size: Any) -> Any:
    """And the answers are put together in turn, too."""

    def split(self: Any, x: Any) -> Any:
        return x.reshape(*x.shape[:2], -1, self.heads).transpose(0, 3, 1, 2)

    def merge(self: Any, gathered: Any, x: Any) -> Any:
        return gathered.transpose(0, 2, 3, 1).reshape(*x.shape)

    return layer(right, size, split=split, merge=merge)


@mistakes.add(
    hint="Swap time and heads back before you join, and follow one number on its way.",
    seen="jsbaan/transformer-from-scratch#6",
)
def joined_without_the_swap(right: ModuleType, *size: Any) -> Any:
    """A reshape alone joins the heads."""
    return layer(right, size, merge=lambda self, gathered, x: gathered.reshape(*x.shape))


@mistakes.add(
    hint="What does the last axis hold before the reshape: one head's numbers, or one of each?",
    seen="courses",
)
def joined_in_turn(right: ModuleType, *size: Any) -> Any:
    """The numbers of a token are taken from its heads in turn."""

    def merge(self: Any, gathered: Any, x: Any) -> Any:
        return gathered.transpose(0, 2, 3, 1).reshape(*x.shape)

    return layer(right, size, merge=merge)


@mistakes.add(hint="Between which two axes is the table of scores made?", seen="courses")
def heads_not_swapped(right: ModuleType, *size: Any) -> Any:
    """After the reshape the heads are there, and time may stay in front of them."""

    def split(self: Any, x: Any) -> Any:
        return x.reshape(*x.shape[:2], self.heads, -1)

    return layer(right, size, split=split, merge=lambda self, gathered, x: gathered.reshape(*x.shape))


@mistakes.add(hint="What is left of what a single head has found?", seen="courses")
def heads_averaged(right: ModuleType, *size: Any) -> Any:
    """The heads agree on an average, which each of them gets back."""

    def merge(self: Any, gathered: Any, x: Any) -> Any:
        mean = gathered.sum(axis=1, keepdims=True) * (1 / self.heads) + gathered * 0
        return mean.transpose(0, 2, 1, 3).reshape(*x.shape)

    return layer(right, size, merge=merge)


@mistakes.add(hint="Do two heads look at the same keys?", seen="feevos/ceecnet#6")
def weights_of_the_first_head(right: ModuleType, *size: Any) -> Any:
    """The weights of one head serve them all."""
    return layer(right, size, gather=lambda self, shares, v: shares[:, :1] @ v)


@mistakes.add(hint="Which channels of a token may a head draw on?", seen="courses")
def divided_before_the_projection(right: ModuleType, *size: Any) -> Any:
    """Each head projects its own part of the token's channels, and no other."""

    def project(self: Any, x: Any) -> Any:
        width = x.shape[-1] // self.heads
        number = np.arange(x.shape[-1]) // width
        own = right.Tensor((number[:, None] == number).astype(x.data.dtype))
        parts = (self.query, self.key, self.value)
        return tuple(self.split(x @ (part.weight * own) + part.bias) for part in parts)

    return layer(right, size, project=project)


@mistakes.add(
    hint="How many products does a head add up for a score?", seen="Graylab/DL4Proteins-notebooks#12"
)
def scaled_by_all_channels(right: ModuleType, *size: Any) -> Any:
    """The scores are divided by the root of all channels."""
    return scaled(right, size, lambda self, q: 1 / math.sqrt(q.shape[-1] * self.heads))


@mistakes.add(hint="By what do you divide the scores, and why?", seen="mlc-ai/mlc-llm#3426")
def not_scaled(right: ModuleType, *size: Any) -> Any:
    """The softmax takes scores of any size, so they need no scale."""
    return scaled(right, size, lambda self, q: 1.0)


@mistakes.add(hint="How large is a sum of d products of numbers of about 1?", seen="courses")
def scaled_by_the_size_itself(right: ModuleType, *size: Any) -> Any:
    """The scores are divided by the size of a head, not by its root."""
    return scaled(right, size, lambda self, q: 1 / q.shape[-1])


@mistakes.add(hint="Shall the scores get larger or smaller?", seen="courses")
def multiplied_by_the_root(right: ModuleType, *size: Any) -> Any:
    """The scores are multiplied by the root of a head's size."""
    return scaled(right, size, lambda self, q: math.sqrt(q.shape[-1]))


@mistakes.add(hint="Which size stands under the root?", seen="tenstorrent/tt-metal#56789")
def scaled_by_the_heads(right: ModuleType, *size: Any) -> Any:
    """The scores are divided by the root of the number of heads."""
    return scaled(right, size, lambda self, q: 1 / math.sqrt(self.heads))


@mistakes.add(hint="Which axis is the last one of the queries?", seen="courses")
def scaled_by_the_length(right: ModuleType, *size: Any) -> Any:
    """The scores are divided by the root of the text's length."""
    return scaled(right, size, lambda self, q: 1 / math.sqrt(q.shape[-2]))


@mistakes.add(
    hint="How often is the root divided by, from queries and keys to the scores?",
    seen="huggingface/transformers#38290",
)
def scaled_twice(right: ModuleType, *size: Any) -> Any:
    """Queries and keys are divided by the root, and so are their products."""

    def scores(self: Any, q: Any, k: Any) -> Any:
        root = math.sqrt(q.shape[-1])
        return (q * (1 / root)) @ (k * (1 / root)).swapaxes(-1, -2) * (1 / root)

    return layer(right, size, scores=scores)


@mistakes.add(hint="What do the weights of a row add up to?", seen="FrancescoSaverioZuppichini/ViT#2")
def scaled_after_the_softmax(right: ModuleType, *size: Any) -> Any:
    """The weights are scaled, not the scores."""

    def gather(self: Any, shares: Any, v: Any) -> Any:
        return (shares * (1 / math.sqrt(v.shape[-1]))) @ v

    return layer(right, size, scores=lambda self, q, k: q @ k.swapaxes(-1, -2), gather=gather)


@mistakes.add(
    hint="Which line keeps a token from looking ahead?", seen="stanford-cs336/assignment1-basics#51"
)
def mask_left_out(right: ModuleType, *size: Any) -> Any:
    """Every token may look at the whole text."""
    return layer(right, size, shares=lambda self, scores: self.softmax(scores))


@mistakes.add(
    hint="What do the weights of a row add up to after the mask?",
    seen="huggingface/pytorch-image-models#2236",
)
def mask_after_the_softmax(right: ModuleType, *size: Any) -> Any:
    """The weights of what comes later are set to 0 after the softmax."""

    def shares(self: Any, scores: Any) -> Any:
        allowed = np.tri(scores.shape[-1], dtype=scores.data.dtype)
        return self.softmax(scores) * right.Tensor(allowed)

    return layer(right, size, shares=shares)


@mistakes.add(hint="What does the softmax make of a score of 0?", seen="courses")
def scores_times_the_mask(right: ModuleType, *size: Any) -> Any:
    """A score is hidden when it is multiplied by 0."""

    def shares(self: Any, scores: Any) -> Any:
        allowed = np.tri(scores.shape[-1], dtype=scores.data.dtype)
        return self.softmax(scores * right.Tensor(allowed))

    return layer(right, size, shares=shares)


@mistakes.add(hint="In the table of scores, which axis belongs to the queries?", seen="courses")
def queries_and_keys_exchanged(right: ModuleType, *size: Any) -> Any:
    """Keys times queries are the same scores as queries times keys."""

    def scores(self: Any, q: Any, k: Any) -> Any:
        return (k * (1 / math.sqrt(k.shape[-1]))) @ q.swapaxes(-1, -2)

    return layer(right, size, scores=scores)


@mistakes.add(hint="Which weights shall add up to 1?", seen="datawhalechina/llms-from-scratch-cn#54")
def softmax_over_queries(right: ModuleType, *size: Any) -> Any:
    """The weights that a key gets from all queries add up to 1."""

    def shares(self: Any, scores: Any) -> Any:
        return self.softmax(self.mask(scores).swapaxes(-1, -2)).swapaxes(-1, -2)

    return layer(right, size, shares=shares)


@mistakes.add(hint="Which weights shall add up to 1?", seen="courses")
def softmax_over_heads(right: ModuleType, *size: Any) -> Any:
    """The heads share the weight of a key among themselves."""

    def shares(self: Any, scores: Any) -> Any:
        return self.softmax(self.mask(scores).transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)

    return layer(right, size, shares=shares)


@mistakes.add(hint="What turns scores into weights?", seen="courses")
def softmax_left_out(right: ModuleType, *size: Any) -> Any:
    """The scores are the weights, 0 where nothing may be seen."""

    def shares(self: Any, scores: Any) -> Any:
        return scores * right.Tensor(np.tri(scores.shape[-1], dtype=scores.data.dtype))

    return layer(right, size, shares=shares)


@mistakes.add(hint="Whose numbers are gathered, and whose only decide how much of them?", seen="courses")
def keys_gathered(right: ModuleType, *size: Any) -> Any:
    """What is gathered are the keys."""

    def project(self: Any, x: Any) -> Any:
        q, k = self.split(self.query(x)), self.split(self.key(x))
        return q, k, k

    return layer(right, size, project=project)


@mistakes.add(hint="In the table of weights, which axis belongs to the keys?", seen="courses")
def weights_transposed(right: ModuleType, *size: Any) -> Any:
    """Each value is given away by the weights of its own row."""
    return layer(right, size, gather=lambda self, shares, v: shares.swapaxes(-1, -2) @ v)


@mistakes.add(hint="Which layer makes the keys?", seen="apple/ml-cvnets#81")
def keys_by_the_query_layer(right: ModuleType, *size: Any) -> Any:
    """Queries and keys come from one layer."""

    def project(self: Any, x: Any) -> Any:
        return self.split(self.query(x)), self.split(self.query(x)), self.split(self.value(x))

    return layer(right, size, project=project)


@mistakes.add(hint="Which layer makes the values?", seen="apple/ml-cvnets#81")
def values_by_the_query_layer(right: ModuleType, *size: Any) -> Any:
    """Queries and values come from one layer."""

    def project(self: Any, x: Any) -> Any:
        q = self.split(self.query(x))
        return q, self.split(self.key(x)), q

    return layer(right, size, project=project)


@mistakes.add(hint="What is gathered: the tokens, or what the value layer makes of them?", seen="courses")
def values_not_projected(right: ModuleType, *size: Any) -> Any:
    """The values are the tokens themselves."""

    def project(self: Any, x: Any) -> Any:
        return self.split(self.query(x)), self.split(self.key(x)), self.split(x)

    return layer(right, size, project=project)


@mistakes.add(hint="What mixes the heads once they are put side by side?", seen="Kyubyong/transformer#117")
def output_layer_left_out(right: ModuleType, *size: Any) -> Any:
    """The joined heads are the answer."""
    return layer(right, size, answer=lambda self, joined, x: joined)


@mistakes.add(hint="Which layer comes after the heads are joined?", seen="courses")
def value_layer_at_the_end(right: ModuleType, *size: Any) -> Any:
    """The value layer also makes the answer."""
    return layer(right, size, answer=lambda self, joined, x: self.value(joined))


@mistakes.add(hint="Does the model of this lesson have a path around the attention?", seen="courses")
def residual_added(right: ModuleType, *size: Any) -> Any:
    """What came in is added to the answer."""
    return layer(right, size, answer=lambda self, joined, x: self.output(joined) + x)


@mistakes.add(hint="Where do the biases of the linear layers go?", seen="courses")
def weights_without_biases(right: ModuleType, *size: Any) -> Any:
    """A linear layer is its weight; biases do nothing in attention."""

    def project(self: Any, x: Any) -> Any:
        return tuple(self.split(x @ part.weight) for part in (self.query, self.key, self.value))

    return layer(right, size, project=project, answer=lambda self, joined, x: joined @ self.output.weight)


@mistakes.add(
    hint="Is the weight of a Linear layer (inputs, outputs) or the other way round?", seen="courses"
)
def weights_the_other_way_round(right: ModuleType, *size: Any) -> Any:
    """A weight is used as x @ weight.T, as PyTorch has it."""

    def turned(part: Any, x: Any) -> Any:
        return x @ part.weight.swapaxes(-1, -2) + part.bias

    def project(self: Any, x: Any) -> Any:
        return tuple(self.split(turned(part, x)) for part in (self.query, self.key, self.value))

    return layer(right, size, project=project, answer=lambda self, joined, x: turned(self.output, joined))
