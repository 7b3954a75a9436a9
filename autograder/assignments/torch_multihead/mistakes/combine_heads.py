"""Mistakes seen in ``combine_heads``."""

from types import ModuleType
from typing import Any

from autograder.checking.mistakes import MistakeSet

mistakes = MistakeSet("combine_heads", method_of="MultiHeadAttention")


@mistakes.add(hint="What does view need, and what does a transpose leave behind?", seen="courses")
def view_of_a_transpose(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """A view can cut any tensor anew, a transposed one as well."""
    return x.transpose(1, 2).view(batch_size, -1, self.d_model)


@mistakes.add(hint="Which numbers stand side by side in memory before your last step?", seen="courses")
def not_swapped_back(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """The shape (B, T, C) is all that is wanted, so one reshape leads there."""
    return x.reshape(batch_size, -1, self.d_model)


@mistakes.form("not_swapped_back")
def contiguous_before(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """What is contiguous can be viewed, in whichever order the axes are: here heads and channels trade."""
    return x.transpose(2, 3).contiguous().view(batch_size, -1, self.d_model)


@mistakes.add(hint="Which channels of a token come first?", seen="courses")
def interleaved_back(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """The first channel of every head comes first, then the second ones."""
    return x.permute(0, 2, 3, 1).reshape(batch_size, -1, self.d_model)


@mistakes.add(hint="How many channels has a token, of all heads together?", seen="courses")
def heads_added(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """The heads are combined by their sum."""
    return x.sum(dim=1)


@mistakes.add(hint="Which axes does the answer have?", seen="courses")
def without_batch(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """The output layer takes tokens, of whichever sequence they are."""
    return x.transpose(1, 2).reshape(-1, self.d_model)


@mistakes.add(hint="What remains of the batch?", seen="courses")
def time_first(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """Time comes first, as PyTorch's own layers have it."""
    return right.combine_heads(self, x, batch_size).transpose(0, 1)


@mistakes.add(hint="Print the dtype of x and that of the answer.", seen="courses")
def made_float32(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """PyTorch computes in float32."""
    return right.combine_heads(self, x, batch_size).float()


@mistakes.add(hint="Does your answer have a grad_fn?", seen="courses")
def detached(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """A contiguous copy is made of the data alone."""
    return right.combine_heads(self, x.data, batch_size)


@mistakes.add(hint="Give one module sequences of two lengths, one after the other.", seen="courses")
def length_of_first_call(right: ModuleType, self: Any, x: Any, batch_size: int) -> Any:
    """All sequences are as long as the first one, so the module keeps its length."""
    if not hasattr(self, "seq"):
        self.seq = x.shape[2]
    return x.transpose(1, 2).reshape(batch_size, self.seq, self.d_model)


@mistakes.add(stateful=True, hint="Call it twice with different numbers.", seen="courses")
def first_answer_kept(right: ModuleType) -> Any:
    """Whoever has combined heads of this shape need not do it again."""
    kept: dict[Any, Any] = {}

    def combine_heads(self: Any, x: Any, batch_size: int) -> Any:
        return kept.setdefault(x.shape, right.combine_heads(self, x, batch_size))

    return combine_heads
