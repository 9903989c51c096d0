"""CIFAR-10's binary version: data_batch_1.bin to data_batch_5.bin and test_batch.bin.

each image: a byte for the label, then 1024 bytes of red, 1024 of green, 1024 of blue, row by row
"""

import numpy as np
from numpy.typing import NDArray

from orchestrator.data.reading import Contents, DataRefused, Files, Tell, as_labels, content_of, find, telling
from pame.data_set import Samples

TRAIN = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
TEST = "test_batch.bin"
_SIDE = 32
_RECORD = 1 + 3 * _SIDE * _SIDE


def fits(files: Files) -> bool:
    return find(files, TRAIN[0]) is not None


def is_python_version(files: Files) -> bool:
    """The same images as pickles, which nobody should load."""
    return find(files, "data_batch_1") is not None


def read(files: Files, classes: int, tell: Tell) -> Contents:
    batches = [_batch(files, name, classes) for name in telling((*TRAIN, TEST), tell)]
    pixels, labels = zip(*batches[:-1], strict=True)
    return Contents(Samples(np.concatenate(pixels), np.concatenate(labels)), Samples(*batches[-1]))


def _batch(files: Files, base: str, classes: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    content = np.frombuffer(content_of(files, base, "give all six files"), dtype=np.uint8)
    if not content.size or content.size % _RECORD:
        raise DataRefused(f"{files.place}: {base} is not a whole number of images: get it anew")
    records = content.reshape(-1, _RECORD)
    pixels = records[:, 1:].reshape(-1, 3, _SIDE, _SIDE).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(pixels), as_labels(records[:, 0].tobytes(), files, base, classes)
