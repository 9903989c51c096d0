"""The data of a regression: the truth w*, each node's shard, and a test set no node has seen.

    features a ~ N(0, I);  labels drawn from the score <a, w*>;  w* sparse, magnitudes uniform in [0.5, 2], random signs

Two ways to make nodes differ:

    feature_shift   a ~ N(shift u_i, I) with a unit vector u_i per node; labels follow the shifted features
    label_skew      each sample gets the label its node prefers with this probability, else keeps its own. The law of
                    (a, b) stays the same when a sample is flipped (linear: (-a, -b), logistic: (-a, 1-b)), so flipping
                    those of the wrong label leaves the law of the features given the label exactly as it was.
                    For the same reason each sample's loss stays the same: skew changes what a node's labels look like,
                    and no f_i. (True of any model without intercept on features symmetric about zero.)

A shard is a function of (seed, node, spec) alone: the number of nodes never changes it.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pame.errors import ParameterError
from pame.problems.base import Matrix, Vector
from pame.randomness import Key, Purpose, normals, subset, uniforms

TEST_NODE = 2**32
"""The node number in the draws of the test set; no shard can have it."""


class DataSpec(Protocol):
    """The parameters that all regressions share; see `LinearSpec` for what they mean."""

    @property
    def n(self) -> int: ...  # noqa: D102
    @property
    def samples(self) -> int: ...  # noqa: D102
    @property
    def batch(self) -> int | None: ...  # noqa: D102
    @property
    def nonzeros(self) -> float: ...  # noqa: D102
    @property
    def feature_shift(self) -> float: ...  # noqa: D102
    @property
    def label_skew(self) -> float: ...  # noqa: D102
    @property
    def test_samples(self) -> int: ...  # noqa: D102


class Labels(Protocol):
    """How labels come about, and what a sample's label is when its features change sign."""

    def draw(self, key: Key, scores: Vector) -> Vector:
        """One label per score <a, w*>."""

    def positive(self, labels: Vector) -> NDArray[np.bool_]:
        """Which labels count as 1 rather than 0."""

    def opposite(self, labels: Vector) -> Vector:
        """The labels that belong to -a."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Samples as rows of a C-contiguous matrix, and their labels."""

    features: Matrix
    labels: Vector


def check(spec: DataSpec) -> None:
    """Refuse parameters that are each in range but contradict each other."""
    if spec.batch is not None and spec.batch > spec.samples:
        raise ParameterError(
            f"batch is {spec.batch} but a node has only {spec.samples} samples: "
            f"choose at most {spec.samples}, or leave batch out to use all of them."
        )
    if spec.feature_shift and spec.label_skew:
        raise ParameterError(
            "feature_shift and label_skew cannot be combined, because the skew is exact only for features "
            "symmetric about zero: set one of them to 0."
        )


def truth(spec: DataSpec, seed: int) -> Vector:
    """`w*`: a share `nonzeros` of the coordinates (at least one) is non-zero."""
    count = max(1, round(spec.nonzeros * spec.n))
    draws = uniforms(Key(seed, Purpose.TRUTH, peer=1), 2 * count)
    model = np.zeros(spec.n)
    model[subset(Key(seed, Purpose.TRUTH), spec.n, count)] = np.where(draws[count:] < 0.5, -1.0, 1.0) * (
        0.5 + 1.5 * draws[:count]
    )
    return model


class Shards:
    """All data of a problem, each piece generated at its first use and kept once."""

    def __init__(self, spec: DataSpec, labels: Labels, nodes: int, seed: int) -> None:
        self.spec, self.nodes, self.seed = spec, nodes, seed
        self.truth = truth(spec, seed)
        self._labels = labels
        self._shards: dict[int, Shard] = {}
        self._stack: Shard | None = None
        self._test: Shard | None = None

    def of(self, node: int) -> Shard:
        """A node's shard."""
        if node not in self._shards:
            self._shards[node] = self._draw(node, np.empty((self.spec.samples, self.spec.n)))
        return self._shards[node]

    def stack(self) -> Shard:
        """All shards in one (nodes, samples, n) array; from now on `of` gives views into it."""
        if self._stack is None:
            features = np.empty((self.nodes, self.spec.samples, self.spec.n))
            labels = np.empty((self.nodes, self.spec.samples))
            for node in range(self.nodes):
                known = self._shards.pop(node, None)
                if known is None:
                    labels[node] = self._draw(node, features[node]).labels
                else:
                    features[node], labels[node] = known.features, known.labels
                self._shards[node] = Shard(features[node], labels[node])
            self._stack = Shard(features, labels)
        return self._stack

    def test(self) -> Shard:
        """The test set, from the model without shift or skew."""
        if self._test is None:
            features = self._normals(TEST_NODE, self.spec.test_samples)
            labels = self._labels.draw(Key(self.seed, Purpose.LABELS, TEST_NODE), features @ self.truth)
            self._test = Shard(features, labels)
        return self._test

    def _draw(self, node: int, features: Matrix) -> Shard:
        """Fill `features` with a node's samples and add their labels."""
        spec, different = self.spec, Key(self.seed, Purpose.HETEROGENEITY, node)
        features[:] = self._normals(node, spec.samples)
        if spec.feature_shift:
            direction = normals(different, spec.n)
            features += spec.feature_shift / np.sqrt(direction @ direction) * direction
        labels = self._labels.draw(Key(self.seed, Purpose.LABELS, node), features @ self.truth)
        if spec.label_skew:
            draws = uniforms(different, 1 + spec.samples)
            prefers_positive = draws[0] < 0.5
            flipped = (draws[1:] < spec.label_skew) & (self._labels.positive(labels) != prefers_positive)
            features[flipped] *= -1.0
            labels = np.where(flipped, self._labels.opposite(labels), labels)
        return Shard(features, labels)

    def _normals(self, node: int, samples: int) -> Matrix:
        return normals(Key(self.seed, Purpose.FEATURES, node), samples * self.spec.n).reshape(samples, self.spec.n)
