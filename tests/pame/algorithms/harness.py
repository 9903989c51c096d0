"""What the tests of the algorithms share: a small graph, problems worked by hand, a driver that follows the seam."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pame.algorithms import Algorithm, Received
from pame.exchange import Vector
from pame.observe import Evaluation, Record
from pame.problems.base import Matrix, Optimum, Stacked
from pame.topology import Topology

EDGES = ((0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 2), (2, 3), (4, 5))
"""Six nodes of degrees 5, 2, 3, 2, 2, 2."""


def graph(nodes: int = 6, edges: Sequence[tuple[int, int]] = EDGES) -> Topology:
    return Topology(nodes, np.array(edges, dtype=np.int64))


def neighbours_in(edges: Sequence[tuple[int, int]], node: int) -> list[int]:
    return sorted({a + b - node for a, b in edges if node in (a, b)})


def drive(
    nodes: Sequence[Algorithm], iterations: int, lost: Callable[[int, int, int], bool] = lambda _j, _i, _k: False
) -> list[Matrix]:
    """All nodes in lock step, in the order of calls that the seam prescribes; the models before each iteration."""
    history = [np.stack([node.model for node in nodes])]
    for k in range(iterations):
        inboxes: list[list[Received]] = [[] for _ in nodes]
        for node in nodes:
            node.prepare(k)
        for sender, node in enumerate(nodes):
            receivers = node.receivers(k)
            message = node.message(k) if receivers else {}
            for receiver in receivers:
                if not lost(sender, receiver, k):
                    inboxes[receiver].append(Received(sender, k, message, 0))
        for node, inbox in zip(nodes, inboxes, strict=True):
            if node.wanted(k) is not None:
                node.absorb(k, inbox[::-1])
            else:
                assert not inbox
        for node in nodes:
            node.step(k)
        history.append(np.stack([node.model for node in nodes]))
    return history


@dataclass(frozen=True)
class Pull:
    """f_i(w) = ||w - target||^2 / 2 at the iterations before `until`, and no force afterwards."""

    target: Vector
    until: float = np.inf
    samples: int = 1

    def value(self, model: Vector) -> float:
        return float(np.square(model - self.target).sum()) / 2

    def gradient(self, model: Vector, iteration: int) -> Vector:
        return model - self.target if iteration < self.until else np.zeros_like(model)

    def smoothness(self) -> float:
        return 1.0


@dataclass(frozen=True)
class Constant:
    """An objective with the same gradient everywhere."""

    slope: Vector
    samples: int = 1

    def value(self, model: Vector) -> float:
        return float(self.slope @ model)

    def gradient(self, model: Vector, iteration: int) -> Vector:
        return self.slope

    def smoothness(self) -> float:
        return 0.0


@dataclass(frozen=True)
class Pulls:
    """One pull per node, as a problem."""

    targets: Matrix
    until: float = np.inf
    metric: str = "distance"

    @property
    def n(self) -> int:
        return int(self.targets.shape[1])

    @property
    def nodes(self) -> int:
        return len(self.targets)

    def local(self, node: int) -> Pull:
        return Pull(self.targets[node], self.until)

    def stacked(self) -> Stacked:
        raise NotImplementedError

    def objective(self, model: Vector) -> float:
        return sum(self.local(node).value(model) for node in range(self.nodes)) / self.nodes

    def optimum(self) -> Optimum:
        mean: NDArray[np.float64] = self.targets.mean(axis=0)
        return Optimum(mean, self.objective(mean), "the mean of the targets")

    def metrics(self, model: Vector) -> dict[str, float]:
        return {self.metric: float(np.linalg.norm(model - self.targets.mean(axis=0)))}


@dataclass
class Watcher:
    """Keeps what a driver tells."""

    evaluations: list[Evaluation] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)

    def evaluated(self, evaluation: Evaluation) -> None:
        self.evaluations.append(evaluation)

    def recorded(self, records: Sequence[Record]) -> None:
        self.records += records
