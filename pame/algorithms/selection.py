"""Who talks to whom at iteration k: a public draw that sender and receiver compute alike.

rounds   at its round k, node i listens to whom its algorithm's way of choosing (`Who`) says; j sends to i at k if and
         only if i listens to j, so nobody asks and nothing is sent that cannot be used
free     at its own rounds node i pushes to t_i of its neighbours and averages whoever pushed to it
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from math import lcm
from typing import assert_never

from pame.errors import ParameterError
from pame.randomness import Key, Purpose, subset, uniforms
from pame.rules import Exchange
from pame.sampling import candidates, participation
from pame.topology import Topology
from pame.topology.regular_draw import Neighbours, regular_neighbours


@dataclass(frozen=True, slots=True)
class Wanted:
    senders: tuple[int, ...]
    enough: int


class Who(Enum):
    """How an algorithm chooses who talks to whom."""

    CHOSEN = "chosen"
    """A node listens to t_i of its neighbours, and spare ones, whether or not these listen to it."""
    MUTUAL = "mutual"
    """An edge carries messages, both ways, when both ends are at a round and each has drawn the other."""
    SHARED = "shared"
    """An edge carries messages, both ways, when both ends are at a round and the one draw of the edge says so."""
    BROADCAST = "broadcast"
    """At its rounds a node speaks to all its neighbours, who keep a replica of it; edges are active as in MUTUAL."""
    BROADCAST_SHARED = "broadcast-shared"
    """The same; edges are active as in SHARED."""
    EPIDEMIC = "epidemic"
    """At its rounds a node speaks to some nodes, anywhere, drawn by itself."""
    REGULAR = "regular"
    """At each iteration that is a round, a new random regular graph over all nodes, uniformly drawn."""


WHO = {"directed": Who.CHOSEN, "mutual": Who.MUTUAL, "shared": Who.SHARED}
"""By the names that experiment files use, where a node averages what it gets."""
_SHARED = (Who.SHARED, Who.BROADCAST_SHARED)
_EXCHANGE = Exchange()


class Selection:
    """The draws of one run. Everything in it is public: topology, periods, participation, seed."""

    def __init__(
        self,
        seed: int,
        topology: Topology,
        periods: Sequence[int],
        share: float,
        exchange: Exchange = _EXCHANGE,
        who: Who = Who.CHOSEN,
        fan_out: int = 0,
    ) -> None:
        """`share` is nu; `fan_out`: to how many nodes one speaks where all are within reach."""
        if who is not Who.CHOSEN and not (exchange.waits and exchange.spare == 0):
            raise ParameterError(
                "exchange: this algorithm waits for every message of its rounds; leave mode and spare as they are"
            )
        self.waits = exchange.waits
        self.who = who
        self.periods = tuple(periods)
        self._seed = seed
        self._nodes = topology.nodes
        self._fan_out = min(fan_out, topology.nodes - 1)
        self._neighbours = tuple(topology.neighbours(i) for i in range(topology.nodes))
        self._enough = tuple(participation(share, len(neighbours)) for neighbours in self._neighbours)
        self._spare = topology.nodes if exchange.spare == "all" else exchange.spare
        self._drawn = lru_cache(maxsize=4 * topology.nodes)(self._draw)
        self._graph = lru_cache(maxsize=4)(self._draw_graph)
        self._active = lru_cache(maxsize=4 * topology.nodes)(self._agree)
        self._edges_at = lru_cache(maxsize=4)(self._draw_edges)
        self._edges = tuple((int(i), int(j)) for i, j in topology.edges) if who in _SHARED else ()

    @property
    def reaches_everybody(self) -> bool:
        return self.who in (Who.EPIDEMIC, Who.REGULAR)

    def contacts(self, node: int) -> tuple[int, ...]:
        """Whom a node may ever talk to, ascending."""
        if not self.reaches_everybody:
            return tuple(self._neighbours[node])
        return tuple(other for other in range(self._nodes) if other != node)

    def enough(self, node: int) -> int:
        """`t_i`: how many messages node i averages."""
        return self._fan_out if self.reaches_everybody else self._enough[node]

    def wanted(self, node: int, k: int) -> Wanted | None:
        """At a round of node i: how many of whom it listens to; else None."""
        if not self.is_round(node, k):
            return None
        senders = self.senders(node, k)
        return Wanted(senders, self._enough[node] if self.who is Who.CHOSEN else len(senders))

    def is_round(self, node: int, k: int) -> bool:
        return k % self.periods[node] == 0

    def senders(self, node: int, k: int) -> tuple[int, ...]:
        """Whom node i listens to at its round k, ascending."""
        match self.who:
            case Who.CHOSEN:
                return self._drawn(node, k) if self.waits else self._neighbours[node]
            case Who.MUTUAL | Who.SHARED:
                return self.active(node, k)
            case Who.BROADCAST | Who.BROADCAST_SHARED:
                return tuple(j for j in self._neighbours[node] if self.is_round(j, k))
            case Who.REGULAR:
                return self.receivers(node, k)
            case Who.EPIDEMIC:
                return tuple(j for j in self.contacts(node) if node in self.receivers(j, k))
            case never:
                assert_never(never)

    def receivers(self, node: int, k: int) -> tuple[int, ...]:
        """Whom node j sends to at iteration k, ascending."""
        is_round = self.is_round(node, k)
        if not self.waits:
            return self._drawn(node, k) if is_round else ()
        match self.who:
            case Who.CHOSEN:
                return tuple(i for i in self._neighbours[node] if self.is_round(i, k) and node in self._drawn(i, k))
            case Who.MUTUAL | Who.SHARED:
                return self.active(node, k)
            case Who.BROADCAST | Who.BROADCAST_SHARED:
                return self._neighbours[node] if is_round else ()
            case Who.REGULAR | Who.EPIDEMIC:
                return tuple(i for i in self._drawn(node, k) if self.is_round(i, k)) if is_round else ()
            case never:
                assert_never(never)

    def is_sent(self, sender: int, receiver: int, k: int) -> bool:
        """Whether there is a message on that link at k, with as few draws as it takes: asked for every message."""
        if self.who is Who.CHOSEN and self.waits:
            return self.is_round(receiver, k) and sender in self._drawn(receiver, k)
        return receiver in self.receivers(sender, k)

    def active(self, node: int, k: int) -> tuple[int, ...]:
        """The neighbours with whom a node mixes its model at k: those it listens to (CHOSEN), else those with whom it
        agrees on it, because both ends are at a round and have drawn each other, or share a draw that says so."""
        if not self.is_round(node, k):
            return ()
        return self.senders(node, k) if self.who is Who.CHOSEN else self._active(node, k)

    def common_period(self, node: int, neighbour: int) -> int:
        """Every how many iterations both are at a round."""
        return lcm(self.periods[node], self.periods[neighbour])

    def odds(self, node: int, neighbour: int) -> float:
        """The probability that their edge is active then."""
        if self.who in _SHARED:
            return self._edge_odds(node, neighbour)
        drawn = self._enough[node] * self._enough[neighbour]
        return drawn / (len(self._neighbours[node]) * len(self._neighbours[neighbour]))

    def _draw(self, node: int, k: int) -> tuple[int, ...]:
        if self.who is Who.EPIDEMIC:
            others = self.contacts(node)
            drawn = subset(Key(self._seed, Purpose.EPIDEMIC, node, k), len(others), self._fan_out)
            return tuple(others[place] for place in drawn)
        if self.who is Who.REGULAR:
            return self._graph(k)[node]
        neighbours = self._neighbours[node]
        spare = self._spare if self.waits else 0
        return candidates(self._seed, node, k, neighbours, min(self._enough[node] + spare, len(neighbours)))

    def _draw_graph(self, k: int) -> Neighbours:
        return regular_neighbours(Key(self._seed, Purpose.EPIDEMIC, iteration=k), self._nodes, self._fan_out)

    def _agree(self, node: int, k: int) -> tuple[int, ...]:
        if self.who in _SHARED:
            drawn = self._edges_at(k)
            there = (j for j in self._neighbours[node] if (min(node, j), max(node, j)) in drawn)
            return tuple(j for j in there if self.is_round(j, k))
        return tuple(j for j in self._drawn(node, k) if self.is_round(j, k) and node in self._drawn(j, k))

    def _draw_edges(self, k: int) -> frozenset[tuple[int, int]]:
        """One draw per edge, shared by its ends."""
        u = uniforms(Key(self._seed, Purpose.EDGES, iteration=k), len(self._edges))
        return frozenset(
            edge for edge, drawn in zip(self._edges, u.tolist(), strict=True) if drawn < self._edge_odds(*edge)
        )

    def _edge_odds(self, i: int, j: int) -> float:
        """The mean of t/d of its ends: so a node has about t_i active edges, where degrees are alike."""
        return (self._enough[i] / len(self._neighbours[i]) + self._enough[j] / len(self._neighbours[j])) / 2.0
