"""The check that ends a diverging run: a model must stay among the finite numbers."""

from math import isfinite

import numpy as np

from pame.errors import Diverged
from pame.exchange import Vector


def check_finite(model: Vector, node: int, iteration: int, step: float) -> Vector:
    """The model itself, or Diverged. A finite sum of squares proves all entries finite; if not, look at each."""
    with np.errstate(over="ignore", invalid="ignore"):
        if isfinite(model @ model) or np.isfinite(model).all():
            return model
    raise Diverged(f"node {node} diverged at iteration {iteration} with step size {step:.3g}")
