"""The check before compressing: a vector that is not finite ends the run here, where node and iteration are known."""

from math import isfinite

import numpy as np

from pame.errors import Diverged
from pame.exchange import Vector
from pame.randomness import Key


def check_finite(vector: Vector, key: Key) -> None:
    """Diverged, if a coordinate is NaN or infinite. A finite sum of squares proves that none is."""
    with np.errstate(over="ignore", invalid="ignore"):
        if isfinite(vector @ vector) or np.isfinite(vector).all():
            return
    coordinate = int(np.flatnonzero(~np.isfinite(vector))[0])
    raise too_large(f"coordinate {coordinate} is {vector[coordinate]}", key)


def too_large(what: str, key: Key) -> Diverged:
    """The error about a vector that cannot be compressed."""
    return Diverged(f"node {key.node} diverged at iteration {key.iteration}, where it compresses a vector: {what}")
