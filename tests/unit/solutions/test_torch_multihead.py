"""The PyTorch module: certified by gradcheck, by PyTorch's own attention, and as the NumPy lesson's layer.

The formula by which submissions are judged is held to the same.
"""

import copy
from typing import Any

import numpy as np
import pytest
import torch

import multihead
import torch_multihead as reference
from autograder.assignments.torch_multihead.hidden import draws, formula

SIZES = {"self": draws.SELF, "cross": draws.CROSS, "ones": (1, 1, 1, 1, 1), "one_head": (2, 1, 4, 3, 5)}
EACH = pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
EACH_MASK = pytest.mark.parametrize("shape", [None, *draws.SHAPES])


def layer(sizes: draws.Sizes, shape: str | None, *, is_self: bool = False) -> draws.Layer:
    rng = np.random.default_rng(sizes)
    mask = None if shape is None else draws.mask(rng, sizes, shape)
    return draws.layer(rng, sizes, mask, is_self=is_self)


def module_of(one: draws.Layer) -> Any:
    module = reference.MultiHeadAttention(one.d_model, one.heads).double()
    module.load_state_dict({name: torch.tensor(array) for name, array in one.weights.items()})
    return module


def arguments(one: draws.Layer) -> list[Any]:
    mask = None if one.mask is None else torch.tensor(one.mask)
    return [*(torch.tensor(array, requires_grad=True) for array in one.inputs.values()), mask]


@EACH
@EACH_MASK
def test_answer_and_all_gradients_are_those_of_the_formula(sizes: draws.Sizes, shape: str | None) -> None:
    one = layer(sizes, shape)
    module, given = module_of(one), arguments(one)
    y = module(*given)
    (y * torch.tensor(one.dy)).sum().backward()
    expected = formula.forward(one.weights, one.heads, one.inputs, one.mask)
    np.testing.assert_allclose(y.detach().numpy(), expected, rtol=0, atol=1e-13)
    gradients = formula.gradients(one.weights, one.heads, one.inputs, one.mask, one.dy)
    found = {name: parameter.grad for name, parameter in module.named_parameters()}
    found |= dict(zip(one.inputs, (sent.grad for sent in given[:3]), strict=True))
    assert gradients.keys() == found.keys()
    for name, gradient in gradients.items():
        np.testing.assert_allclose(found[name].numpy(), gradient, rtol=0, atol=1e-12, err_msg=name)


@EACH_MASK
def test_gradients_are_certified_by_differences(shape: str | None) -> None:
    one = layer((2, 2, 3, 2, 4), shape)
    module = module_of(one)
    *given, mask = arguments(one)
    names = list(one.weights)

    def answer(*values: Any) -> Any:
        weights = dict(zip(names, values[3:], strict=True))
        return torch.func.functional_call(module, weights, (*values[:3], mask))

    parameters = [torch.tensor(one.weights[name], requires_grad=True) for name in names]
    assert torch.autograd.gradcheck(answer, (*given, *parameters))


@EACH
@EACH_MASK
def test_attention_is_that_of_pytorch(sizes: draws.Sizes, shape: str | None) -> None:
    rng = np.random.default_rng(sizes)
    one = draws.heads(rng, sizes, None if shape is None else draws.mask(rng, sizes, shape))
    query, key, value = (torch.tensor(array) for array in one.arrays)
    mask = None if one.mask is None else torch.tensor(one.mask)
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    module = reference.MultiHeadAttention(query.shape[1] * query.shape[3], query.shape[1])
    got = module.compute_attention(query, key, value, mask)
    np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(formula.attention(*one.arrays, one.mask), expected.numpy(), rtol=0, atol=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_with_the_same_weights_it_is_the_layer_of_the_numpy_lesson(seed: int) -> None:
    rng = np.random.default_rng(seed)
    batch, heads, width, seq = (int(one) for one in rng.integers(1, 7, size=4))
    sizes = (batch, heads, width, seq, seq)
    allowed = draws.mask(rng, sizes) if seq > 1 else np.ones((1, 1), bool)
    one = draws.layer(rng, sizes, allowed, is_self=True)
    weights = {**one.weights, "output.bias": np.zeros(one.d_model)}
    names = {"wq": "query", "wk": "key", "wv": "value", "wo": "output"}
    params = {own: weights[f"{name}.weight"].T for own, name in names.items()}
    y, cache = multihead.multihead(one.inputs["query"], params, heads, allowed)
    dx, grads = multihead.multihead_backward(cache, params, one.dy)

    module = reference.MultiHeadAttention(one.d_model, heads).double()
    module.load_state_dict({name: torch.tensor(array) for name, array in weights.items()})
    x = torch.tensor(one.inputs["query"], requires_grad=True)
    answer = module(x, x, x, torch.tensor(allowed))
    (answer * torch.tensor(one.dy)).sum().backward()
    found = {name: getattr(module, layer).weight.grad.numpy().T for name, layer in names.items()}
    for what, got, expected in (
        ("y", answer.detach().numpy(), y),
        ("formula", formula.forward(weights, heads, one.inputs, allowed), y),
        ("dx", x.grad.numpy() if x.grad is not None else None, dx),
        *((name, found[name], grads[name]) for name in params),
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12, err_msg=what)


@pytest.mark.parametrize(("d_model", "heads"), [(10, 4), (7, 2), (3, 6)])
def test_heads_that_cannot_share_are_refused_in_words(d_model: int, heads: int) -> None:
    with pytest.raises(AssertionError, match=rf"d_model \({d_model}\) must be divisible by .* \({heads}\)"):
        reference.MultiHeadAttention(d_model, heads)


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_the_number_of_parameters_does_not_depend_on_that_of_heads(heads: int) -> None:
    module = reference.MultiHeadAttention(8, heads)
    assert 4 * 8**2 + 8 == sum(one.numel() for one in module.parameters())


def test_a_deep_copy_goes_its_own_way() -> None:
    one = layer(draws.CROSS, None)
    module = module_of(one)
    other = copy.deepcopy(module)
    with torch.no_grad():
        module.output.bias += 1
    given = arguments(one)
    assert torch.allclose(module(*given), other(*given) + 1)


@pytest.mark.parametrize("shape", draws.SHAPES)
def test_masks_that_are_drawn_leave_no_query_alone_and_differ(shape: str) -> None:
    for seed in range(50):
        mask = draws.mask(np.random.default_rng(seed), draws.CROSS, shape)
        assert mask.any(axis=-1).all()
        assert mask.any(axis=-2).all()
        assert not mask.all()
        tables = mask.reshape(-1, *mask.shape[-2:])
        assert len(tables) == len({table.tobytes() for table in tables})
