"""Proportions drawn from a symmetric Dirichlet distribution: gamma numbers divided by their sum.

A gamma number of shape a >= 1, after Marsaglia and Tsang (2000), is exact: with x normal, u uniform,
d = a - 1/3, v = (1 + x / sqrt(9 d))^3, it is d v if v > 0 and log u < x^2/2 + d - d v + d log v; else both are drawn
anew. For a < 1 it is one of shape a + 1, times u^(1/a). All is kept as logarithms: with a small shape most gamma
numbers are smaller than any double.

A key's own `peer` is not looked at: 0 has the u of the power; candidates of round r have 1 + 2r (x) and 2 + 2r (u).
"""

from dataclasses import replace

import numpy as np

from pame.randomness.draws import normals, uniforms
from pame.randomness.elementary import Floats, exp, log
from pame.randomness.key import Key


def dirichlet(key: Key, concentration: float, count: int) -> Floats:
    """`count` proportions that add up to 1, each with the same concentration (from 0.001 up)."""
    logs = log_gammas(key, concentration, count)
    weights = exp(logs - logs.max())
    return weights / float(np.cumsum(weights)[-1])


def log_gammas(key: Key, shape: float, count: int) -> Floats:
    """Logarithms of `count` gamma numbers; a round draws as many candidates as are missing."""
    d = (shape if shape >= 1.0 else shape + 1.0) - 1.0 / 3.0
    out = np.empty(0)
    peer = 1
    while missing := count - out.size:
        x = normals(replace(key, peer=peer), missing)
        u = _positive_uniforms(replace(key, peer=peer + 1), missing)
        root = 1.0 + x / np.sqrt(9.0 * d)
        log_v = 3.0 * log(np.maximum(root, 2.0**-1000))
        v = root * root * root
        accepted = (root > 0.0) & (log(u) < 0.5 * x * x + d - d * v + d * log_v)
        out = np.concatenate([out, log_v[accepted]])
        peer += 2
    out += log(np.array([d]))
    if shape < 1.0:
        out += log(_positive_uniforms(replace(key, peer=0), count)) / shape
    return out


def _positive_uniforms(key: Key, count: int) -> Floats:
    """Uniform in (0, 1]."""
    return 1.0 - uniforms(key, count)
