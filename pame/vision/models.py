"""The built-in networks. None has buffers: every number of a model is a parameter, and travels."""

from collections.abc import Callable
from itertools import pairwise
from typing import assert_never

import torch
from torch import Tensor, nn
from torch.nn import functional

from pame.data_set import DataFacts
from pame.errors import ParameterError
from pame.network_specs import (
    TWO_CONVOLUTIONS,
    CnnSpec,
    ModuleSpec,
    NetworkSpec,
    ResNetSpec,
    SoftmaxSpec,
    UserModule,
)

_GROUPS = 2
_SMALLEST_SIDE = 8


def make(spec: NetworkSpec, facts: DataFacts, user: UserModule | None = None) -> nn.Module:
    """A fresh network, initialised by torch's global generator."""
    classes, features = len(facts.classes), facts.features
    match spec:
        case SoftmaxSpec():
            return _softmax(features, classes)
        case ModuleSpec():
            if user is None:
                raise ParameterError(f"problem.model.module: {spec.module} was not loaded")
            return _own(spec.module, user(channels_first(facts), classes))
        case CnnSpec(variant=variant):
            shape = _image(facts, f"cnn ({variant})")
            if variant == "grouped":
                return _grouped(shape, classes)
            return _two_convolutions(*TWO_CONVOLUTIONS[variant], shape, classes)
        case ResNetSpec(norm=norm):
            return ResNet20(_image(facts, "resnet20")[2], classes, norm == "group")
        case _:
            assert_never(spec)


def channels_first(facts: DataFacts) -> tuple[int, ...]:
    """The shape of a sample as a network sees it."""
    return (facts.shape[2], *facts.shape[:2]) if facts.is_image else facts.shape


def _own(name: str, module: object) -> nn.Module:
    if not isinstance(module, nn.Module):
        raise ParameterError(f"problem.model.module: {name} is no torch.nn.Module: derive your class from it")
    return module


def _image(facts: DataFacts, model: str) -> tuple[int, int, int]:
    if not facts.is_image:
        raise ParameterError(f"problem.model: {model} needs images, and {facts.name} is a table: use softmax or module")
    height, width, channels = facts.shape
    if min(height, width) < _SMALLEST_SIDE:
        raise ParameterError(f"problem.model: {model} needs images of 8x8 at least, not {height}x{width}")
    return height, width, channels


def _softmax(features: int, classes: int) -> nn.Module:
    layer = nn.Linear(features, classes)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return nn.Sequential(nn.Flatten(), layer)


def _two_convolutions(first: int, second: int, hidden: int, shape: tuple[int, int, int], classes: int) -> nn.Module:
    height, width, channels = shape
    return nn.Sequential(
        nn.Conv2d(channels, first, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(first, second, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(second * (height // 4) * (width // 4), hidden), nn.ReLU(), nn.Linear(hidden, classes),
    )  # fmt: skip


def _grouped(shape: tuple[int, int, int], classes: int) -> nn.Module:
    height, width, channels = shape
    layers: list[nn.Module] = []
    for before, after in ((channels, 32), (32, 32), (32, 64)):
        layers += [nn.Conv2d(before, after, 5, padding=2), nn.GroupNorm(_GROUPS, after), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * (height // 8) * (width // 8), classes))


class ResNet20(nn.Module):
    """Three stages of three blocks with 16, 32 and 64 channels; shortcuts pad channels with zeros (He's option A)."""

    def __init__(self, channels: int, classes: int, grouped: bool) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, 16, 3, padding=1, bias=not grouped)
        self.norm = _norm(16, grouped)
        widths = [16] * 4 + [32] * 3 + [64] * 3
        self.blocks = nn.Sequential(*(_Block(before, after, grouped) for before, after in pairwise(widths)))
        self.last = nn.Linear(64, classes)

    def forward(self, images: Tensor) -> Tensor:
        hidden: Tensor = self.blocks(functional.relu(self.norm(self.first(images))))
        result: Tensor = self.last(hidden.mean(dim=(2, 3)))
        return result


class _Block(nn.Module):
    def __init__(self, before: int, after: int, grouped: bool) -> None:
        super().__init__()
        self.stride = after // before
        self.padding = after - before
        self.one = nn.Conv2d(before, after, 3, stride=self.stride, padding=1, bias=not grouped)
        self.two = nn.Conv2d(after, after, 3, padding=1, bias=not grouped)
        self.norm_one, self.norm_two = _norm(after, grouped), _norm(after, grouped)

    def forward(self, hidden: Tensor) -> Tensor:
        change = self.norm_two(self.two(functional.relu(self.norm_one(self.one(hidden)))))
        if self.padding:
            hidden = functional.pad(hidden[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.padding))
        return functional.relu(hidden + change)


def _norm(channels: int, grouped: bool) -> nn.Module:
    return nn.GroupNorm(_GROUPS, channels) if grouped else nn.Identity()


def seeded(make_one: Callable[[], nn.Module], seed: int) -> nn.Module:
    """The network that `make_one` draws from this seed; torch's own generator is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make_one()
