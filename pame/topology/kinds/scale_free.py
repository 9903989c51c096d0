"""The Barabási–Albert graph: newcomers prefer the well connected, so that a few nodes become hubs."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from pame.errors import TopologyError
from pame.randomness import Key, Purpose, integers
from pame.topology.graph import Edges, canonical


@dataclass(frozen=True)
class ScaleFree:
    """Nodes join one by one, and choose earlier nodes as neighbours, in proportion to their degree.

    attach: how many each chooses
    """

    attach: Annotated[int, Ge(1)]
    kind: Literal["scale-free"] = "scale-free"

    def edges(self, nodes: int, seed: int) -> Edges:
        """Starts as a star of attach + 1 nodes, hence attach * (m - attach) edges in the end; always connected."""
        if not 1 <= self.attach < nodes:
            raise TopologyError(
                f"a newcomer cannot attach to {self.attach} of fewer than {nodes} nodes; "
                f"use an attach between 1 and {nodes - 1}"
            )
        ends = [end for leaf in range(1, self.attach + 1) for end in (0, leaf)]  # a node once for each of its edges
        for newcomer in range(self.attach + 1, nodes):
            for hub in self._hubs(ends, seed, newcomer):
                ends += [newcomer, hub]
        return canonical(np.array(ends).reshape(-1, 2), nodes)

    def _hubs(self, ends: list[int], seed: int, newcomer: int) -> list[int]:
        """`attach` different nodes: ends are drawn, each turn as many as are missing, until there are enough."""
        hubs: dict[int, None] = {}
        turn = 0
        while len(hubs) < self.attach:
            key = Key(seed, Purpose.GRAPH, newcomer, peer=turn)
            hubs |= dict.fromkeys(ends[e] for e in integers(key, self.attach - len(hubs), len(ends)).tolist())
            turn += 1
        return list(hubs)
