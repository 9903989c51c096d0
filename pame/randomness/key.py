"""What a draw is for, and the stream of 64-bit words that belongs to it.

    Philox4x64-10:  key     = (seed, purpose)
                    counter = (block, iteration, node, peer),   four words per block, blocks from 1

(NumPy's Philox increments the counter before it produces a block, hence "from 1".)
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


class Purpose(IntEnum):
    """Two draws for different purposes never share a stream. The numbers are part of the format."""

    SUPPORT = 1
    CANDIDATES = 2
    BATCH = 3
    PERIOD = 4
    TRUTH = 5
    FEATURES = 6
    LABELS = 7
    HETEROGENEITY = 8
    GRAPH = 9
    MESSAGE_LOSS = 10
    LINK_JITTER = 11
    COMPUTE = 12
    STRAGGLERS = 13
    LINK_DRAW = 14
    FAULTS = 15
    VERIFICATION = 16
    COMPRESSION = 17
    EPIDEMIC = 18
    TUNING = 19
    EDGES = 20
    PARTITION = 21
    START = 22
    AUGMENTATION = 23
    OBJECTIVE_SAMPLE = 24
    MODULE = 25


@dataclass(frozen=True, slots=True)
class Key:
    seed: int
    purpose: Purpose
    node: int = 0
    iteration: int = 0
    peer: int = 0


def stream(key: Key) -> np.random.Philox:
    """The raw generator of a key, positioned at its first word."""
    return np.random.Philox(
        key=np.array([key.seed, key.purpose], dtype=np.uint64),
        counter=np.array([0, key.iteration, key.node, key.peer], dtype=np.uint64),
    )


def words(key: Key, count: int) -> Words:
    return stream(key).random_raw(count)
