"""A problem of your own: the nodes look for the point that is nearest to all of their homes.

    f_i(w) = ||w - home_i||^2 / 2,        the optimum is the mean of the homes

Run it with `pame --plugin docs/examples/meeting_point.py run --set 'problem={kind: meeting-point, n: 50}'`.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from pame.problems import Optimum
from pame.problems.base import Matrix, Vector
from pame.randomness import Key, Purpose, normals


@dataclass(frozen=True)
class MeetingPointSpec:
    """What an experiment file may say."""

    kind: Literal["meeting-point"] = "meeting-point"
    n: Annotated[int, Ge(1)] = 50

    def build(self, nodes: int, seed: int) -> "MeetingPoint":
        """The problem of so many nodes."""
        homes = [normals(Key(seed, Purpose.FEATURES, node), self.n) for node in range(nodes)]
        return MeetingPoint(np.stack(homes))


@dataclass(frozen=True)
class Home:
    """f_i: what one node knows."""

    home: Vector
    samples: int = 1

    def value(self, model: Vector) -> float:
        """f_i(w)."""
        return float(np.sum((model - self.home) ** 2) / 2)

    def gradient(self, model: Vector, iteration: int) -> Vector:
        """grad f_i(w); there are no mini-batches here."""
        return self.full_gradient(model)

    def full_gradient(self, model: Vector) -> Vector:
        """grad f_i(w)."""
        return model - self.home

    def smoothness(self) -> float:
        """A Lipschitz constant of the gradient."""
        return 1.0


@dataclass(frozen=True)
class MeetingPoint:
    """The homes of all nodes, a row each."""

    homes: Matrix
    metric: str = "distance"

    @property
    def n(self) -> int:
        """The dimension of a model."""
        return self.homes.shape[1]

    @property
    def nodes(self) -> int:
        """How many nodes share the problem."""
        return self.homes.shape[0]

    @property
    def start(self) -> Vector:
        """w^0."""
        return np.zeros(self.n)

    def local(self, node: int) -> Home:
        """f_i."""
        return Home(self.homes[node])

    def stacked(self) -> "MeetingPoint":
        """All f_i at once, for the vectorised simulator."""
        return self

    def gradient(self, models: Matrix, iteration: int) -> Matrix:
        """Row i is grad f_i at row i."""
        return models - self.homes

    def objective(self, model: Vector) -> float:
        """f(w)."""
        return float(np.mean([self.local(node).value(model) for node in range(self.nodes)]))

    def optimum(self) -> Optimum:
        """The mean of the homes."""
        best = self.homes.mean(axis=0)
        return Optimum(best, self.objective(best), "the mean of the homes")

    def metrics(self, model: Vector) -> dict[str, float]:
        """What a report shows."""
        return {"distance": float(np.linalg.norm(model - self.homes.mean(axis=0)))}


PROBLEMS = [MeetingPointSpec]
