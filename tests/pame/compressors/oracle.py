"""Means of many draws."""

import numpy as np

from pame.exchange import Vector


def assert_mean(samples: Vector, expected: float) -> None:
    """Within 5 standard errors."""
    error = samples.std() / np.sqrt(samples.size)
    assert abs(samples.mean() - expected) <= 5 * error + 1e-12
