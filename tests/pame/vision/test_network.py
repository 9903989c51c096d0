"""A module as a function of a flat vector: against torch's own numbers and finite differences."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from pame.data_set import DataFacts
from pame.errors import ParameterError
from pame.network_specs import CnnSpec, ModuleSpec, NetworkSpec, ResNetSpec, SoftmaxSpec, parameters
from pame.vision.models import make, seeded
from pame.vision.network import Network
from tests.pame.vision.builders import Normed


def facts(side: int, channels: int, classes: int = 10) -> DataFacts:
    return DataFacts("x", (side, side, channels), ("c",) * classes, (0.0,) * channels, (1.0,) * channels, "")


Batch = tuple[NDArray[np.float32], NDArray[np.int64]]


def batch(samples: int, seed: int = 1) -> Batch:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((samples, 1, 8, 8)).astype(np.float32), rng.integers(0, 10, samples)


def small(spec: NetworkSpec | None = None, seed: int = 7, bfloat16: bool = False) -> Network:
    """Of grey pictures of 8 by 8."""
    return Network(seeded(lambda: make(spec or CnnSpec(), facts(8, 1)), seed), bfloat16=bfloat16)


@pytest.mark.parametrize(
    ("spec", "side", "channels", "classes", "count"),
    [
        (CnnSpec(), 28, 1, 10, 97_982),
        (CnnSpec(variant="wide"), 28, 1, 10, 1_663_370),
        (CnnSpec(variant="grouped"), 32, 3, 10, 89_834),
        (ResNetSpec(), 32, 3, 10, 269_722),
        (SoftmaxSpec(), 28, 1, 10, 7_850),
        (ResNetSpec(), 64, 3, 200, 282_072),
        (ResNetSpec(norm="none"), 32, 3, 10, 269_034),
    ],
)
def test_networks_have_as_many_parameters_as_the_literature_says(
    spec: NetworkSpec, side: int, channels: int, classes: int, count: int
) -> None:
    module = make(spec, facts(side, channels, classes))
    assert Network(module).n == count
    assert parameters(spec, (side, side, channels), classes) == count, "known without torch, too"
    assert module(torch.zeros(2, channels, side, side)).shape == (2, classes)


def test_the_gradient_is_torchs_own_in_the_order_of_the_parameters() -> None:
    module, same = (seeded(lambda: make(CnnSpec(), facts(8, 1)), 7) for _ in range(2))
    network, (images, labels) = Network(module), batch(5)
    loss = functional.cross_entropy(same(torch.from_numpy(images)), torch.from_numpy(labels))
    loss.backward()  # type: ignore[no-untyped-call]
    slopes = [parameter.grad for parameter in same.parameters()]
    expected = np.concatenate([slope.reshape(-1).numpy() for slope in slopes if slope is not None])
    assert np.array_equal(network.gradient(network.start, images, labels), expected.astype(np.float64))
    assert network.value(network.start, images, labels) == pytest.approx(loss.item(), rel=1e-6)


def test_a_gradient_does_not_depend_on_what_was_asked_before_and_on_how_samples_are_cut() -> None:
    network, (images, labels) = small(), batch(600)
    first = network.gradient(network.start, images[:8], labels[:8])
    whole = network.gradient(network.start, images, labels)
    assert np.array_equal(network.gradient(network.start, images[:8], labels[:8]), first)
    weights = [256 / 600, 256 / 600, 88 / 600]
    parts = [network.gradient(network.start, images[at : at + 256], labels[at : at + 256]) for at in (0, 256, 512)]
    together = sum(weight * part for weight, part in zip(weights, parts, strict=True))
    np.testing.assert_allclose(whole, together, atol=1e-6)


def test_the_loss_falls_along_the_gradient_by_its_squared_length() -> None:
    network, (images, labels) = small(ResNetSpec(), seed=3), batch(6, seed=2)
    slope = network.gradient(network.start, images, labels)
    step = 1e-4
    ahead, behind = (network.value(network.start + side * step * slope, images, labels) for side in (-1, 1))
    assert (behind - ahead) / (2 * step) == pytest.approx(float(slope @ slope), rel=0.05)


def test_the_same_seed_draws_the_same_network_and_leaves_torchs_generator_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    one, two, other = (small(seed=seed).start for seed in (1, 1, 2))
    assert torch.equal(torch.rand(3), expected)
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_bfloat16_is_near_float32_and_not_the_same() -> None:
    images, labels = np.linspace(-1, 1, 8 * 64, dtype=np.float32).reshape(8, 1, 8, 8), np.arange(8)
    networks = (small(), small(bfloat16=True))
    exact, rough = (network.gradient(network.start, images, labels) for network in networks)
    assert 0 < np.linalg.norm(rough - exact) < 0.1 * np.linalg.norm(exact)


def frozen() -> nn.Module:
    return nn.Linear(2, 2).requires_grad_(False)


@pytest.mark.parametrize(
    ("module", "told"),
    [
        (Normed((1, 4, 4), 3), "BatchNorm's running statistics.*buffers: local"),
        (nn.Flatten(), "no parameters"),
        (frozen(), "requires_grad"),
        (nn.Linear(2, 2, dtype=torch.complex64), "complex"),
    ],
)
def test_a_module_that_is_no_flat_vector_is_refused(module: nn.Module, told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        Network(module)


def test_buffers_stay_with_the_network_that_has_them() -> None:
    one, two = (Network(seeded(lambda: Normed((1, 4, 4), 3), 1), allow_buffers=True) for _ in range(2))
    images, labels = np.ones((4, 1, 4, 4), dtype=np.float32), np.arange(4) % 3
    before = two.value(two.start, images, labels)
    one.gradient(one.start, images, labels)
    assert two.value(two.start, images, labels) == before
    assert one.value(one.start, images, labels) != before


def test_images_that_a_network_cannot_take_are_refused_with_what_can() -> None:
    with pytest.raises(ParameterError, match="8x8"):
        make(CnnSpec(), facts(6, 1))
    rows = DataFacts("rows", (5,), ("a", "b"), (0.0,) * 5, (1.0,) * 5, "")
    with pytest.raises(ParameterError, match="softmax or module"):
        make(ResNetSpec(), rows)
    assert make(SoftmaxSpec(), rows)(torch.zeros(1, 5)).shape == (1, 2)
    own = make(ModuleSpec("mine.py:Net"), facts(4, 3), Normed)
    assert isinstance(own, Normed)
