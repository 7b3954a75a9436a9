"""The checks that you see while you work: examples small enough to be followed by hand.

Each ``check_...`` function builds a module of your class, calls its methods and compares what comes back with
known numbers; how it does so, and what it says, stands in ``outcomes.py`` and ``module_outcomes.py``. More
checks, with other sizes and numbers, run when the notebook is graded. Nothing is computed before a check is
called.

A check also takes ``torch`` from the notebook: it makes its tensors where your code runs.
"""

from typing import TYPE_CHECKING, Any

from module_outcomes import TorchMissing, fill, linear, method, numbers, put, size
from numpy_numbers import HEADS
from outcomes import X_AXES, CheckFailed, Milestones, Passed, StudentFunction, compare
from torch_examples import (
    ORANGE,
    ForwardExample,
    attention_examples,
    forward_examples,
    weights_of_numpy,
)
from worked_examples import addresses, addresses_in_three_heads, eight_in_two_heads, origin

if TYPE_CHECKING:
    from pictures import Picture

__all__ = ["CheckFailed", "TorchMissing"]  # what a failing check raises, and the lesson's first cell

HEAD_AXES = "batch heads seq head_dim"

milestones = Milestones(
    ("MultiHeadAttention", "split_heads", "compute_attention", "combine_heads", "forward"),
    last="the same numbers",
)


def check_MultiHeadAttention(MultiHeadAttention: StudentFunction) -> Passed:  # noqa: N802 (its name)
    """The sizes and layers of a module with three heads, and of one with one head."""
    __tracebackhide__ = True
    milestones.begin("MultiHeadAttention")
    for d_model, heads in ((6, 3), (4, 1)):
        what = f"MultiHeadAttention({d_model}, {heads})"
        module = MultiHeadAttention(d_model, heads)
        size(what, module, "d_model", d_model)
        size(what, module, "num_heads", heads)
        size(what, module, "head_dim", d_model // heads)
        for name in ("query", "key", "value"):
            linear(what, module, name, d_model, has_bias=False)
        linear(what, module, "output", d_model, has_bias=True)
    return Passed("MultiHeadAttention", 2, milestones)


def check_split_heads(MultiHeadAttention: StudentFunction, torch: Any) -> Passed:
    """Eight numbers in two heads, then numbers that tell where they come from."""
    __tracebackhide__ = True
    milestones.begin("split_heads")
    x = eight_in_two_heads().transpose(0, 2, 1, 3).reshape(1, 2, 4)
    what = "split_heads(x, 1) in 2 heads with x = torch.arange(8).reshape(1, 2, 4)"
    split_heads = method(what, MultiHeadAttention(4, 2), "split_heads")
    expected = eight_in_two_heads()
    got = numbers(what, split_heads(torch.tensor(x), 1), expected, HEAD_AXES)
    compare(what, got, expected, HEAD_AXES, "Head 0 is [[0, 1], [4, 5]].")

    what = "split_heads(x, 2) in 3 heads with x[b, t, c] = 100*b + 10*t + c"
    split_heads = method(what, MultiHeadAttention(6, 3), "split_heads")
    expected = addresses_in_three_heads()
    got = numbers(what, split_heads(torch.tensor(addresses()), 2), expected, HEAD_AXES)
    compare(what, got, expected, HEAD_AXES, origin)
    return Passed("split_heads", 2, milestones)


def check_compute_attention(MultiHeadAttention: StudentFunction, torch: Any) -> Passed:
    """Two keys, the row of "Orange", masks of three shapes, and two heads under the causal mask."""
    __tracebackhide__ = True
    milestones.begin("compute_attention")
    examples = attention_examples()
    for example in examples:
        what = f"compute_attention, {example.name}"
        module = MultiHeadAttention(example.heads * example.query.shape[-1], example.heads)
        compute_attention = method(what, module, "compute_attention")
        arguments = [torch.tensor(one) for one in (example.query, example.key, example.value)]
        if example.mask is not None:
            arguments.append(torch.tensor(example.mask))
        got = numbers(what, compute_attention(*arguments), example.out, HEAD_AXES)
        compare(what, got, example.out, HEAD_AXES, example.hint)
    return Passed("compute_attention", len(examples), milestones, _orange)


def check_combine_heads(MultiHeadAttention: StudentFunction, torch: Any) -> Passed:
    """The examples of split_heads, the other way round."""
    __tracebackhide__ = True
    milestones.begin("combine_heads")
    expected = eight_in_two_heads().transpose(0, 2, 1, 3).reshape(1, 2, 4)
    what = "combine_heads(x, 1) with head 0 = [[0, 1], [4, 5]] and head 1 = [[2, 3], [6, 7]]"
    combine_heads = method(what, MultiHeadAttention(4, 2), "combine_heads")
    got = numbers(what, combine_heads(torch.tensor(eight_in_two_heads()), 1), expected, X_AXES)
    compare(what, got, expected, X_AXES, "Token 0 is [0, 1, 2, 3] again.")

    what = "combine_heads(x, 2) with the 3 heads of x[b, t, c] = 100*b + 10*t + c"
    combine_heads = method(what, MultiHeadAttention(6, 3), "combine_heads")
    got = numbers(what, combine_heads(torch.tensor(addresses_in_three_heads()), 2), addresses(), X_AXES)
    compare(what, got, addresses(), X_AXES, origin)
    return Passed("combine_heads", 2, milestones)


def check_forward(MultiHeadAttention: StudentFunction, torch: Any) -> Passed:
    """One token, without and with a bias, two tokens, the numbers of the NumPy lesson, and two sequences."""
    __tracebackhide__ = True
    milestones.begin("forward")
    examples = forward_examples()
    modules: dict[int, tuple[Any, Any]] = {}  # examples of one width have the same matrices
    for example in examples:
        what, d_model = f"forward, {example.name}", example.query.shape[-1]
        if d_model not in modules:
            module = MultiHeadAttention(d_model, example.heads)
            modules[d_model] = module, fill(what, module, example, torch)
        module, bias = modules[d_model]
        put(f"{what}, self.output.bias", bias, torch.tensor(example.bias))
        # By its own name, so that an error is told as that of forward.
        answer = method(what, module, "forward")(*_arguments(example, torch))
        got = numbers(what, answer, example.y, X_AXES)
        compare(what, got, example.y, X_AXES, example.hint)
    return Passed("forward", len(examples), milestones, _weights)


def _arguments(example: ForwardExample, torch: Any) -> list[Any]:
    """Query, key and value as tensors, and the mask where there is one; one array becomes one tensor."""
    query = torch.tensor(example.query)
    is_self = example.key is example.query
    arguments = [query, *([query] * 2 if is_self else map(torch.tensor, (example.key, example.value)))]
    return arguments if example.mask is None else [*arguments, torch.tensor(example.mask)]


def _orange() -> "Picture":
    import numpy as np  # noqa: PLC0415 - see outcomes.py

    from pictures import weights  # noqa: PLC0415

    title = 'What "Orange" looks at in "Orange is my favorite fruit"'
    return weights({"Orange": np.array([ORANGE])}, title)


def _weights() -> "Picture":
    from pictures import weights  # noqa: PLC0415 - see outcomes.py

    title = "What each head listens to: the weights of the three tokens under the causal mask"
    return weights({f"{HEADS} heads": weights_of_numpy()}, title)
