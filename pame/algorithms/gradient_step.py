"""The gradient step of every algorithm, and the check that ends a diverging run: a model stays among finite numbers."""

from math import isfinite

import numpy as np

from pame.errors import Diverged
from pame.exchange import Vector


def descend(start: Vector, size: float, gradient: Vector, node: int, iteration: int) -> Vector:
    """`start - size * gradient`, or Diverged."""
    with np.errstate(over="ignore", invalid="ignore"):
        return check_finite(start - size * gradient, node, iteration, size)


def check_finite(model: Vector, node: int, iteration: int, size: float) -> Vector:
    """The model itself, or Diverged. A finite sum of squares proves all entries finite; if not, look at each."""
    with np.errstate(over="ignore", invalid="ignore"):
        if isfinite(model @ model) or np.isfinite(model).all():
            return model
    raise Diverged(f"node {node} diverged at iteration {iteration} with step size {size:.3g}")
