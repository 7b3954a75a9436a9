"""Text that a model makes up, character by character."""

import numpy as np

from autodiff.data import Vocabulary
from autodiff.functions import softmax
from autodiff.model import Model
from autodiff.tensor import no_grad
from autodiff.threads import one_thread


def generate(
    model: Model, vocabulary: Vocabulary, prompt: str = "ROMEO:", characters: int = 256, seed: int = 42
) -> str:
    """The prompt and what follows it: each character is drawn by the shares that the model gives to all.

    The model sees the last characters only, as many as its context holds.

    Raises ValueError where the prompt is empty, or has a character that the vocabulary has not.

    >>> from autodiff.layers import Linear
    >>> vocabulary = Vocabulary("abc")
    >>> model = Model(3, make_attention=lambda d_model, rng: Linear(d_model, d_model, rng))
    >>> text = generate(model, vocabulary, "ab", characters=40)
    >>> text[:2], len(text)
    ('ab', 42)
    """
    if not prompt:
        raise ValueError("The prompt is empty: the model needs a character to begin with.")
    rng = np.random.default_rng(seed)
    numbers = vocabulary.encode(prompt).tolist()
    model.eval()
    with one_thread(), no_grad():
        for _ in range(characters):
            seen = np.array([numbers[-model.context :]])
            shares = softmax(model(seen)[0, -1]).data.astype(np.float64)
            numbers.append(int(rng.choice(len(vocabulary), p=shares / shares.sum())))
    return vocabulary.decode(numbers)
