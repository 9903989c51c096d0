"""Who talks to whom at iteration k: a public draw that sender and receiver compute alike.

rounds   at its round k, node i listens to t_i + spare of its neighbours; j sends to i at k if and only if i
         listens to j, so nobody asks and nothing is sent that cannot be used
free     at its own rounds node i pushes to t_i of its neighbours and averages whoever pushed to it
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from pame.sampling import candidates, participation
from pame.topology import Topology


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a node needs before it can aggregate."""

    senders: tuple[int, ...]
    enough: int


class Mode(Enum):
    """What "waiting for neighbours" means."""

    ROUNDS = "rounds"
    FREE = "free"


class Selection:
    """The draws of one run. Everything in it is public: topology, periods, participation, seed."""

    def __init__(
        self,
        seed: int,
        topology: Topology,
        periods: Sequence[int],
        share: float,
        spare: int | None = 0,
        mode: Mode = Mode.ROUNDS,
    ) -> None:
        """`share` is nu; `spare` is how many more neighbours to ask than are needed, None for all there are."""
        self.mode = mode
        self.periods = tuple(periods)
        self._seed = seed
        self._neighbours = tuple(topology.neighbours(i) for i in range(topology.nodes))
        self._enough = tuple(participation(share, len(neighbours)) for neighbours in self._neighbours)
        self._spare = topology.nodes if spare is None else spare
        self._drawn = lru_cache(maxsize=4 * topology.nodes)(self._draw)

    def enough(self, node: int) -> int:
        """`t_i`: how many messages node i averages."""
        return self._enough[node]

    def wanted(self, node: int, k: int) -> Wanted | None:
        """At a round of node i: t_i of whom it listens to; else None."""
        return Wanted(self.senders(node, k), self._enough[node]) if self.is_round(node, k) else None

    def is_round(self, node: int, k: int) -> bool:
        """Whether node i aggregates at iteration k."""
        return k % self.periods[node] == 0

    def senders(self, node: int, k: int) -> tuple[int, ...]:
        """Whom node i listens to at its round k, ascending."""
        return self._drawn(node, k) if self.mode is Mode.ROUNDS else self._neighbours[node]

    def receivers(self, node: int, k: int) -> tuple[int, ...]:
        """Whom node j sends to at iteration k, ascending."""
        if self.mode is Mode.FREE:
            return self._drawn(node, k) if self.is_round(node, k) else ()
        return tuple(i for i in self._neighbours[node] if self.is_round(i, k) and node in self._drawn(i, k))

    def _draw(self, node: int, k: int) -> tuple[int, ...]:
        neighbours = self._neighbours[node]
        spare = self._spare if self.mode is Mode.ROUNDS else 0
        return candidates(self._seed, node, k, neighbours, min(self._enough[node] + spare, len(neighbours)))
