"""The data of a regression: the truth w*, each node's shard, and a test set no node has seen.

    features a ~ N(0, I);  labels drawn from the score <a, w*>;  w* sparse, magnitudes uniform in [0.5, 2], random signs

Three ways to make nodes differ, which can be combined:

    feature_shift   a ~ N(shift u_i, I) with a unit vector u_i per node; labels follow the shifted features
    truth_shift     node i's labels follow w*_i = w* + shift u'_i with another unit vector u'_i per node
    label_skew      each sample must, with this probability, have the label its node prefers. One that must and does not
                    is replaced by the next candidate of the node that does; a candidate once passed over is never used,
                    or else the samples that may have any label would collect the other one and undo the skew. So

                        law of (a, b) = skew * (law given the preferred label) + (1 - skew) * (law without skew)

                    Without feature_shift (-a, -b), for logistic labels (-a, 1-b), has the same law as (a, b) and the
                    same loss: then either label teaches a model without intercept the same, and f_i keeps its law.

A shard is a function of (seed, node, spec) alone: the number of nodes never changes it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Protocol

import numpy as np
from annotated_types import Ge, Interval
from numpy.typing import NDArray

from pame.errors import ParameterError
from pame.problems.base import Matrix, Optimum, Vector
from pame.randomness import Key, Purpose, normals, subset, uniforms

TEST_NODE = 2**32
"""The node number in the draws of the test set; no shard can have it."""

_SKEW, _TRUTH = 1, 2  # sub-streams of Purpose.HETEROGENEITY, by the key's peer; 0 is that of the feature shift
_CHUNKS = 64  # candidates drawn for one shard, in units of its size, before giving up


@dataclass(frozen=True, slots=True)
class RegressionSpec:
    """What every regression may be told.

    n: dimension of a model
    samples: samples per node
    batch: samples per gradient, drawn anew at each iteration; none means all of the node's samples
    nonzeros: share of the true model's coordinates that are not zero (at least one is)
    feature_shift: how far a node's mean features lie from zero, each node in its own direction
    label_skew: probability that a sample must have the label its node prefers; combine it with feature_shift:
        with features symmetric about zero either label teaches a model the same, so skew alone changes no
        objective's law
    truth_shift: how far the model behind a node's labels lies from the true one, each node in its own direction; test
        metrics stay with the true one
    test_samples: size of the test set
    """

    n: Annotated[int, Ge(1)] = 1000
    samples: Annotated[int, Ge(1)] = 500
    batch: Annotated[int, Ge(1)] | None = None
    nonzeros: Annotated[float, Interval(gt=0, le=1)] = 0.5
    feature_shift: Annotated[float, Ge(0)] = 0.0
    label_skew: Annotated[float, Interval(ge=0, le=1)] = 0.0
    truth_shift: Annotated[float, Ge(0)] = 0.0
    test_samples: Annotated[int, Ge(1)] = 10_000


@dataclass(frozen=True, slots=True)
class Shard:
    """Samples as rows of a C-contiguous matrix, and their labels."""

    features: Matrix
    labels: Vector


class Family(Protocol):
    """What tells one kind of regression from another. Functions of scores and labels work on arrays of any shape."""

    @property
    def metric(self) -> str:
        """The name of the test metric."""

    @property
    def regularisation(self) -> float:
        """lambda."""

    @property
    def max_curvature(self) -> float:
        """The largest second derivative of the loss in the score."""

    def draw(self, key: Key, scores: Vector) -> Vector:
        """One label per score <a, w*>."""

    def positive(self, labels: Vector) -> NDArray[np.bool_]:
        """Which labels count as 1 rather than 0."""

    def loss(self, scores: Vector, labels: Vector) -> Vector:
        """The loss of each sample."""

    def slope(self, scores: Vector, labels: Vector) -> Vector:
        """The derivative of each sample's loss in its score."""

    def test(self, scores: Vector, labels: Vector) -> float:
        """The test metric."""

    def minimise(self, shards: list[Shard]) -> Optimum:
        """The minimiser of the mean of the f_i."""


def check(spec: RegressionSpec) -> None:
    """Refuse parameters that are each in range but contradict each other."""
    if spec.batch is not None and spec.batch > spec.samples:
        raise ParameterError(
            f"batch is {spec.batch} but a node has only {spec.samples} samples: "
            f"choose at most {spec.samples}, or leave batch out to use all of them."
        )


def truth(spec: RegressionSpec, seed: int) -> Vector:
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

    def __init__(self, spec: RegressionSpec, family: Family, nodes: int, seed: int) -> None:
        self.spec, self.nodes, self.seed = spec, nodes, seed
        self.truth = truth(spec, seed)
        self._family = family
        self._shards: dict[int, Shard] = {}
        self._stack: Shard | None = None
        self._test: Shard | None = None

    def of(self, node: int) -> Shard:
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
        """The test set, from the truth all nodes share and without shift or skew."""
        if self._test is None:
            features = self._normals(TEST_NODE, self.spec.test_samples)
            labels = self._family.draw(Key(self.seed, Purpose.LABELS, TEST_NODE), features @ self.truth)
            self._test = Shard(features, labels)
        return self._test

    def _draw(self, node: int, features: Matrix) -> Shard:
        """Fill `features` with a node's samples and add their labels."""
        spec, key = self.spec, Key(self.seed, Purpose.HETEROGENEITY, node)
        mean = _displacement(key, spec.n, spec.feature_shift)
        change = _displacement(replace(key, peer=_TRUTH), spec.n, spec.truth_shift)
        truth = self.truth if change is None else self.truth + change

        def candidates(chunk: int, into: Matrix) -> Vector:
            into[:] = self._normals(node, len(into), chunk)
            if mean is not None:
                into += mean
            return self._family.draw(Key(self.seed, Purpose.LABELS, node, chunk), into @ truth)

        shard = Shard(features, candidates(0, features))
        if spec.label_skew:
            self._skew(node, shard, candidates)
        return shard

    def _skew(self, node: int, shard: Shard, candidates: Callable[[int, Matrix], Vector]) -> None:
        """Give samples that must have the preferred label, and have not, the next candidates that do."""
        draws = uniforms(Key(self.seed, Purpose.HETEROGENEITY, node, peer=_SKEW), 1 + self.spec.samples)
        prefers_positive = bool(draws[0] < 0.5)
        must = draws[1:] < self.spec.label_skew
        wrong = np.flatnonzero(must & (self._family.positive(shard.labels) != prefers_positive))
        features = np.empty_like(shard.features)
        for chunk in range(1, _CHUNKS):
            if not wrong.size:
                return
            labels = candidates(chunk, features)
            fitting = np.flatnonzero(self._family.positive(labels) == prefers_positive)[: wrong.size]
            filled, wrong = np.split(wrong, [fitting.size])
            shard.features[filled], shard.labels[filled] = features[fitting], labels[fitting]
        if wrong.size:
            raise ParameterError(
                f"Node {node} hardly ever sees the {'positive' if prefers_positive else 'negative'} label it prefers "
                f"({_CHUNKS * self.spec.samples} candidates were too few to find its {self.spec.samples} samples): "
                "choose a smaller feature_shift or label_skew."
            )

    def _normals(self, node: int, samples: int, chunk: int = 0) -> Matrix:
        key = Key(self.seed, Purpose.FEATURES, node, chunk)
        return normals(key, samples * self.spec.n).reshape(samples, self.spec.n)


def _displacement(key: Key, n: int, length: float) -> Vector | None:
    """A vector of that length in a uniformly random direction; none if the length is zero."""
    if not length:
        return None
    direction = normals(key, n)
    displacement: Vector = length / np.sqrt(direction @ direction) * direction
    return displacement
