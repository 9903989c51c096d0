"""The two kinds of regressions, and the mean of what is drawn for them."""

from math import sqrt

import numpy as np

from pame.exchange import Vector
from pame.problems import LinearSpec, LogisticSpec

Spec = LinearSpec | LogisticSpec


def assert_mean(draws: Vector, mean: float) -> None:
    """5 sigma, with the spread taken from the draws."""
    assert abs(float(np.mean(draws)) - mean) < 5 * float(np.std(draws)) / sqrt(draws.size)
