"""The checks that you see while you work: examples small enough to be done by hand.

Each ``check_...`` function calls your function and compares what comes back with known numbers; how it does
so, and what it says, stands in ``outcomes.py``. More checks, with other sizes and numbers, run when the
notebook is graded. Nothing is computed before a check is called.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from attention_examples import (
    AttentionExample,
    attention_examples,
    three_roles,
    weights_of_three_roles,
)
from layer_examples import MATRICES, ForwardExample, backward_examples, forward_examples
from outcomes import (
    MATRIX_AXES,
    X_AXES,
    CheckFailed,
    Milestones,
    Passed,
    StudentFunction,
    compare,
    look_up,
    route_hint,
    three_routes,
    two_results,
)

if TYPE_CHECKING:
    from pictures import Picture

__all__ = ["CheckFailed"]  # what a failing check raises

ATTENTION_KEYS = ("q", "k", "v", "weights")
CACHE_KEYS = ("x", "attention", "out")

milestones = Milestones(
    (
        "causal_mask",
        "attention",
        "attention_backward",
        "weighted_attention",
        "weighted_attention_backward",
    ),
    last="the experiment",
)


def check_causal_mask(causal_mask: StudentFunction) -> Passed:
    """Three tokens, then one."""
    __tracebackhide__ = True
    milestones.begin("causal_mask")
    three = np.array([[True, False, False], [True, True, False], [True, True, True]])
    hint = "Rows are queries, columns are keys: token 0 sees itself alone, token 2 sees all."
    compare("causal_mask(3)", causal_mask(3), three, "query key", hint)
    compare("causal_mask(1)", causal_mask(1), np.array([[True]]), "query key", "A token sees itself.")
    return Passed("causal_mask", 2, milestones)


def check_attention(attention: StudentFunction) -> Passed:
    """One key, two keys, three tokens under the causal mask, and scores of 10000."""
    __tracebackhide__ = True
    milestones.begin("attention")
    examples = attention_examples()
    for example in examples:
        what = f"attention, {example.name}"
        answer = attention(example.q, example.k, example.v, example.allowed)
        out, cache = two_results(what, answer, "out, cache")
        compare(f"{what}, out", out, example.out, example.axes, example.hint)
        _check_attention_cache(f"{what}, cache", cache, example)
    return Passed("attention", len(examples), milestones, _causal_weights)


def check_attention_backward(attention: StudentFunction, attention_backward: StudentFunction) -> Passed:
    """The gradients of the same examples."""
    __tracebackhide__ = True
    milestones.begin("attention_backward")
    examples = attention_examples()
    for example in examples:
        answer = attention(example.q, example.k, example.v, example.allowed)
        _, cache = two_results(f"attention, {example.name}", answer, "out, cache")
        what = f"attention_backward, {example.name}"
        grads = attention_backward(cache, example.dout)
        for name in ("v", "q", "k"):
            got = look_up(what, grads, name, ("q", "k", "v"))
            hint = example.backward_hint
            compare(f'{what}, the gradient "{name}"', got, example.grads[name], example.axes, hint)
    return Passed("attention_backward", len(examples), milestones)


def check_weighted_attention(weighted_attention: StudentFunction) -> Passed:
    """One token, two tokens, and three tokens that each play three roles, without and with a mask."""
    __tracebackhide__ = True
    milestones.begin("weighted_attention")
    examples = [*forward_examples(), *three_roles()]
    for example in examples:
        what = f"weighted_attention, {example.name}"
        answer = weighted_attention(example.x, example.params, example.allowed)
        y, cache = two_results(what, answer, "y, cache")
        compare(f"{what}, y", y, example.y, X_AXES, example.hint)
        _check_cache(f"{what}, cache", cache, example)
    return Passed("weighted_attention", len(examples), milestones, _role_weights)


def check_weighted_attention_backward(
    weighted_attention: StudentFunction, weighted_attention_backward: StudentFunction
) -> Passed:
    """The gradients for one token, for the same token twice in a batch, and for two tokens."""
    __tracebackhide__ = True
    milestones.begin("weighted_attention_backward")
    examples = backward_examples()
    for example in examples:
        answer = weighted_attention(example.x, example.params, example.allowed)
        _, cache = two_results(f"weighted_attention, {example.name}", answer, "y, cache")
        what = f"weighted_attention_backward, {example.name}"
        answer = weighted_attention_backward(cache, example.params, example.dy)
        dx, grads = two_results(what, answer, "dx, grads")
        for name in MATRICES:
            got = look_up(f"{what}, grads", grads, name, MATRICES)
            compare(f'{what}, grads["{name}"]', got, example.grads[name], MATRIX_AXES, example.hint)
        compare(f"{what}, dx", dx, example.dx, X_AXES, route_hint(example.routes, example.dx_hint))
    picture = three_routes(examples[-1].routes)
    return Passed("weighted_attention_backward", len(examples), milestones, picture)


def _check_attention_cache(what: str, cache: Any, example: AttentionExample) -> None:
    """Raise CheckFailed unless the cache holds q, k, v and the weights."""
    found = {key: look_up(what, cache, key, ATTENTION_KEYS) for key in ATTENTION_KEYS}
    for name in ("q", "k", "v"):
        wanted = getattr(example, name)
        compare(f'{what}["{name}"]', found[name], wanted, example.axes, f"It is the {name} of the call.")
    axes = example.axes.replace("seq d", "query key")
    compare(f'{what}["weights"]', found["weights"], example.weights, axes, "Each row sums to 1.")


def _check_cache(what: str, cache: Any, example: ForwardExample) -> None:
    """Raise CheckFailed unless the cache holds x, out, and something under "attention"."""
    found = {key: look_up(what, cache, key, CACHE_KEYS) for key in CACHE_KEYS}
    compare(f'{what}["x"]', found["x"], example.x, X_AXES, "It is the x of the call.")
    compare(f'{what}["out"]', found["out"], example.joined, X_AXES, "It is what wo multiplies.")


def _causal_weights() -> "Picture":
    from pictures import weights  # noqa: PLC0415 - see outcomes.py

    table = attention_examples()[2].weights[0]
    return weights({"three tokens": table}, "Who listens to whom under the causal mask")


def _role_weights() -> "Picture":
    from pictures import weights  # noqa: PLC0415 - see outcomes.py

    return weights(
        {"three roles": weights_of_three_roles()}, "Each token listens to the one that it asks for"
    )
