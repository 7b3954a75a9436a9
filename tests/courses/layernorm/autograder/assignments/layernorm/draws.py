"""Random inputs: tokens and channels differ in number, gamma and beta are neither 1 nor 0."""


def case(rng):
    """The arguments of one call of ``layernorm``."""
    x = 2.0 + 3.0 * rng.standard_normal((4, 7))
    return x, 1.0 + rng.random(7), rng.standard_normal(7), 0.1
