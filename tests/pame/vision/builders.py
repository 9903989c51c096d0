"""Small data sets that a network can learn in a moment."""

import numpy as np
import torch
from torch import nn

from pame.data_set import DataFacts, DataSet, Samples, contents_sha256
from pame.network_specs import CnnSpec, NetworkSpec
from pame.problems import ImageClassificationSpec, Problem, ProblemInputs, ProblemSpec, build
from pame.problems.image_classification import ImageClassification

CLASSES = 4
MODULE = """
from torch import nn

class Net(nn.Sequential):
    def __init__(self, shape, classes):
        super().__init__(nn.Flatten(), nn.Linear(shape[0] * shape[1] * shape[2], 8), nn.Tanh(), nn.Linear(8, classes))

MODULES = [Net]
"""
"""A network as a user writes it, in a file of its own."""


def striped(samples: int, side: int = 8, channels: int = 1, seed: int = 1) -> Samples:
    """Noisy images whose class is the row pair that is bright."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(samples) % CLASSES)
    images = rng.integers(0, 120, (samples, side, side, channels))
    for image, label in zip(images, labels, strict=True):
        image[2 * label : 2 * label + 2] += 100
    return Samples(images.astype(np.uint8), labels.astype(np.int64))


def data_set(train: int = 160, test: int = 60, side: int = 8, channels: int = 1) -> DataSet:
    parts = striped(train, side, channels), striped(test, side, channels, seed=2)
    facts = DataFacts(
        "stripes", (side, side, channels), tuple("abcd"), (0.3,) * channels, (0.2,) * channels, contents_sha256(*parts)
    )
    return DataSet(facts, *parts)


def on_stripes(spec: ProblemSpec, nodes: int, seed: int) -> Problem:
    """A problem of that data set, which is on no machine."""
    return build(spec, nodes, seed, ProblemInputs(data_set()))


def table(train: int = 120) -> DataSet:
    """Two features, of which the first tells the class."""
    rng = np.random.default_rng(3)
    labels = np.arange(train) % 2
    features = np.stack([labels + 0.1 * rng.standard_normal(train), rng.standard_normal(train)], axis=1)
    samples = Samples(features.astype(np.float32), labels.astype(np.int64))
    facts = DataFacts("rows", (2,), ("no", "yes"), (0.5, 0.0), (0.5, 1.0), contents_sha256(samples, samples))
    return DataSet(facts, samples, samples)


class Normed(nn.Module):
    """BatchNorm, and a linear layer on all that it makes."""

    def __init__(self, shape: tuple[int, ...], classes: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(shape[0])
        self.last = nn.Linear(shape[0] * shape[1] * shape[2], classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.last(self.norm(images).flatten(1))
        return result


def problem(
    model: NetworkSpec | None = None, nodes: int = 4, seed: int = 1, data: DataSet | None = None, **settings: object
) -> ImageClassification:
    spec = ImageClassificationSpec(model=model or CnnSpec(), **{"batch": 8, **settings})  # type: ignore[arg-type]
    return spec.build_from(ProblemInputs(data or data_set()), nodes, seed)
