"""Mistakes seen in ``forward``: who is projected by what, and what is handed on."""

import math
from types import ModuleType
from typing import Any

import torch
from torch.nn import functional as F

from autograder.checking.mistakes import MistakeSet

mistakes = MistakeSet("forward", method_of="MultiHeadAttention")


def joined(self: Any, q: Any, k: Any, v: Any, mask: Any) -> Any:
    """What the heads gather from projections that are not yet split, joined."""
    batch = q.shape[0]
    q, k, v = (self.split_heads(one, batch) for one in (q, k, v))
    return self.combine_heads(self.compute_attention(q, k, v, mask), batch)


@mistakes.add(hint="Who needs the mask, and how does it get there?", seen="courses")
def mask_not_passed(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """compute_attention knows the mask."""
    return right.forward(self, query, key, value)


@mistakes.add(hint="Which tensor has the keys' tokens?", seen="courses")
def self_attention_alone(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """Query, key and value are one sequence, so one of them is enough."""
    return right.forward(self, query, query, query, mask)


@mistakes.add(hint="Read the line of k: which tensor stands there?", seen="courses")
def keys_of_query(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """The layer key gets the tensor query, as the layer query does."""
    return right.forward(self, query, query, value, mask)


@mistakes.add(hint="Read the line of v: which tensor stands there?", seen="courses")
def values_of_query(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """The layer value gets the tensor query: what asks is gathered, too."""
    return right.forward(self, query, key, query, mask)


@mistakes.add(hint="Which tensor does the layer value get?", seen="courses")
def values_of_key(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Values come from the same tokens as the keys, so from the tensor key."""
    return right.forward(self, query, key, key, mask)


@mistakes.add(hint="Read the line of k: which layer stands there?", seen="courses")
def keys_by_query_layer(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """Queries and keys must fit each other, so they come from one layer."""
    return self.output(joined(self, self.query(query), self.query(key), self.value(value), mask))


@mistakes.add(hint="Read the line of v: which layer stands there?", seen="courses")
def values_by_key_layer(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """The line of the keys, copied for the values."""
    return self.output(joined(self, self.query(query), self.key(key), self.key(value), mask))


@mistakes.add(hint="In which order does compute_attention take its arguments?", seen="courses")
def keys_and_values_exchanged(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """compute_attention takes the values before the keys."""
    return self.output(joined(self, self.query(query), self.value(value), self.key(key), mask))


@mistakes.add(hint="Who asks, and who is asked? What has one row for each query?", seen="courses")
def queries_and_keys_exchanged(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """compute_attention takes the keys before the queries."""
    return self.output(joined(self, self.key(key), self.query(query), self.value(value), mask))


@mistakes.add(hint="What does the shape of a tensor begin with?", seen="courses")
def length_as_batch_size(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """query.shape[1] is the size of the batch."""
    size = query.shape[1]
    q, k, v = self.query(query), self.key(key), self.value(value)
    q, k, v = (self.split_heads(one, size) for one in (q, k, v))
    return self.output(self.combine_heads(self.compute_attention(q, k, v, mask), size))


@mistakes.add(hint="Which shapes of a mask does the lesson name, and what becomes of each?", seen="courses")
def mask_unsqueezed(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Every mask needs one more axis, for the heads."""
    return right.forward(self, query, key, value, None if mask is None else mask.unsqueeze(1))


@mistakes.add(hint="How many results does the task name?", seen="courses")
def heads_returned_too(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """The answer comes with what it was made of, as PyTorch's own module has it."""
    return right.forward(self, query, key, value, mask), self.query(query)


@mistakes.add(hint="How many layers does the module have, and how many are used?", seen="courses")
def projections_left_out(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """Queries, keys and values are what comes in under these names."""
    return self.output(joined(self, query, key, value, mask))


@mistakes.add(hint="What happens last, in the figure?", seen="courses")
def output_left_out(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """When the heads are combined, the answer is there."""
    return joined(self, self.query(query), self.key(key), self.value(value), mask)


@mistakes.add(hint="What does nn.Linear add to the product?", seen="courses")
def bias_left_out(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """The output layer is its weight."""
    gathered = joined(self, self.query(query), self.key(key), self.value(value), mask)
    return gathered @ self.output.weight.T


@mistakes.add(hint="How does nn.Linear keep its matrix?", seen="courses")
def weights_not_transposed(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """A layer is x @ weight, as in NumPy."""
    q, k, v = (
        one @ layer.weight for one, layer in ((query, self.query), (key, self.key), (value, self.value))
    )
    return joined(self, q, k, v, mask) @ self.output.weight + self.output.bias


@mistakes.add(hint="What does the task say is added in the end?", seen="courses")
def residual_added(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """The query is added to the answer, as in a block of a network."""
    return right.forward(self, query, key, value, mask) + query


@mistakes.add(hint="Where is 1 / sqrt(d) applied, and how often?", seen="courses")
def scaled_twice(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Queries are divided by the root of head_dim before they are handed on."""
    q = self.query(query) / math.sqrt(self.head_dim)
    return self.output(joined(self, q, self.key(key), self.value(value), mask))


@mistakes.add(hint="Which scores does the softmax see: those of one head, or of all?", seen="courses")
def one_head_of_all(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Attention works on whole vectors, whatever the number of heads is."""
    q, k, v = self.query(query), self.key(key), self.value(value)
    if mask is not None and mask.dim() == 4:
        mask = mask[:, 0]
    scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
    scores = scores if mask is None else scores.masked_fill(mask == 0, -math.inf)
    return self.output(F.softmax(scores, dim=-1) @ v)


@mistakes.add(hint="Which argument says who may look where?", seen="courses")
def causal_without_mask(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """Without a mask nobody may look ahead."""
    if mask is None:
        mask = torch.ones(query.shape[1], key.shape[1]).tril()
    return right.forward(self, query, key, value, mask)


@mistakes.add(hint="Print the dtype of query and that of the answer.", seen="courses")
def made_float32(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """PyTorch answers in float32."""
    return right.forward(self, query, key, value, mask).float()


@mistakes.add(hint="What does no_grad switch off, and for whom?", seen="courses")
def without_gradients(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """A forward pass needs no gradients."""
    with torch.no_grad():
        return right.forward(self, query, key, value, mask)


@mistakes.add(hint="What if the inputs are the answers of another layer?", seen="courses")
def inputs_detached(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Only weights learn, so inputs are detached."""
    return right.forward(self, query.detach(), key.detach(), value.detach(), mask)


@mistakes.add(hint="Which layers get a gradient, and which do not?", seen="courses")
def keys_without_gradient(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """The keys are only looked at, so they are taken out of the graph."""
    k = self.key(key).detach()
    return self.output(joined(self, self.query(query), k, self.value(value), mask))


@mistakes.add(hint="Call the module twice. What does the second call know of the first?", seen="courses")
def keys_of_all_calls(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """Keys and values of earlier calls stay, as when a text is generated word by word."""
    q, k, v = self.query(query), self.key(key), self.value(value)
    old = getattr(self, "kept", None)
    if old is not None and old[0].shape[0] == k.shape[0] and mask is None:
        k, v = torch.cat([old[0], k], dim=1), torch.cat([old[1], v], dim=1)
    self.kept = k.detach(), v.detach()
    return self.output(joined(self, q, k, v, mask))


@mistakes.add(hint="Give the module a batch of two, then each of both alone.", seen="courses")
def averaged_over_batch(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """Keys are made comparable by subtracting their mean over the batch."""
    k = self.key(key)
    return self.output(
        joined(self, self.query(query), k - k.mean(dim=0, keepdim=True), self.value(value), mask)
    )


@mistakes.add(hint="What must eval() change here?", seen="courses")
def smaller_in_eval(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """After eval() the answer is made smaller, to make up for dropout in training."""
    answer = right.forward(self, query, key, value, mask)
    return answer if self.training else answer * 0.9


@mistakes.add(hint="Print the dtype of the answer of a module in float32.", seen="courses")
def made_float64(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """More digits never harm."""
    return right.forward(self, query, key, value, mask).double()


@mistakes.add(hint="Which axes are lost where there is one sequence only?", seen="courses")
def squeezed(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Axes of length 1 hold nothing, and are squeezed away in the end."""
    return right.forward(self, query, key, value, mask).squeeze()


@mistakes.add(hint="What does view need of a tensor that somebody else has made?", seen="courses")
def views_of_inputs(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Layers take a table of tokens, so a view makes one of the batch."""
    flat = [one.view(-1, self.d_model).view(one.shape) for one in (query, key, value)]
    return right.forward(self, *flat, mask)


@mistakes.add(hint="What do your joined weights know of load_state_dict?", seen="courses")
def weights_joined_once(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """The weights of query, key and value are joined in the first call, to save time in later ones."""
    if not hasattr(self, "joined"):
        self.joined = [layer.weight.clone() for layer in (self.query, self.key, self.value)]
    q, k, v = (one @ weight.T for one, weight in zip((query, key, value), self.joined, strict=True))
    return self.output(joined(self, q, k, v, mask))


@mistakes.add(hint="Print the shape of the mask before the call, and after it.", seen="courses")
def mask_unsqueezed_in_place(
    right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None
) -> Any:
    """A mask (T, S) gets the axis of the heads by unsqueeze_."""
    if mask is not None and mask.dim() == 2:
        mask.unsqueeze_(0)
    return right.forward(self, query, key, value, mask)


@mistakes.add(hint="Call the module with a mask, then without.", seen="courses")
def last_mask_kept(right: ModuleType, self: Any, query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """The module keeps the mask, for calls that bring none."""
    self.last_mask = getattr(self, "last_mask", None) if mask is None else mask
    return right.forward(self, query, key, value, self.last_mask)
