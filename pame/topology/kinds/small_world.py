"""The Watts–Strogatz graph: a ring lattice some of whose edges lead somewhere else."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Le, MultipleOf

from pame.errors import TopologyError
from pame.randomness import Key, Purpose, uniforms
from pame.topology.graph import Edges, canonical, first_connected


@dataclass(frozen=True)
class SmallWorld:
    """A ring where each node is joined to its nearest, and some edges are rewired.

    degree: how many nearest nodes; even
    rewire: the probability that an edge is rewired
    """

    degree: Annotated[int, Ge(2), MultipleOf(2)]
    rewire: Annotated[float, Ge(0), Le(1)]
    kind: Literal["small-world"] = "small-world"

    def edges(self, nodes: int, seed: int) -> Edges:
        """The number of edges, m * degree / 2, does not change by rewiring."""
        if self.degree % 2 or not 2 <= self.degree < nodes:
            raise TopologyError(
                f"a small world needs an even degree of at least 2 and below the number of nodes, and {self.degree} "
                f"with {nodes} nodes is not; "
                + (f"use an even degree up to {(nodes - 1) // 2 * 2}" if nodes > 2 else "use at least 3 nodes")
            )
        advice = f"use a degree above {self.degree} or a rewire below {self.rewire:g}"
        return first_connected(nodes, lambda attempt: self._draw(nodes, seed, attempt), advice)

    def _draw(self, nodes: int, seed: int, attempt: int) -> Edges:
        """Edges i – i+d in the order of d, then i; a rewired one keeps i and gets a uniform non-neighbour of i."""
        count = nodes * self.degree // 2
        moved = uniforms(Key(seed, Purpose.GRAPH, 0, attempt, 0), count) < self.rewire
        where = uniforms(Key(seed, Purpose.GRAPH, 0, attempt, 1), count).tolist()
        near = range(1, self.degree // 2 + 1)
        joined = [{(i + d) % nodes for d in near} | {(i - d) % nodes for d in near} for i in range(nodes)]
        for edge in np.flatnonzero(moved).tolist():
            i, d = edge % nodes, edge // nodes + 1
            free = nodes - 1 - len(joined[i])
            if free:
                old, new = (i + d) % nodes, _absent(int(where[edge] * free), joined[i] | {i})
                joined[i] ^= {old, new}
                joined[old].remove(i)
                joined[new].add(i)
        ends = np.array([j for row in joined for j in sorted(row)])
        return canonical(np.stack([np.repeat(np.arange(nodes), [len(row) for row in joined]), ends], axis=1), nodes)


def _absent(rank: int, present: set[int]) -> int:
    """The number with `rank` smaller ones among the numbers not present."""
    for value in sorted(present):
        if value > rank:
            break
        rank += 1
    return rank
