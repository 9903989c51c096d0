"""Linear regression: b = <a, w*> + noise e, and f_i(w) = 1/(2 m_i) ||A_i w - b_i||^2."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Interval
from numpy.typing import NDArray

from pame.problems.base import Optimum, Vector
from pame.problems.regression import Regression
from pame.problems.shards import RegressionSpec, Shard
from pame.randomness import Key, normals


@dataclass(frozen=True, slots=True)
class LinearSpec(RegressionSpec):
    """Linear regression with a sparse truth. A node prefers labels of one sign.

    noise: standard deviation of the label noise
    """

    kind: Literal["linear"] = "linear"
    n: Annotated[int, Ge(1)] = 600
    samples: Annotated[int, Ge(1)] = 216
    noise: Annotated[float, Ge(0)] = 0.5
    nonzeros: Annotated[float, Interval(gt=0, le=1)] = 0.01

    def build(self, nodes: int, seed: int) -> Regression:
        return Regression(self, Squares(self.noise), nodes, seed)


@dataclass(frozen=True, slots=True)
class Squares:
    """The loss (z - b)^2 / 2 and normal label noise."""

    noise: float
    metric: str = "test_mse"
    regularisation: float = 0.0
    max_curvature: float = 1.0

    def draw(self, key: Key, scores: Vector) -> Vector:
        """b = z + noise e."""
        return scores + self.noise * normals(key, scores.size)

    def positive(self, labels: Vector) -> NDArray[np.bool_]:
        """The sign of a label."""
        return labels > 0.0

    def loss(self, scores: Vector, labels: Vector) -> Vector:
        """(z - b)^2 / 2."""
        return 0.5 * np.square(scores - labels)

    def slope(self, scores: Vector, labels: Vector) -> Vector:
        """z - b."""
        return scores - labels

    def test(self, scores: Vector, labels: Vector) -> float:
        """The mean squared prediction error."""
        return float(np.mean(np.square(scores - labels)))

    def minimise(self, shards: list[Shard]) -> Optimum:
        """Closed form where it fits, else conjugate directions."""
        from pame.problems.optimum import least_squares

        return least_squares(self, shards)
