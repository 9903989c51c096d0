"""Small prepared data sets."""

from pathlib import Path

import numpy as np

from contract.data_store import save_data_set
from pame.data_set import DataSet, Samples, facts_of
from pame.randomness import Key, Purpose, integers

CLASSES = ("circle", "square", "star")


def small_images(name: str = "shapes", train: int = 30, test: int = 12) -> DataSet:
    """Random pictures of 4 x 5 pixels in three colours; every class is there."""
    parts = []
    for node, count in enumerate((train, test)):
        pixels = integers(Key(1, Purpose.FEATURES, node), count * 4 * 5 * 3, 256).astype(np.uint8)
        parts.append(Samples(pixels.reshape(count, 4, 5, 3), np.arange(count, dtype=np.int64) % 3))
    return DataSet(facts_of(name, CLASSES, *parts), *parts)


def store(root: Path, data: DataSet) -> Path:
    folder = root / data.facts.name
    folder.mkdir(parents=True)
    save_data_set(folder, data, "drawn", "2026-11-18T12:00:00+00:00")
    return folder
