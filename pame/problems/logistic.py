"""Logistic regression: b ~ Bernoulli(sigmoid(<a, w*>)), and with z = A_i w

f_i(w) = (1/m_i) sum_j [log(1 + e^z_j) - b_j z_j] + lambda/2 ||w||^2
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Interval
from numpy.typing import NDArray

from pame.problems.base import Optimum, Vector
from pame.problems.regression import Regression
from pame.problems.shards import Shard
from pame.randomness import Key, uniforms


@dataclass(frozen=True, slots=True)
class LogisticSpec:
    """Regularised logistic regression.

    n: dimension of a model
    samples: samples per node
    batch: samples per gradient, drawn anew at each iteration; none means all of the node's samples
    soft: labels are the probabilities themselves, as in the paper, instead of zeros and ones drawn with them
    regularisation: lambda, the weight of ||w||^2 / 2
    nonzeros: share of the true model's coordinates that are not zero (at least one is)
    feature_shift: how far a node's mean features lie from zero, each node in its own direction
    label_skew: probability that a sample must have the label its node prefers; combine it with feature_shift:
        with features symmetric about zero either label teaches a model the same, so skew alone changes no
        objective's law
    truth_shift: how far the model behind a node's labels lies from the true one, each node in its own direction; test
        metrics stay with the true one
    test_samples: size of the test set
    """

    kind: Literal["logistic"] = "logistic"
    n: Annotated[int, Ge(1)] = 1000
    samples: Annotated[int, Ge(1)] = 500
    batch: Annotated[int, Ge(1)] | None = None
    soft: bool = False
    regularisation: Annotated[float, Gt(0)] = 0.001
    nonzeros: Annotated[float, Interval(gt=0, le=1)] = 0.5
    feature_shift: Annotated[float, Ge(0)] = 0.0
    label_skew: Annotated[float, Interval(ge=0, le=1)] = 0.0
    truth_shift: Annotated[float, Ge(0)] = 0.0
    test_samples: Annotated[int, Ge(1)] = 10_000

    def build(self, nodes: int, seed: int) -> Regression:
        return Regression(self, CrossEntropy(self.soft, self.regularisation), nodes, seed)


@dataclass(frozen=True, slots=True)
class CrossEntropy:
    """The loss log(1 + e^z) - b z, for labels in [0, 1]. Nothing overflows, however large a score is."""

    soft: bool
    regularisation: float
    metric: str = "test_accuracy"
    max_curvature: float = 0.25

    def draw(self, key: Key, scores: Vector) -> Vector:
        """The probability itself, or 1 with that probability."""
        probabilities = sigmoid(scores)
        return probabilities if self.soft else (uniforms(key, scores.size) < probabilities).astype(np.float64)

    def positive(self, labels: Vector) -> NDArray[np.bool_]:
        return labels > 0.5

    def loss(self, scores: Vector, labels: Vector) -> Vector:
        """log(1 + e^z) - b z, with log(1 + e^z) = max(z, 0) + log(1 + e^-|z|)."""
        return np.maximum(scores, 0.0) - labels * scores + np.log1p(np.exp(-np.abs(scores)))

    def slope(self, scores: Vector, labels: Vector) -> Vector:
        """sigmoid(z) - b."""
        return sigmoid(scores) - labels

    def curvature(self, scores: Vector) -> Vector:
        """sigmoid(z) (1 - sigmoid(z))."""
        small = np.exp(-np.abs(scores))
        return small / np.square(1.0 + small)

    def test(self, scores: Vector, labels: Vector) -> float:
        """The share of test samples whose hard label is predicted."""
        return float(np.mean((scores > 0.0) == (labels > 0.5)))

    def minimise(self, shards: list[Shard]) -> Optimum:
        """L-BFGS, then Newton steps."""
        from pame.problems.optimum import newton

        return newton(self, shards)


def sigmoid(z: Vector) -> Vector:
    """1 / (1 + e^-z), with an exponential that never exceeds 1."""
    small = np.exp(-np.abs(z))
    return np.where(z >= 0.0, 1.0, small) / (1.0 + small)
