"""Logistic regression: b ~ Bernoulli(sigmoid(<a, w*>)), and with z = A_i w

f_i(w) = (1/m_i) sum_j [log(1 + e^z_j) - b_j z_j] + lambda/2 ||w||^2
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt
from numpy.typing import NDArray

from pame.problems.base import Optimum, Vector
from pame.problems.regression import Regression
from pame.problems.shards import RegressionSpec, Shard
from pame.randomness import Key, uniforms


@dataclass(frozen=True, slots=True)
class LogisticSpec(RegressionSpec):
    """Regularised logistic regression.

    soft: labels are the probabilities themselves, as in the paper, instead of zeros and ones drawn with them
    regularisation: lambda, the weight of ||w||^2 / 2
    """

    kind: Literal["logistic"] = "logistic"
    soft: bool = False
    regularisation: Annotated[float, Gt(0)] = 0.001

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
