"""The checks before compressing: a vector that is not finite ends the run here, where node and iteration are known."""

import numpy as np

from pame.errors import Diverged, ParameterError
from pame.exchange import Vector, is_finite
from pame.randomness import Key


def check_finite(vector: Vector, key: Key) -> None:
    if not is_finite(vector):
        coordinate = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise too_large(f"coordinate {coordinate} is {vector[coordinate]}", key)


def too_large(what: str, key: Key) -> Diverged:
    return Diverged(f"node {key.node} diverged at iteration {key.iteration}, where it compresses a vector: {what}")


def kept(share: float | int, n: int) -> int:
    """How many coordinates a sparsifier keeps: a share of n, rounded, at least 1; or the count, if it is an integer."""
    if not isinstance(share, int):
        return min(max(1, round(share * n)), n)
    if share > n:
        raise ParameterError(f"a compressor that keeps {share} does not fit a model with n = {n}: keep at most {n}")
    return share
