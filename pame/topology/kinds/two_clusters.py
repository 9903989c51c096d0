"""Two complete halves with few edges between them: the worst case for mixing, the natural case for a partition."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from pame.errors import TopologyError
from pame.topology.graph import Edges, canonical


@dataclass(frozen=True)
class TwoClusters:
    """Two halves, everyone joined to everyone within a half, and a few edges between the halves.

    bridges: how many edges there are between them
    """

    bridges: Annotated[int, Ge(1)] = 1
    kind: Literal["two-clusters"] = "two-clusters"

    def edges(self, nodes: int, _seed: int) -> Edges:
        """The halves are 0 .. h-1 and h .. m-1, h = m // 2.

        Bridge b joins b mod h to the node b mod h + b // h of the other half (cyclically): no node gets a second
        bridge before everyone in the first half has one, and no pair comes twice.
        """
        half = nodes // 2
        most = half * (nodes - half)
        if self.bridges > most:
            raise TopologyError(
                f"two clusters of {half} and {nodes - half} nodes have room for {most} bridges, not {self.bridges}; "
                f"ask for at most {most}"
            )
        inside = np.stack(np.triu_indices(nodes, 1), axis=1)
        inside = inside[(inside[:, 0] < half) == (inside[:, 1] < half)]
        lap, first = np.divmod(np.arange(self.bridges), half)
        across = np.stack([first, half + (first + lap) % (nodes - half)], axis=1)
        return canonical(np.concatenate([inside, across]), nodes)
