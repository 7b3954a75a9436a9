"""One example for each function, small enough to be done by hand."""

import numpy as np


class CheckFailed(AssertionError):
    """An example did not come out; the text says which."""

    def _render_traceback_(self):
        return [str(self)]


X = np.array([[1.0, 3.0]])
ONE, ZERO = np.ones(2), np.zeros(2)


def check_layernorm(layernorm):
    """The token [1, 3] becomes [-1, 1]."""
    y, _ = _results(layernorm(X, ONE, ZERO, 0.0), 2, "layernorm must return (y, cache).")
    _compare("layernorm([[1, 3]], 1, 0, eps=0), y", y, [[-1.0, 1.0]])


def check_layernorm_backward(layernorm, layernorm_backward):
    """With dy = [1, 0]: dx = 0, dgamma = [-1, 0], dbeta = [1, 0]."""
    _, cache = _results(layernorm(X, ONE, ZERO, 0.0), 2, "layernorm must return (y, cache).")
    wanted = "layernorm_backward must return (dx, dgamma, dbeta)."
    dx, dgamma, dbeta = _results(layernorm_backward(cache, np.array([[1.0, 0.0]])), 3, wanted)
    _compare("dx", dx, [[0.0, 0.0]])
    _compare("dgamma", dgamma, [-1.0, 0.0])
    _compare("dbeta", dbeta, [1.0, 0.0])


def _results(answer, count, sentence):
    if not isinstance(answer, tuple) or len(answer) != count:
        raise CheckFailed(sentence)
    return answer


def _compare(what, got, expected):
    expected = np.array(expected)
    if not isinstance(got, np.ndarray) or got.shape != expected.shape:
        raise CheckFailed(f"{what} must be an array of the shape {expected.shape}.")
    if not np.all(np.abs(got - expected) < 1e-6):
        raise CheckFailed(f"{what} must be {expected.tolist()}.")
