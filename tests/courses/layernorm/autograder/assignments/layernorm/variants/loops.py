"""One token after the other."""

import math

import numpy as np


def layernorm(x, gamma, beta, eps):
    y, cache = np.zeros(x.shape), {"normalised": np.zeros(x.shape), "deviation": np.zeros((len(x), 1))}
    for t, token in enumerate(x):
        mean = sum(token) / len(token)
        cache["deviation"][t] = math.sqrt(sum((one - mean) ** 2 for one in token) / len(token) + eps)
        for c, one in enumerate(token):
            cache["normalised"][t, c] = (one - mean) / cache["deviation"][t, 0]
            y[t, c] = gamma[c] * cache["normalised"][t, c] + beta[c]
    return y, {**cache, "gamma": gamma}


def layernorm_backward(cache, dy):
    dx, dgamma, dbeta = np.zeros(dy.shape), np.zeros(dy.shape[1]), np.zeros(dy.shape[1])
    for t, row in enumerate(dy):
        n, g = cache["normalised"][t], row * cache["gamma"]
        dx[t] = (g - g.mean() - n * np.dot(g, n) / len(g)) / cache["deviation"][t]
        dgamma += row * n
        dbeta += row
    return dx, dgamma, dbeta
