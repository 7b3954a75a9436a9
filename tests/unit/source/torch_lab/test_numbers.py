"""The numbers that the lesson on PyTorch holds its module against are those of the NumPy lessons."""

import numpy as np

import multihead
import numpy_numbers as given
import torch_examples
from attention import attention


def largest_difference(one: np.ndarray, other: np.ndarray) -> float:
    assert one.shape == other.shape
    return float(np.max(np.abs(one - other)))


def test_every_digit_is_that_of_multihead_and_its_backward_pass() -> None:
    y, cache = multihead.multihead(given.X, given.PARAMS, given.HEADS, given.ALLOWED)
    dx, grads = multihead.multihead_backward(cache, given.PARAMS, given.DY)
    pairs = [(given.Y, y), (given.DX, dx), *((given.GRADS[name], grads[name]) for name in grads)]
    assert max(largest_difference(*pair) for pair in pairs) < 1e-14
    assert given.PARAMS.keys() == given.GRADS.keys()


def test_the_weights_that_are_drawn_are_those_of_the_numbers() -> None:
    _, cache = multihead.multihead(given.X, given.PARAMS, given.HEADS, given.ALLOWED)
    drawn = torch_examples.weights_of_numpy()
    assert largest_difference(cache["attention"]["weights"][0], drawn) < 1e-6


def test_no_route_no_matrix_and_no_head_could_be_taken_for_another() -> None:
    grads = list(given.GRADS.values())
    matrices = list(given.PARAMS.values())
    for several in (grads, matrices, [one.T for one in matrices] + matrices):
        for i, one in enumerate(several):
            assert all(largest_difference(one, other) > 0.1 for other in several[:i])


def test_the_examples_of_attention_are_right() -> None:
    for example in torch_examples.attention_examples():
        heads, queries, keys = example.query.shape[1], example.query.shape[2], example.key.shape[2]
        mask = np.ones((queries, keys)) if example.mask is None else example.mask
        out, _ = attention(example.query, example.key, example.value, mask != 0)
        assert (example.name, heads) == (example.name, example.heads)
        assert largest_difference(out, example.out) < 1e-6


def test_the_examples_of_a_whole_module_are_right() -> None:
    for example in torch_examples.forward_examples():
        q, k, v = (
            multihead.split_heads(x @ example.params[name], example.heads)
            for x, name in ((example.query, "wq"), (example.key, "wk"), (example.value, "wv"))
        )
        mask = np.ones((q.shape[2], k.shape[2])) if example.mask is None else example.mask
        joined = multihead.merge_heads(attention(q, k, v, mask != 0)[0])
        assert largest_difference(joined @ example.params["wo"] + example.bias, example.y) < 2e-6


def test_examples_of_one_width_have_the_same_matrices_and_heads() -> None:
    first: dict[int, torch_examples.ForwardExample] = {}
    for example in torch_examples.forward_examples():
        other = first.setdefault(example.query.shape[-1], example)
        assert other.heads == example.heads
        assert all(largest_difference(other.params[name], example.params[name]) == 0 for name in given.PARAMS)


def test_masks_come_in_every_shape_and_kind_that_the_lesson_names() -> None:
    masks = [one.mask for one in torch_examples.attention_examples() if one.mask is not None]
    assert {(2, 3), (2, 1, 2, 3), (2, 2, 2, 3), (3, 3)} == {mask.shape for mask in masks}
    assert {"i", "b", "f"} == {mask.dtype.kind for mask in masks}


def test_the_row_of_orange_sums_to_one() -> None:
    assert abs(sum(torch_examples.ORANGE) - 1) < 1e-12
