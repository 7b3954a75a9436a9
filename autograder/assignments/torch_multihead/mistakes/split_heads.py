"""Mistakes seen in ``split_heads``."""

from types import ModuleType
from typing import Any

import torch

from autograder.checking.mistakes import MistakeSet

mistakes = MistakeSet("split_heads", method_of="MultiHeadAttention")


@mistakes.add(hint="Where do channels 0 to d - 1 of the second token go?", seen="courses")
def direct_reshape(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """The shape (B, H, T, d) is all that is wanted, so one reshape leads there."""
    return x.reshape(batch_size, self.num_heads, -1, self.head_dim)


@mistakes.add(hint="Which of the axes does the task name second?", seen="courses")
def not_swapped(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """When the last axis is cut in two, the heads are split."""
    return x.reshape(batch_size, -1, self.num_heads, self.head_dim)


@mistakes.add(hint="Count the axes from 0: which two must trade places?", seen="courses")
def heads_and_width_swapped(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """The axes 1 and 3 trade places."""
    return x.reshape(batch_size, -1, self.num_heads, self.head_dim).transpose(1, 3)


@mistakes.add(hint="Where do the first d channels of a token go?", seen="courses")
def interleaved(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """Channels are dealt out in turn, one to each head."""
    return x.reshape(batch_size, -1, self.head_dim, self.num_heads).permute(0, 3, 1, 2)


@mistakes.add(hint="Which axis does the task name first?", seen="courses")
def heads_outermost(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """Heads work by themselves, so they are the first axis, before the batch."""
    return x.reshape(batch_size, -1, self.num_heads, self.head_dim).permute(2, 0, 1, 3)


@mistakes.add(hint="What does -1 stand for if the first size is 1?", seen="courses")
def batch_of_one(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """The size that is written as -1 takes up whatever there is, sequences as well."""
    return x.reshape(1, -1, self.num_heads, self.head_dim).transpose(1, 2)


@mistakes.add(hint="What is done with 1 / sqrt(d), and where?", seen="courses")
def scaled_already(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """Every head is divided by the root of its width when it is split off."""
    return right.split_heads(self, x, batch_size) / self.head_dim**0.5


@mistakes.add(hint="Print the dtype of x and that of the answer.", seen="courses")
def made_float32(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """PyTorch computes in float32."""
    return right.split_heads(self, x, batch_size).float()


@mistakes.add(hint="Does your answer have a grad_fn?", seen="courses")
def detached(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """Only numbers move here, so gradients do not matter."""
    return right.split_heads(self, x.detach(), batch_size)


@mistakes.form("detached")
def by_way_of_numpy(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """The numbers are moved in NumPy, and come back as a new tensor that needs no gradient."""
    return torch.tensor(right.split_heads(self, x, batch_size).detach().numpy(), requires_grad=True)


@mistakes.add(hint="Give one module sequences of two lengths, one after the other.", seen="courses")
def length_of_first_call(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """All sequences are as long as the first one, so the module keeps its length."""
    if not hasattr(self, "seq"):
        self.seq = x.shape[1]
    return x.reshape(batch_size, self.seq, self.num_heads, self.head_dim).transpose(1, 2)


@mistakes.add(stateful=True, hint="Call it twice with different numbers.", seen="courses")
def first_answer_kept(right: ModuleType) -> Any:
    """Whoever has split an x of this shape need not do it again."""
    kept: dict[Any, Any] = {}

    def split_heads(self: Any, x: Any, batch_size: int) -> Any:
        return kept.setdefault(x.shape, right.split_heads(self, x, batch_size))

    return split_heads
