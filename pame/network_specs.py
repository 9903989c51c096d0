"""The neural networks an experiment file can name, and how large they are. Free of torch: `pame.vision.models` builds
them."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any, Literal, assert_never

UserModule = Callable[[tuple[int, ...], int], Any]
"""The user's own network: from the shape of a sample, channels first, and the number of classes."""


@dataclass(frozen=True, slots=True)
class CnnSpec:
    """A convolutional network.

    variant: small (two 5x5 convolutions with 6 and 16 channels, 120 hidden units), wide (32 and 64 channels, 512
        hidden units), or grouped (three 5x5 convolutions with 32, 32 and 64 channels, each with
        GroupNorm(2))
    """

    kind: Literal["cnn"] = "cnn"
    variant: Literal["small", "wide", "grouped"] = "small"


@dataclass(frozen=True, slots=True)
class ResNetSpec:
    """ResNet-20 of He et al. with padded shortcuts.

    norm: group (GroupNorm with 2 groups) or none; BatchNorm's running statistics are no parameters, so that partial
        exchange would not average them
    """

    kind: Literal["resnet20"] = "resnet20"
    norm: Literal["group", "none"] = "group"


@dataclass(frozen=True, slots=True)
class SoftmaxSpec:
    """Softmax regression: one linear layer on all features; it begins at zero."""

    kind: Literal["softmax"] = "softmax"


@dataclass(frozen=True, slots=True)
class ModuleSpec:
    """A torch.nn.Module of your own, called as Net(shape, classes), shape being (channels, height, width).

    module: the Python file, from the folder of the experiment file, and the class in it, such as mine.py:Net
    buffers: refuse a module with running statistics such as BatchNorm's, or keep them local at every node, unsent; then
        models are judged with statistics taken anew from the objective's samples
    """

    module: str
    kind: Literal["module"] = "module"
    buffers: Literal["refuse", "local"] = "refuse"


NetworkSpec = CnnSpec | ResNetSpec | SoftmaxSpec | ModuleSpec


TWO_CONVOLUTIONS = {"small": (6, 16, 120), "wide": (32, 64, 512)}
"""Channels of two 5x5 convolutions, and hidden units."""


def parameters(spec: NetworkSpec, shape: tuple[int, ...], classes: int) -> int | None:
    """How many numbers a model has, on samples of this shape (channels last); a user's own network does not say."""
    match spec:
        case SoftmaxSpec():
            return _layer(prod(shape), classes)
        case CnnSpec(variant="grouped"):
            height, width, channels = shape
            norms = 2 * (32 + 32 + 64)
            convolutions = _layer(25 * channels, 32) + _layer(25 * 32, 32) + _layer(25 * 32, 64)
            return convolutions + norms + _layer(64 * (height // 8) * (width // 8), classes)
        case CnnSpec(variant=variant):
            height, width, channels = shape
            first, second, hidden = TWO_CONVOLUTIONS[variant]
            convolutions = _layer(25 * channels, first) + _layer(25 * first, second)
            return convolutions + _layer(second * (height // 4) * (width // 4), hidden) + _layer(hidden, classes)
        case ResNetSpec():
            widths = [shape[2], *[16] * 7, *[32] * 6, *[64] * 6]
            shifts = 2 if spec.norm == "group" else 1
            return sum(9 * before * after + shifts * after for before, after in pairwise(widths)) + _layer(64, classes)
        case ModuleSpec():
            return None
        case _:
            assert_never(spec)


def _layer(inputs: int, outputs: int) -> int:
    return (inputs + 1) * outputs
