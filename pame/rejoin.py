"""Where a node that was away goes on, and with which model: the same in the simulator and on a network."""

from collections.abc import Sequence
from statistics import median
from typing import Literal

import numpy as np

from pame.exchange import Vector

State = Literal["snapshot", "cold", "neighbours"]
"""snapshot: its last one; cold: that of the start, w^0; neighbours: the mean of its neighbours' last ones."""


def first_iteration(own: int, neighbours: Sequence[int], last: int) -> int:
    """The median iteration of its live neighbours; its own if none lives."""
    return min(int(median(neighbours)) if neighbours else own, last)


def start_model(state: State, own: Vector | None, neighbours: Sequence[Vector]) -> Vector | None:
    """From the newest snapshots that are known; None, that is w^0, if it shall be cold or there is none."""
    if state == "snapshot":
        return own
    if state == "neighbours" and neighbours:
        mean: Vector = np.mean(neighbours, axis=0)
        return mean
    return None
