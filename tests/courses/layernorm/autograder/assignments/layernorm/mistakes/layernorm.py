"""Mistakes seen in ``layernorm``."""

import numpy as np

from autograder.checking.mistakes import MistakeSet

mistakes = MistakeSet("layernorm")


def _around(x, gamma, beta, axis, deviation_of):
    centred = x - x.mean(axis=axis, keepdims=True)
    deviation = deviation_of(centred)
    normalised = centred / deviation
    return gamma * normalised + beta, {"normalised": normalised, "deviation": deviation, "gamma": gamma}


@mistakes.add(hint="What does ddof do in np.var?", seen="courses")
def unbiased_variance(right, x, gamma, beta, eps):
    """The variance is divided by one less than the number of channels, as in statistics."""
    return _around(
        x, gamma, beta, -1, lambda c: np.sqrt((c**2).sum(-1, keepdims=True) / (x.shape[1] - 1) + eps)
    )


@mistakes.add(hint="Does a token's y change when another token joins?", seen="courses")
def over_tokens(right, x, gamma, beta, eps):
    """Each channel is normalised over all tokens, as batch normalisation does."""
    return _around(x, gamma, beta, 0, lambda c: np.sqrt((c**2).mean(0, keepdims=True) + eps))


@mistakes.add(hint="Where does eps stand in the formula?", seen="courses")
def eps_outside_the_root(right, x, gamma, beta, eps):
    """The small number is added to the standard deviation."""
    return _around(x, gamma, beta, -1, lambda c: np.sqrt((c**2).mean(-1, keepdims=True)) + eps)


@mistakes.add(hint="What is subtracted first?", seen="courses")
def not_centred(right, x, gamma, beta, eps):
    """It is enough to divide by the size of the token."""
    deviation = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    return gamma * x / deviation + beta, {"normalised": x / deviation, "deviation": deviation, "gamma": gamma}


@mistakes.add(hint="Whose array does -= change?", seen="courses")
def centred_in_place(right, x, gamma, beta, eps):
    """The mean can be taken off x itself."""
    result = right.layernorm(x.copy(), gamma, beta, eps)
    x -= x.mean(axis=-1, keepdims=True)
    return result
