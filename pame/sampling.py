"""The draws of the algorithms: supports, candidates, mini-batches, periods, lost messages.

Each is a pure function of the run's seed, the node and the iteration, so that sender and receiver, simulator and
network compute the same one without asking each other.
"""

from collections.abc import Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray

from pame.randomness import Key, Purpose, integers, subset, uniforms

Indices = NDArray[np.int64]


def support(seed: int, node: int, iteration: int, n: int, s: int) -> Indices:
    """`T_j^k`: the s coordinates node j reveals at iteration k, ascending. The same for every receiver."""
    return subset(Key(seed, Purpose.SUPPORT, node, iteration), n, s)


def candidates(seed: int, node: int, iteration: int, neighbours: Sequence[int], count: int) -> tuple[int, ...]:
    """`count` of a node's neighbours (ascending), uniformly without replacement: whom it listens to at a round."""
    if count == len(neighbours):
        return tuple(neighbours)
    key = Key(seed, Purpose.CANDIDATES, node, iteration)
    return tuple(neighbours[i] for i in subset(key, len(neighbours), count).tolist())


def batch(seed: int, node: int, iteration: int, samples: int, size: int) -> Indices:
    """The `size` samples, out of a node's `samples`, that its gradient uses at an iteration."""
    return subset(Key(seed, Purpose.BATCH, node, iteration), samples, size)


def period(seed: int, node: int, low: int, high: int) -> int:
    """`kappa_i`, uniform in low..high."""
    return low + int(integers(Key(seed, Purpose.PERIOD, node), 1, high - low + 1)[0])


def message_lost(seed: int, sender: int, receiver: int, iteration: int, rate: float) -> bool:
    key = Key(seed, Purpose.MESSAGE_LOSS, sender, iteration, receiver)
    return rate > 0.0 and bool(uniforms(key, 1)[0] < rate)


def participation(nu: float, degree: int) -> int:
    """`t_i = min(max(1, ceil(nu d_i)), d_i)`; the 1e-9 keeps 0.07 * 100 = 7.000000000000001 at 7."""
    return min(max(1, ceil(nu * degree - 1e-9)), degree)
