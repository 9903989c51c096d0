"""Nodes that die and come back all the time: kills at random moments (a Poisson process), one node each.

A kill strikes one of the nodes that are up, each as likely as the other. If it can strike nobody (all are away, or,
with `keep_connected`, each would disconnect the rest), it does not happen; one node always stays.
Moments are rounded to a millisecond, because the logarithm differs in the last bit between machines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, log
from typing import Annotated, Literal

from annotated_types import Gt, Le

from orchestrator.experiment.faults.interface import Happening, Impossible, Use, World
from orchestrator.experiment.faults.resolve import choose_nodes, rest_is_connected
from orchestrator.experiment.faults.selectors import NodeSelector
from orchestrator.experiment.faults.triggers import MOST_EVENTS, PositiveSeconds, SecondsFault, too_many
from pame.fault_effects import KillEffect, Window
from pame.randomness import permutation, uniforms


@dataclass(frozen=True, kw_only=True)
class Churn(SecondsFault):
    """Nodes are killed at random moments and come back.

    per_minute: How many kills there are per minute, on average.
    nodes: Which nodes can be killed; random ones are drawn once.
    back_after: How long until a killed node comes back.
    keep_connected: Whether the other nodes must always reach each other.
    """

    kind: Literal["churn"] = "churn"
    per_minute: Annotated[float, Gt(0), Le(6000)]
    nodes: NodeSelector = "all"
    back_after: PositiveSeconds = 10.0
    keep_connected: bool = False

    def events(self, world: World) -> Iterator[Happening]:
        times = self.times()
        end = min(times.end, world.horizon.seconds)
        if end == inf:
            raise Impossible("until", "churn needs an end; give for, until or stop.seconds")
        if (end - times.begin) * self.per_minute / 60 > MOST_EVENTS:
            raise Impossible("per_minute", too_many())
        allowed = frozenset(choose_nodes(self.nodes, world))
        back: dict[int, float] = {}
        for turn, moment in enumerate(self._moments(world, times.begin, end)):
            away = sorted((node for node, until in back.items() if moment < until), key=back.__getitem__)
            node = self._struck(world, turn, allowed.difference(away), away)
            if node is not None:
                back[node] = moment + self.back_after
                yield Happening(KillEffect((node,)), Window(moment, back[node]))

    def _moments(self, world: World, begin: float, end: float) -> Iterator[float]:
        moment, turn = begin, 0
        while True:
            moment -= log(1.0 - float(uniforms(world.key(Use.GAP, turn), 1)[0])) * 60.0 / self.per_minute
            if round(moment, 3) >= end:
                return
            yield round(moment, 3)
            turn += 1

    def _struck(self, world: World, turn: int, up: frozenset[int], away: Sequence[int]) -> int | None:
        """Whom the kill strikes; `away` is by return: all of them are back before whoever is killed now."""
        order = permutation(world.key(Use.VICTIM, turn), world.topology.nodes).tolist()
        for node in order:
            if node not in up or len(away) + 1 >= world.topology.nodes:
                continue
            until_it_is_back = ([*away[returned:], node] for returned in range(len(away) + 1))
            if not self.keep_connected or all(rest_is_connected(world.topology, gone) for gone in until_it_is_back):
                return int(node)
        return None
