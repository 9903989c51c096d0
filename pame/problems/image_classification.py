"""Classification by a neural network: f_i(w) = mean cross-entropy of node i's samples + weight_decay/2 ||w||^2.

A model is one flat vector of all parameters. It travels and is averaged as float64; loss and gradient are computed in
float32, which is exact in float64.
The samples come from a prepared data set, and only an edge can bring it: see `ProblemInputs`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import ceil
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Protocol

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from pame.data_set import DataFacts, DataSet, Samples
from pame.errors import ParameterError
from pame.network_specs import CnnSpec, ModuleSpec, NetworkSpec, UserModule
from pame.partitions import IidPartition, Partition, class_counts, shares
from pame.problems.base import Matrix, Optimum, Vector
from pame.randomness import Key, Purpose, subset, words
from pame.sampling import Indices, batch

if TYPE_CHECKING:
    from pame.vision.network import Network

ACCURACY, LOSS = "test_accuracy", "test_loss"
_OBJECTIVE, _TEST = 0, 1  # sub-streams of Purpose.OBJECTIVE_SAMPLE, by the key's peer


class JudgedSamples(NamedTuple):
    """How many samples figures are measured on."""

    objective: int
    test: int
    """All there are."""
    mean_test: int
    own_test: int


class SampleShards(Protocol):
    """Each node's samples: of a whole data set, or the one shard that was delivered."""

    @property
    def facts(self) -> DataFacts: ...

    def of(self, node: int) -> Samples: ...

    def size(self, node: int) -> int: ...

    def some(self, node: int, rows: NDArray[np.int64]) -> Samples:
        """These of a node's samples, without taking the others."""

    def test(self) -> Samples: ...


@dataclass(frozen=True)
class ProblemInputs:
    """What a spec names and only an edge can bring."""

    data: "DataSet | SampleShards"
    module: UserModule | None = None
    """The user's own, if the spec names one."""


@dataclass(frozen=True)
class ImageClassificationSpec:
    """Classification of images, or of a table's rows, by a neural network.

    data: the name of a prepared data set: `pame data list` shows them
    model: the network
    partition: which node has which samples
    train_samples: so many of the training samples are shared out, drawn at random; none means all
    batch: samples per gradient, drawn anew at each iteration; a node with fewer takes all it has
    augmentation: crop-flip shifts every image of a batch by up to 4 pixels and mirrors half of them
    weight_decay: the weight of ||w||^2 / 2
    dtype: of the computation; bfloat16 is faster on some processors, and less exact
    objective_samples: f is measured on so many training samples, the same ones throughout, evenly over the nodes
    own_test_samples: the nodes' own models are judged on so many test samples
    test_samples: the mean model is judged on so many test samples; none means all
    """

    kind: Literal["image-classification"] = "image-classification"
    data: str = "fashion-mnist"
    model: NetworkSpec = field(default_factory=CnnSpec)
    partition: Partition = field(default_factory=IidPartition)
    train_samples: Annotated[int, Ge(1)] | None = None
    batch: Annotated[int, Ge(1)] = 32
    augmentation: Literal["none", "crop-flip"] = "none"
    weight_decay: Annotated[float, Ge(0)] = 0.0
    dtype: Literal["float32", "bfloat16"] = "float32"
    objective_samples: Annotated[int, Ge(1)] = 2000
    own_test_samples: Annotated[int, Ge(1)] = 1000
    test_samples: Annotated[int, Ge(1)] | None = None

    def build(self, nodes: int, seed: int) -> "ImageClassification":
        raise ParameterError(f"problem.data: the samples of {self.data} have to be given")

    def build_from(self, inputs: ProblemInputs, nodes: int, seed: int) -> "ImageClassification":
        return ImageClassification(self, inputs, nodes, seed)


class PartitionedData:
    """A whole data set, shared out."""

    def __init__(self, spec: ImageClassificationSpec, data: DataSet, nodes: int, seed: int) -> None:
        self.facts = data.facts
        self.whole = data
        labels = data.train.labels
        chosen: NDArray[np.int64] | None = None
        if spec.train_samples is not None:
            if spec.train_samples > labels.size:
                raise ParameterError(
                    f"problem.train_samples: {spec.train_samples} of {labels.size} samples: give at most {labels.size}"
                )
            chosen = subset(Key(seed, Purpose.PARTITION, node=nodes, peer=1), labels.size, spec.train_samples)
            labels = labels[chosen]
        try:
            parts = shares(spec.partition, labels, len(data.facts.classes), nodes, seed)
        except ParameterError as error:
            raise ParameterError(f"problem.{error}" if str(error).startswith("partition.") else str(error)) from None
        self.parts = parts if chosen is None else [chosen[part] for part in parts]
        self._kept: dict[int, Samples] = {}

    @property
    def samples(self) -> int:
        """Of the training set, shared out or not."""
        return int(self.whole.train.labels.size)

    def counts(self) -> NDArray[np.int64]:
        """Row i: how many samples of each class node i has."""
        return class_counts(self.parts, self.whole.train.labels, len(self.facts.classes))

    def of(self, node: int) -> Samples:
        if node not in self._kept:
            self._kept[node] = self.some(node, np.arange(self.size(node)))
        return self._kept[node]

    def size(self, node: int) -> int:
        return int(self.parts[node].size)

    def some(self, node: int, rows: NDArray[np.int64]) -> Samples:
        chosen, train = self.parts[node][rows], self.whole.train
        return Samples(train.features[chosen], train.labels[chosen])

    def test(self) -> Samples:
        return self.whole.test


@dataclass(frozen=True)
class DeliveredShard:
    """What a node knows that was sent its own samples and nobody else's."""

    facts: DataFacts
    node: int
    samples: Samples

    def of(self, node: int) -> Samples:
        if node != self.node:
            raise ParameterError(f"this is node {self.node}, which has no samples of node {node}")
        return self.samples

    def size(self, node: int) -> int:
        return int(self.of(node).labels.size)

    def some(self, node: int, rows: NDArray[np.int64]) -> Samples:
        samples = self.of(node)
        return Samples(samples.features[rows], samples.labels[rows])

    def test(self) -> Samples:
        raise ParameterError(f"this is node {self.node}, which has no test samples")


@dataclass(frozen=True)
class LocalClassification:
    """f_i."""

    problem: "ImageClassification"
    node: int

    @cached_property
    def _shard(self) -> Samples:
        return self.problem.shards.of(self.node)

    @property
    def samples(self) -> int:
        return int(self._shard.labels.size)

    def value(self, model: Vector) -> float:
        problem, shard = self.problem, self._shard
        loss = problem.network_of(self.node).value(model, problem.images(shard.features), shard.labels)
        return loss + problem.penalty(model)

    def gradient(self, model: Vector, iteration: int) -> Vector:
        """On the mini-batch of the iteration, augmented if the spec says so."""
        problem, shard, spec = self.problem, self._shard, self.problem.spec
        later, begin = iteration % _DRAWN_AT_ONCE, iteration // _DRAWN_AT_ONCE * _DRAWN_AT_ONCE
        rows = _batches(problem.seed, self.node, begin, self.samples, min(spec.batch, self.samples))[later]
        images = problem.images(shard.features[rows])
        if spec.augmentation == "crop-flip":
            from pame.vision.augmentation import crop_and_flip

            images = crop_and_flip(images, problem.seed, self.node, iteration)
        draw = problem.draw_of(self.node, iteration)
        return self._decayed(problem.network_of(self.node).gradient(model, images, shard.labels[rows], draw), model)

    def full_gradient(self, model: Vector) -> Vector:
        problem, shard = self.problem, self._shard
        images, draw = problem.images(shard.features), problem.draw_of(self.node, 0)
        slope = problem.network_of(self.node).gradient(model, images, shard.labels, draw)
        return self._decayed(slope, model)

    def smoothness(self) -> float | None:
        return None

    def _decayed(self, slope: Vector, model: Vector) -> Vector:
        return slope + self.problem.spec.weight_decay * model if self.problem.spec.weight_decay else slope


class ImageClassification:
    """As `pame.problems.base.Problem` describes it; the optimum is not known."""

    metric = ACCURACY
    metric_names = (ACCURACY, LOSS)
    judged_in = np.float32

    def __init__(self, spec: ImageClassificationSpec, inputs: ProblemInputs, nodes: int, seed: int) -> None:
        self.spec, self.nodes, self.seed = spec, nodes, seed
        data = inputs.data
        self.shards: SampleShards = PartitionedData(spec, data, nodes, seed) if isinstance(data, DataSet) else data
        self.facts = self.shards.facts
        if spec.augmentation == "crop-flip" and not self.facts.is_image:
            raise ParameterError(f"problem.augmentation: {spec.data} is a table, which cannot be cropped: use none")
        self._module = inputs.module
        self._networks: dict[int, Network] = {}
        self.n, self.start = self.network.n, self.network.start.copy()

    @cached_property
    def network(self) -> "Network":
        """One for all nodes and for judging: it holds nothing but the vector that it is given."""
        return self._fresh_network()

    def network_of(self, node: int) -> "Network":
        """A node's own where it keeps buffers, else the common one."""
        if not self._has_buffers:
            return self.network
        if node not in self._networks:
            self._networks[node] = self._fresh_network()
        return self._networks[node]

    def local(self, node: int) -> LocalClassification:
        return LocalClassification(self, node)

    def images(self, features: NDArray[Any]) -> NDArray[np.float32]:
        """Normalised by the training data, channels first.

        In memory channels stay last, where convolutions are faster; a module of the user's may not expect that.
        """
        values = features.astype(np.float32)
        values *= self._factor
        values -= self._shift
        if not self.facts.is_image:
            return values
        images = values.transpose(0, 3, 1, 2)
        return np.array(images, order="C") if isinstance(self.spec.model, ModuleSpec) else images

    def draw_of(self, node: int, iteration: int) -> int | None:
        """The seed of what a module of the user's draws in a gradient; the built-in ones draw nothing."""
        if not isinstance(self.spec.model, ModuleSpec):
            return None
        return _seed(Key(self.seed, Purpose.MODULE, node, iteration))

    def penalty(self, model: Vector) -> float:
        return self.spec.weight_decay / 2.0 * float(model @ model)

    def objective(self, model: Vector) -> float:
        """On the fixed sample: the mean over the nodes of each node's mean."""
        model = model.astype(self.judged_in).astype(np.float64)
        self._calibrate(model)
        losses = [self.network.value(model, images, labels) for images, labels in self._objective_sample]
        return sum(losses) / self.nodes + self.penalty(model)

    def objectives(self, models: Matrix) -> Vector:
        return np.array([self.objective(model) for model in models])

    def metrics(self, model: Vector) -> dict[str, float]:
        """On the whole test set, or on the fixed part of it that the spec asks for."""
        return self._metrics(model, self._test)

    def metrics_of(self, models: Matrix) -> Mapping[str, Vector]:
        """On the fixed part of the test set."""
        found = [self._metrics(model, self._own_test) for model in models]
        return {name: np.array([each[name] for each in found]) for name in found[0]}

    def optimum(self) -> Optimum | None:
        return None

    def _metrics(self, model: Vector, samples: Samples) -> dict[str, float]:
        self._calibrate(model)
        loss, accuracy = 0.0, 0.0
        for begin in range(0, samples.labels.size, _JUDGED_AT_ONCE):
            labels = samples.labels[begin : begin + _JUDGED_AT_ONCE]
            images = self.images(samples.features[begin : begin + _JUDGED_AT_ONCE])
            part_loss, part_accuracy = self.network.judge(model, images, np.array(labels))
            loss += part_loss * labels.size
            accuracy += part_accuracy * labels.size
        return {ACCURACY: accuracy / samples.labels.size, LOSS: loss / samples.labels.size}

    def _calibrate(self, model: Vector) -> None:
        """Nodes keep their running statistics to themselves: a model is judged with those of the fixed sample."""
        if self._has_buffers:
            self.network.calibrate(model, np.concatenate([images for images, _ in self._objective_sample]))

    @property
    def judged_samples(self) -> JudgedSamples:
        spec, test = self.spec, self.shards.test().labels.size
        each = ceil(spec.objective_samples / self.nodes)
        shards = map(self.shards.size, range(self.nodes))
        of_mean, own = (min(size or test, test) for size in (spec.test_samples, spec.own_test_samples))
        return JudgedSamples(sum(min(each, size) for size in shards), test, of_mean, own)

    @cached_property
    def _objective_sample(self) -> list[tuple[NDArray[np.float32], NDArray[np.int64]]]:
        each = ceil(self.spec.objective_samples / self.nodes)
        chosen = []
        for node in range(self.nodes):
            size = self.shards.size(node)
            rows = subset(self._sample_key(_OBJECTIVE, node), size, min(each, size))
            judged = self.shards.some(node, rows)
            chosen.append((self.images(judged.features), judged.labels))
        return chosen

    @cached_property
    def _test(self) -> Samples:
        return self.shards.test() if self.spec.test_samples is None else self._part(self.spec.test_samples)

    @cached_property
    def _own_test(self) -> Samples:
        return self._part(self.spec.own_test_samples)

    def _part(self, size: int) -> Samples:
        """Of the test samples, the same ones throughout."""
        test = self.shards.test()
        rows = subset(self._sample_key(_TEST), test.labels.size, min(size, test.labels.size))
        return Samples(test.features[rows], test.labels[rows])

    def _sample_key(self, which: int, node: int = 0) -> Key:
        return Key(self.seed, Purpose.OBJECTIVE_SAMPLE, node, peer=which)

    @cached_property
    def _factor(self) -> NDArray[np.float32]:
        scale = 255.0 if self.facts.is_image else 1.0
        return (1.0 / (scale * np.array(self.facts.deviation))).astype(np.float32)

    @cached_property
    def _shift(self) -> NDArray[np.float32]:
        shift: NDArray[np.float32] = (np.array(self.facts.mean) / np.array(self.facts.deviation)).astype(np.float32)
        return shift

    @property
    def _has_buffers(self) -> bool:
        return isinstance(self.spec.model, ModuleSpec) and self.spec.model.buffers == "local"

    def _fresh_network(self) -> "Network":
        from pame.vision.models import channels_first, make, seeded
        from pame.vision.network import Network

        seed = _seed(Key(self.seed, Purpose.START))
        module = seeded(lambda: make(self.spec.model, self.facts, self._module), seed)
        network = Network(module, self._has_buffers, self.spec.dtype == "bfloat16")
        if isinstance(self.spec.model, ModuleSpec):
            network.look(channels_first(self.facts), len(self.facts.classes))
        return network


@lru_cache(maxsize=1024)
def _batches(seed: int, node: int, begin: int, samples: int, size: int) -> tuple[Indices, ...]:
    """Of some iterations at once: a draw alone takes five times as long, between two passes through a network."""
    return tuple(batch(seed, node, k, samples, size) for k in range(begin, begin + _DRAWN_AT_ONCE))


def _seed(key: Key) -> int:
    return int(words(key, 1)[0] >> np.uint64(1))


_JUDGED_AT_ONCE, _DRAWN_AT_ONCE = 2048, 16
