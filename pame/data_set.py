"""A data set for classification as arrays: what preparation leaves, what a problem is built on.

Opening one is an edge (`contract.data_store`); here is only what it holds, and what is measured from its samples: mean,
deviation, sum of the contents.
"""

from dataclasses import dataclass
from hashlib import sha256
from math import prod

import numpy as np
from numpy.typing import NDArray

Features = NDArray[np.uint8] | NDArray[np.float32]
_CHUNK = 4096  # samples at a time
_WHITE = 255.0


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


def facts_of(name: str, classes: tuple[str, ...], train: Samples, test: Samples) -> DataFacts:
    """Mean and deviation are those of the training samples."""
    shape = tuple(int(size) for size in train.features.shape[1:])
    mean, deviation = _moments(train.features)
    return DataFacts(name, shape, classes, mean, deviation, contents_sha256(train, test))


def contents_sha256(train: Samples, test: Samples) -> str:
    """Of types, shapes and bytes of all four arrays; names of classes do not count."""
    total = sha256()
    for array in (train.features, train.labels, test.features, test.labels):
        total.update(f"{array.dtype.str} {array.shape}\n".encode())
        for start in range(0, len(array), _CHUNK):
            total.update(np.ascontiguousarray(array[start : start + _CHUNK]).data)
    return total.hexdigest()


def label_counts(labels: NDArray[np.int64], classes: int) -> tuple[int, ...]:
    """How many samples each class has."""
    return tuple(int(count) for count in np.bincount(labels, minlength=classes))


def _moments(features: Features) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Per channel of images, on a scale of 0 to 1, from whole numbers; per feature of a table."""
    columns = features.shape[-1]
    if features.dtype == np.uint8:
        counts = np.zeros((columns, 256), dtype=np.int64)
        for start in range(0, len(features), _CHUNK):
            for channel in range(columns):
                counts[channel] += np.bincount(features[start : start + _CHUNK, ..., channel].ravel(), minlength=256)
        values = np.arange(256) / _WHITE
        total = counts.sum(axis=1)
        mean = counts @ values / total
        variance = np.array([row @ (values - middle) ** 2 for row, middle in zip(counts, mean, strict=True)]) / total
    else:
        wide = features.astype(np.float64)
        mean, variance = wide.mean(axis=0), wide.var(axis=0)
    deviation = np.sqrt(variance)
    return tuple(mean.tolist()), tuple(np.where(deviation > 0.0, deviation, 1.0).tolist())
