"""Random crops and flips of images, drawn by key: the same at a node and in the simulator."""

import numpy as np
from numpy.typing import NDArray

from pame.randomness import Key, Purpose, integers

PADDING = 4


def crop_and_flip(images: NDArray[np.float32], seed: int, node: int, iteration: int) -> NDArray[np.float32]:
    """Images (channels first) padded by 4 zeros, cropped at a random place to their size, half of them mirrored."""
    count, _, height, width = images.shape
    key = Key(seed, Purpose.AUGMENTATION, node, iteration)
    places = 2 * PADDING + 1
    drawn = integers(key, count, 2 * places * places)
    flips, places_drawn = drawn % 2, drawn // 2
    rows, columns = places_drawn // places, places_drawn % places
    padded = np.pad(images, ((0, 0), (0, 0), (PADDING, PADDING), (PADDING, PADDING)))
    result = np.empty_like(images)
    for index, (row, column, flip) in enumerate(zip(rows.tolist(), columns.tolist(), flips.tolist(), strict=True)):
        cropped = padded[index, :, row : row + height, column : column + width]
        result[index] = cropped[:, :, ::-1] if flip else cropped
    return result
