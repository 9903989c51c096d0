"""Many draws, and their means."""

import numpy as np

from pame.compressors import CompressorSpec, expand
from pame.exchange import Vector
from pame.problems.base import Matrix
from pame.randomness import Key, Purpose


def draws(spec: CompressorSpec, x: Vector, count: int = 4000) -> Matrix:
    """What becomes of x at so many iterations, row by row."""
    return np.array([expand(spec.compress(x, Key(9, Purpose.COMPRESSION, 1, k))) for k in range(count)])


def assert_mean(samples: Vector, expected: float) -> None:
    """Within 5 standard errors."""
    error = samples.std() / np.sqrt(samples.size)
    assert abs(samples.mean() - expected) <= 5 * error + 1e-12
