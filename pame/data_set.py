"""A data set for classification as arrays: what preparation leaves, what a problem is built on.

Opening one is an edge (`contract.data_store`); here is only what it holds.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

Features = NDArray[np.uint8] | NDArray[np.float32]


@dataclass(frozen=True)
class Samples:
    """Features, one sample after the other, and the number of each one's class."""

    features: Features
    """(samples, height, width, channels), 0 to 255, or (samples, features) of a table."""
    labels: NDArray[np.int64]


@dataclass(frozen=True)
class DataFacts:
    """What is known of a data set without its samples."""

    name: str
    shape: tuple[int, ...]
    """Of one sample: (height, width, channels), or (features,)."""
    classes: tuple[str, ...]
    """Their names, by number."""
    mean: tuple[float, ...]
    """Of the training samples, per channel (on a scale of 0 to 1) or per feature."""
    deviation: tuple[float, ...]
    """The same of the standard deviation; 1 where it is 0."""
    sha256: str
    """Of all contents: two data sets with the same sum are the same."""

    @property
    def features(self) -> int:
        return prod(self.shape)

    @property
    def is_image(self) -> bool:
        return len(self.shape) == 3


@dataclass(frozen=True)
class DataSet:
    facts: DataFacts
    train: Samples
    test: Samples
