"""The neural networks an experiment file can name. Free of torch: `pame.vision.models` builds them."""

from dataclasses import dataclass
from typing import Literal


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
    buffers: refuse a module with running statistics such as BatchNorm's, or keep them local at every node, unsent
    """

    module: str
    kind: Literal["module"] = "module"
    buffers: Literal["refuse", "local"] = "refuse"


NetworkSpec = CnnSpec | ResNetSpec | SoftmaxSpec | ModuleSpec
