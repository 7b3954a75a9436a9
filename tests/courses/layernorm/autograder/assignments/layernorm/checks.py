"""The hidden checks of ``layernorm``."""

import numpy as np

from autograder.checking.compare import expect_array, expect_dict, expect_tuple
from autograder.checking.contract import expect_untouched
from autograder.checking.framework import CheckSet

from .draws import case

X_AXES, C_AXES = ("tokens", "channels"), ("channels",)

checks = CheckSet("layernorm")
checks.visible("layernorm", weight=0.5)
checks.visible("layernorm_backward", weight=0.5)
checks.follow_through("layernorm_backward", cache_of="layernorm", keys=("normalised", "deviation", "gamma"))


@checks.value("layernorm", weight=1.5)
def values(student, reference, rng):
    """Every token is normalised, scaled and shifted."""
    _compare(student, reference, case(rng))


@checks.value("layernorm", weight=0.5)
def small_variance(student, reference, rng):
    """Tokens that hardly vary are kept from growing by eps."""
    x, gamma, beta, _ = case(rng)
    _compare(student, reference, (1e-3 * x, gamma, beta, 1e-5))


@checks.contract("layernorm", weight=0.5)
def untouched(student, reference, rng):
    """The arguments are left as they were."""
    x, gamma, beta, eps = case(rng)
    expect_untouched(student, "layernorm", {"x": x, "gamma": gamma, "beta": beta, "eps": eps})


@checks.value("layernorm_backward", weight=2.5)
def dx(student, reference, rng):
    """The gradient dx for x is right."""
    got, wanted = _gradients(student, reference, rng)
    expect_array(got[0], wanted[0], "dx", X_AXES)


@checks.value("layernorm_backward", weight=1)
def dgamma(student, reference, rng):
    """The gradient dgamma is right."""
    got, wanted = _gradients(student, reference, rng)
    expect_array(got[1], wanted[1], "dgamma", C_AXES)


@checks.value("layernorm_backward", weight=1)
def dbeta(student, reference, rng):
    """The gradient dbeta is right."""
    got, wanted = _gradients(student, reference, rng)
    expect_array(got[2], wanted[2], "dbeta", C_AXES)


def _compare(student, reference, arguments):
    answer = student.call("layernorm", *arguments)
    y, _ = expect_tuple(answer.value, ("y", "cache"), "layernorm")
    expect_array(y, reference.layernorm(*arguments)[0], "y", X_AXES)


def _gradients(student, reference, rng):
    """The student's gradients after the student's own forward pass, and the right ones."""
    arguments = case(rng)
    dy = rng.standard_normal(arguments[0].shape)
    answer = student.call("layernorm", *arguments)
    _, cache = expect_tuple(answer.value, ("y", "cache"), "layernorm")
    names = ("dx", "dgamma", "dbeta")
    answer = student.call("layernorm_backward", expect_dict(cache, "the cache of layernorm"), dy)
    wanted = reference.layernorm_backward(reference.layernorm(*arguments)[1], np.array(dy))
    return expect_tuple(answer.value, names, "layernorm_backward"), wanted
