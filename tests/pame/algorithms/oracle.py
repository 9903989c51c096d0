"""Who mixes with whom at every iteration, as matrices, written from the rules alone.

`Gossip` keeps every node's copy of every surrogate in one array and applies each message at once.
"""

from collections.abc import Callable, Sequence
from math import ceil, lcm

import numpy as np

from pame.algorithms.replica_node import ReplicaSpec
from pame.compressors import expand
from pame.problems.base import Matrix
from pame.randomness import Key, Purpose
from pame.resolved_run import ResolvedRun
from pame.sampling import candidates
from tests.pame.algorithms.builders import DEGREES, EDGES, NEIGHBOURS, NODES, SEED, N

Lost = Callable[[int, int, int], bool]


def never(_sender: int, _receiver: int, _k: int) -> bool:
    return False


def drawn(node: int, k: int, participation: float) -> Sequence[int]:
    return candidates(SEED, node, k, NEIGHBOURS[node], ceil(participation * DEGREES[node]))


def active_edges(k: int, periods: Sequence[int], participation: float) -> list[tuple[int, int]]:
    """Those of which both ends are at a round and have drawn each other."""
    return [
        (i, j)
        for i, j in EDGES
        if k % periods[i] == 0
        and k % periods[j] == 0
        and j in drawn(i, k, participation)
        and i in drawn(j, k, participation)
    ]


def rests(periods: Sequence[int], participation: float) -> Matrix:
    """How seldom the dual of an edge moves: both ends at a round, over the root of the odds that both are drawn."""
    drawn_share = np.array([ceil(participation * degree) / degree for degree in DEGREES])
    both_at_round = np.array([[lcm(one, other) for one in periods] for other in periods])
    rest: Matrix = both_at_round / np.sqrt(np.outer(drawn_share, drawn_share))
    return rest


def weight(i: int, j: int, mixing: str = "metropolis") -> float:
    return 1 / (1 + max(DEGREES[i], DEGREES[j])) if mixing == "metropolis" else 1 / (1 + max(DEGREES))


def edge_weights(
    k: int, periods: Sequence[int], participation: float, either_way: Lost = never, mixing: str = "metropolis"
) -> Matrix:
    """Of the active edges over which nothing is lost either way; nothing on the diagonal."""
    weights = np.zeros((NODES, NODES))
    for i, j in active_edges(k, periods, participation):
        if not either_way(i, j, k) and not either_way(j, i, k):
            weights[i, j] = weights[j, i] = weight(i, j, mixing)
    return weights


def drawn_weights(k: int, periods: Sequence[int], participation: float, mixing: str) -> Matrix:
    """Row i: the weights of whom i has drawn, if it is at a round."""
    weights = np.zeros((NODES, NODES))
    for i in range(NODES):
        for j in drawn(i, k, participation) if k % periods[i] == 0 else ():
            weights[i, j] = weight(i, j, mixing)
    return weights


def q_of(weights: Matrix) -> Matrix:
    """The rest of every row goes to the diagonal."""
    return weights + np.diag(1 - weights.sum(axis=1))


def q_as_received(weights: Matrix, k: int, lost: Lost, on_loss: str) -> Matrix:
    """What is lost goes to the receiver itself, or nowhere."""
    p = q_of(weights)
    for i in range(NODES):
        for j in range(NODES):
            if i != j and lost(j, i, k):
                p[i, i] += p[i, j] if on_loss == "self" else 0.0
                p[i, j] = 0.0
    return p


class Gossip:
    """All copies of one surrogate per node, [holder, owner, coordinate]."""

    def __init__(self, setting: ResolvedRun, spec: ReplicaSpec, place: int = 0) -> None:
        self.setting, self.spec, self.place = setting, spec, place
        self.copies = np.zeros((NODES, NODES, N))
        self.behind = np.zeros((NODES, NODES), dtype=bool)
        self.agreed = np.zeros((NODES, NODES, N))
        self.mutual = np.ones((NODES, NODES), dtype=bool)

    @property
    def own(self) -> Matrix:
        return self.copies[np.arange(NODES), np.arange(NODES)]

    def is_round(self, i: int, k: int) -> bool:
        return k % self.setting.periods[i] == 0

    def exchange(self, k: int, vectors: Matrix, speaks: Sequence[bool] = (True,) * NODES) -> None:
        """Everybody at a round sends; whoever receives applies at once."""
        for j in range(NODES):
            if self.is_round(j, k):
                self._send(k, j, vectors[j] if speaks[j] else None)
        for i, j in (*EDGES, *(pair[::-1] for pair in EDGES)):
            if self.is_round(i, k) and self.is_round(j, k):
                self.agreed[i, j] = self.copies[i, j] - self.copies[i, i]
                self.mutual[i, j] = self._both_know(i, j, k)

    def _send(self, k: int, j: int, vector: Matrix | None) -> None:
        update = np.zeros(N)
        if vector is not None:
            key = Key(SEED, Purpose.COMPRESSION, j, k, self.place)
            update = expand(self.spec.compressor.compress(vector - self.copies[j, j], key))
        self.copies[j, j] += update
        rounds = k // self.setting.periods[j] + 1
        is_whole = self.spec.on_loss == "resync" and rounds % self.spec.resync_every == 0
        for i in NEIGHBOURS[j]:
            if self.setting.conditions.is_lost(j, i, k):
                self.behind[i, j] = True
            elif is_whole or self.spec.on_loss == "acknowledged":
                self.copies[i, j] = self.copies[j, j]
                self.behind[i, j] = False
            elif self.spec.on_loss == "naive" or not self.behind[i, j]:
                self.copies[i, j] += update

    def _both_know(self, i: int, j: int, k: int) -> bool:
        match self.spec.on_loss:
            case "acknowledged":
                return not (self.setting.conditions.is_lost(i, j, k) or self.setting.conditions.is_lost(j, i, k))
            case "resync":
                return not (self.behind[i, j] or self.behind[j, i])
        return True

    def matrix(self, k: int) -> Matrix:
        """Q where both ends are at a round, have drawn each other, and know each other; nothing on the diagonal."""
        return edge_weights(k, self.setting.periods, self.spec.participation) * (self.mutual & self.mutual.T)

    def pull(self, k: int) -> Matrix:
        """sum_j Q_ij (s_j - s_i), row by row."""
        pulls: Matrix = np.einsum("ij,ijn->in", self.matrix(k), self.agreed)
        return pulls
