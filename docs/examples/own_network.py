"""A network and a data set of your own.

python own_network.py                                        # writes stripes.npz
pame data prepare table --from stripes.npz --name stripes
pame run own_network.yaml                                    # trains Net on four nodes
"""

import numpy as np
import torch
from torch import nn

SAMPLES, SIDE, CLASSES = 1200, 12, 4


class Net(nn.Module):
    """Called with the shape of a sample (channels, height, width) and the number of classes."""

    def __init__(self, shape, classes):
        super().__init__()
        channels, height, width = shape
        self.convolution = nn.Conv2d(channels, 8, 3, padding=1)
        self.norm = nn.GroupNorm(2, 8)  # BatchNorm's running statistics are no parameters: no message carries them
        self.dropout = nn.Dropout(0.1)  # draws from the seed of the run, so that a run can be repeated
        self.last = nn.Linear(8 * (height // 2) * (width // 2), classes)

    def forward(self, images):
        hidden = torch.relu(self.norm(self.convolution(images)))
        hidden = nn.functional.max_pool2d(hidden, 2)
        return self.last(self.dropout(hidden.view(len(images), -1)))


MODULES = [Net]
"""What this file offers to `problem.model.module`."""


def stripes():
    """Noisy grey pictures (samples, height, width, channels) of 0 to 255; the class is where the bright rows are."""
    draw = np.random.default_rng(1)
    labels = draw.integers(0, CLASSES, SAMPLES)
    pictures = draw.integers(0, 140, (SAMPLES, SIDE, SIDE, 1))
    for number, label in enumerate(labels):
        pictures[number, 3 * label : 3 * label + 3] += 90
    return pictures.astype(np.uint8), labels


if __name__ == "__main__":
    features, labels = stripes()
    np.savez("stripes.npz", features=features, labels=labels)
