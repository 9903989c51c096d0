"""Regression shared out over nodes: everything linear and logistic regression have in common.

    f_i(w) = (1/m_i) sum_j loss(z_j, b_j) + lambda/2 ||w||^2,            z = A_i w
    grad   = (1/m_i) slope(z, b)^T A_i + lambda w
    L_i    = max loss'' * lambda_max(A_i^T A_i) / m_i + lambda

Bit-exactness: a gradient is two products of a C-contiguous float64 matrix with a vector, `A @ w` and `r @ A`, one node
at a time, on one BLAS thread. Node and lock-step simulator both come through `gradient` below; gemm, einsum, another
memory order or a stack of all nodes may differ in the last bits.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pame.problems.base import Matrix, Optimum, Vector
from pame.problems.shards import Family, RegressionSpec, Shard, Shards, check
from pame.randomness import Purpose
from pame.randomness.many import subsets_of_nodes
from pame.sampling import batch

_CACHED = 1 << 17  # numbers handled at once: the second product then finds the samples in the cache


def value(family: Family, shard: Shard, model: Vector) -> float:
    """f_i(w)."""
    return _value(family, family.loss(shard.features @ model, shard.labels), model)


def gradient(family: Family, shard: Shard, model: Vector) -> Vector:
    """grad f_i(w): the one code path of everything that must be bit-exact."""
    result: Vector = family.slope(shard.features @ model, shard.labels) @ shard.features
    result /= shard.labels.size
    if family.regularisation:
        result += family.regularisation * model
    return result


@dataclass(frozen=True, slots=True)
class LocalRegression:
    """f_i. It looks its shard up at each use, because stacking moves the shards."""

    family: Family
    shards: Shards
    node: int

    @property
    def samples(self) -> int:
        return self.shards.spec.samples

    def value(self, model: Vector) -> float:
        return value(self.family, self.shards.of(self.node), model)

    def gradient(self, model: Vector, iteration: int) -> Vector:
        shard, size = self.shards.of(self.node), self.shards.spec.batch
        if size is not None:
            rows = batch(self.shards.seed, self.node, iteration, self.samples, size)
            shard = Shard(shard.features[rows], shard.labels[rows])
        return gradient(self.family, shard, model)

    def full_gradient(self, model: Vector) -> Vector:
        return gradient(self.family, self.shards.of(self.node), model)

    def smoothness(self) -> float:
        """L_i from the eigenvalues of the smaller Gram matrix: relative error below 1e-9, and never below the true one.

        The eigenvalue itself is good to about 1e-13; the factor keeps rounding from making the bound too small.
        """
        family, features = self.family, self.shards.of(self.node).features
        gram = features @ features.T if self.samples <= features.shape[1] else features.T @ features
        largest = float(np.linalg.eigvalsh(gram)[-1])
        return (family.max_curvature * largest / self.samples + family.regularisation) * (1.0 + 1e-10)


@dataclass(frozen=True, slots=True)
class StackedRegression:
    """All f_i at once, by batched matrix-vector products on one (nodes, samples, n) array."""

    family: Family
    shards: Shards

    def gradient(self, models: Matrix, iteration: int) -> Matrix:
        spec, nodes = self.shards.spec, self.shards.nodes
        at_once = max(1, _CACHED // ((spec.batch or spec.samples) * spec.n))
        result = np.empty((nodes, spec.n))
        batches = self._batches(iteration)
        for start in range(0, nodes, at_once):
            some = slice(start, min(start + at_once, nodes))
            part = self._samples(some, batches)
            slopes = self.family.slope(np.matmul(part.features, models[some, :, None])[:, :, 0], part.labels)
            result[some] = np.matmul(slopes[:, None, :], part.features)[:, 0, :]
        result /= spec.batch or spec.samples
        if self.family.regularisation:
            result += self.family.regularisation * models
        return result

    def objective(self, model: Vector) -> float:
        stack = self.shards.stack()
        return _value(self.family, self.family.loss(stack.features @ model, stack.labels), model)

    def _batches(self, iteration: int) -> NDArray[np.bool_] | None:
        """Row i marks the mini-batch of node i, the same as `batch` gives; none if gradients use all samples."""
        spec = self.shards.spec
        if spec.batch is None:
            return None
        nodes = np.arange(self.shards.nodes)
        return subsets_of_nodes(self.shards.seed, Purpose.BATCH, nodes, iteration, n=spec.samples, s=spec.batch)

    def _samples(self, nodes: slice, batches: NDArray[np.bool_] | None) -> Shard:
        """What some nodes' gradients use: all they have, or their mini-batches."""
        stack = self.shards.stack()
        features, labels = stack.features[nodes], stack.labels[nodes]
        if batches is None:
            return Shard(features, labels)
        count, _, n = features.shape
        rows = np.flatnonzero(batches[nodes]).reshape(count, -1)
        return Shard(features.reshape(-1, n)[rows], labels.reshape(-1)[rows])


class Regression:
    """A regression problem, as `pame.problems.base.Problem` describes it."""

    def __init__(self, spec: RegressionSpec, family: Family, nodes: int, seed: int) -> None:
        check(spec)
        self.n, self.nodes, self.metric = spec.n, nodes, family.metric
        self.shards = Shards(spec, family, nodes, seed)
        self._family = family

    @property
    def start(self) -> Vector:
        return np.zeros(self.n)

    def local(self, node: int) -> LocalRegression:
        return LocalRegression(self._family, self.shards, node)

    def stacked(self) -> StackedRegression:
        self.shards.stack()
        return StackedRegression(self._family, self.shards)

    def objective(self, model: Vector) -> float:
        return sum(self.local(node).value(model) for node in range(self.nodes)) / self.nodes

    def objectives(self, models: Matrix) -> Vector:
        """f at each row, by matrix products, a shard after the other; equal to `objective` up to rounding."""
        family, across = self._family, models.T
        losses = np.zeros(len(models))
        for shard in map(self.shards.of, range(self.nodes)):
            losses += family.loss(shard.features @ across, shard.labels[:, None]).mean(axis=0)
        result: Vector = losses / self.nodes + family.regularisation / 2.0 * np.square(models).sum(axis=1)
        return result

    def metrics_of(self, models: Matrix) -> dict[str, Vector]:
        test = self.shards.test()
        return {
            self.metric: np.array([self._family.test(row, test.labels) for row in models @ test.features.T]),
            "model_error": np.square(models - self.shards.truth).sum(axis=1),
        }

    def optimum(self) -> Optimum:
        return self._family.minimise([self.shards.of(node) for node in range(self.nodes)])

    def metrics(self, model: Vector) -> dict[str, float]:
        """The test metric, and `model_error` = ||w - w*||^2."""
        test, difference = self.shards.test(), model - self.shards.truth
        return {
            self.metric: self._family.test(test.features @ model, test.labels),
            "model_error": float(difference @ difference),
        }


def _value(family: Family, losses: Vector, model: Vector) -> float:
    return float(np.mean(losses)) + family.regularisation / 2.0 * float(model @ model)
