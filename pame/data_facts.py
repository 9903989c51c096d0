"""What is known of a data set without its samples, measured from them: mean, deviation, sum of the contents."""

from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from pame.data_set import DataFacts, Features, Samples

_CHUNK = 4096  # samples at a time
_WHITE = 255.0


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
