"""The gradient step of every algorithm, and the check that ends a diverging run: a model stays among finite numbers."""

from math import isfinite

import numpy as np

from pame.errors import Diverged
from pame.exchange import Vector, blocks, is_finite


def descend(start: Vector, size: float, gradient: Vector, node: int, iteration: int) -> Vector:
    """`start - size * gradient`, or Diverged."""
    result = np.empty_like(start)
    squares = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for block in blocks(start.size):
            part = result[block]
            np.subtract(start[block], np.multiply(size, gradient[block], out=part), out=part)
            squares += float(part.dot(part))
    return result if isfinite(squares) else check_finite(result, node, iteration, size)


def check_finite(model: Vector, node: int, iteration: int, size: float) -> Vector:
    """The model itself, or Diverged."""
    if is_finite(model):
        return model
    raise Diverged(f"node {node} diverged at iteration {iteration} with step size {size:.3g}")
