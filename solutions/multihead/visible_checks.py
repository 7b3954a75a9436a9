"""The checks that you see while you work: examples small enough to be done by hand.

Each ``check_...`` function calls your function and compares what comes back with known numbers; how it does
so, and what it says, stands in ``outcomes.py``. More checks, with other sizes and numbers, run when the
notebook is graded. Nothing is computed before a check is called.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from layer_examples import MATRICES, ForwardExample, backward_examples
from outcomes import (
    MATRIX_AXES,
    X_AXES,
    CheckFailed,
    Milestones,
    Passed,
    StudentFunction,
    compare,
    describe,
    fail,
    look_up,
    route_hint,
    three_routes,
    two_results,
)
from worked_examples import (
    addresses,
    addresses_in_three_heads,
    eight_in_two_heads,
    forward_examples,
    origin,
    weights_of_three_tokens,
)

if TYPE_CHECKING:
    from pictures import Picture

__all__ = ["CheckFailed"]  # what a failing check raises

HEAD_AXES = "batch heads seq d_head"
CACHE_KEYS = ("x", "heads", "attention", "joined")

milestones = Milestones(("split_heads", "merge_heads", "multihead", "multihead_backward"))


def check_split_heads(split_heads: StudentFunction) -> Passed:
    """Eight numbers in two heads, then numbers that tell where they come from."""
    __tracebackhide__ = True
    milestones.begin("split_heads")
    what = "split_heads(x, 2) with x = np.arange(8).reshape(1, 2, 4)"
    got = split_heads(np.arange(8).reshape(1, 2, 4), 2)
    compare(what, got, eight_in_two_heads(), HEAD_AXES, "Head 0 is [[0, 1], [4, 5]].")

    what = "split_heads(x, 3) with x[b, t, c] = 100*b + 10*t + c"
    got = split_heads(addresses(), 3)
    compare(what, got, addresses_in_three_heads(), HEAD_AXES, origin)
    return Passed("split_heads", 2, milestones)


def check_merge_heads(merge_heads: StudentFunction) -> Passed:
    """The same two examples, the other way round."""
    __tracebackhide__ = True
    milestones.begin("merge_heads")
    what = "merge_heads(h) with head 0 = [[0, 1], [4, 5]] and head 1 = [[2, 3], [6, 7]]"
    got = merge_heads(eight_in_two_heads())
    compare(what, got, np.arange(8).reshape(1, 2, 4), X_AXES, "Token 0 is [0, 1, 2, 3] again.")

    what = "merge_heads(h) with the 3 heads of x[b, t, c] = 100*b + 10*t + c"
    got = merge_heads(addresses_in_three_heads())
    compare(what, got, addresses(), X_AXES, origin)
    return Passed("merge_heads", 2, milestones)


def check_multihead(multihead: StudentFunction) -> Passed:
    """One, two and three tokens; the three tokens in 1, 2 and 4 heads with the same four matrices."""
    __tracebackhide__ = True
    milestones.begin("multihead")
    examples = forward_examples()
    for example in examples:
        what = f"multihead, {example.name} in {example.heads} head{'s' if example.heads > 1 else ''}"
        answer = multihead(example.x, example.params, example.heads, example.allowed)
        y, cache = two_results(what, answer, "y, cache")
        compare(f"{what}, y", y, example.y, X_AXES, example.hint)
        _check_cache(f"{what}, cache", cache, example)
    return Passed("multihead", len(examples), milestones, _weights)


def check_multihead_backward(multihead: StudentFunction, multihead_backward: StudentFunction) -> Passed:
    """The gradients for one token, for the same token twice in a batch, and for two tokens."""
    __tracebackhide__ = True
    milestones.begin("multihead_backward")
    examples = backward_examples()
    for example in examples:
        _, cache = two_results(
            f"multihead, {example.name}",
            multihead(example.x, example.params, 1, example.allowed),
            "y, cache",
        )
        what = f"multihead_backward, {example.name}"
        answer = multihead_backward(cache, example.params, example.dy)
        dx, grads = two_results(what, answer, "dx, grads")
        for name in MATRICES:
            got = look_up(f"{what}, grads", grads, name, MATRICES)
            compare(f'{what}, grads["{name}"]', got, example.grads[name], MATRIX_AXES, example.hint)
        compare(f"{what}, dx", dx, example.dx, X_AXES, route_hint(example.routes, example.dx_hint))
    return Passed("multihead_backward", len(examples), milestones, three_routes(examples[-1].routes))


def _check_cache(what: str, cache: Any, example: ForwardExample) -> None:
    """Raise CheckFailed unless the cache holds x, heads, joined, and something under "attention"."""
    found = {key: look_up(what, cache, key, CACHE_KEYS) for key in CACHE_KEYS}
    compare(f'{what}["x"]', found["x"], example.x, X_AXES, "It is the x of the call.")
    compare(f'{what}["joined"]', found["joined"], example.joined, X_AXES, "It is what wo multiplies.")
    heads = found["heads"]
    if not isinstance(heads, (int, float, np.number)) or heads != example.heads:
        fail(f'{what}["heads"]', f"expected {example.heads}, got {describe(heads)}.")


def _weights() -> "Picture":
    from pictures import weights  # noqa: PLC0415 - see the top

    title = "What each head listens to: the weights of the three tokens under the causal mask"
    tables = {f"{n} head{'s' if n > 1 else ''}": table for n, table in weights_of_three_tokens().items()}
    return weights(tables, title)
