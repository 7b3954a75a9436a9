"""The whole Jacobian of the normalisation, token by token, in einsum."""

import numpy as np


def layernorm(x, gamma, beta, eps):
    deviation = np.sqrt(np.var(x, axis=1) + eps)[:, None]
    normalised = (x - np.mean(x, axis=1)[:, None]) / deviation
    return np.einsum("c,tc->tc", gamma, normalised) + beta, {
        "normalised": normalised, "deviation": deviation, "gamma": gamma, "x": x
    }  # fmt: skip


def layernorm_backward(cache, dy):
    n, channels = cache["normalised"], dy.shape[1]
    jacobian = np.eye(channels) - 1 / channels - n[:, :, None] * n[:, None, :] / channels
    dx = np.einsum("tij,tj,j->ti", jacobian, dy, cache["gamma"]) / cache["deviation"]
    return dx, np.einsum("tc,tc->c", dy, n), np.einsum("tc->c", dy)
