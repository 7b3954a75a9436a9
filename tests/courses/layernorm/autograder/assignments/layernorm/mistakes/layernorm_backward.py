"""Mistakes seen in ``layernorm_backward``."""

from autograder.checking.mistakes import MistakeSet

mistakes = MistakeSet("layernorm_backward")


def _with_dx(right, cache, dy, take):
    _, dgamma, dbeta = right.layernorm_backward(cache, dy)
    g, normalised = dy * cache["gamma"], cache["normalised"]
    return take(g, normalised) / cache["deviation"], dgamma, dbeta


@mistakes.add(hint="Do mean and variance depend on x?", seen="courses")
def statistics_are_constants(right, cache, dy):
    """Mean and deviation are known numbers."""
    return _with_dx(right, cache, dy, lambda g, n: g)


@mistakes.add(hint="The deviation depends on x, too: where is its part?", seen="courses")
def deviation_is_constant(right, cache, dy):
    """Only the mean depends on x."""
    return _with_dx(right, cache, dy, lambda g, n: g - g.mean(-1, keepdims=True))


@mistakes.add(hint="Every token used the same gamma: how many gradients has it?", seen="courses")
def averaged_over_tokens(right, cache, dy):
    """The gradients of gamma and beta are averages over the tokens."""
    dx, dgamma, dbeta = right.layernorm_backward(cache, dy)
    return dx, dgamma / len(dy), dbeta / len(dy)


@mistakes.add(hint="What does gamma multiply?", seen="courses")
def dgamma_of_dy(right, cache, dy):
    """The gradient of gamma is that of beta."""
    dx, _, dbeta = right.layernorm_backward(cache, dy)
    return dx, dbeta, dbeta
