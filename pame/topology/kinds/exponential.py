"""The exponential graph: short and long jumps, few neighbours, every node near every other."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pame.topology.graph import Edges, canonical


@dataclass(frozen=True)
class Exponential:
    """Node i is joined to i ± 1, 2, 4, 8, ... (mod the number of nodes): about 2 log2 m neighbours."""

    kind: Literal["exponential"] = "exponential"

    def edges(self, nodes: int, _seed: int) -> Edges:
        """i – i + 2^j mod m for every 2^j < m."""
        ids = np.arange(nodes)
        jumps = [1 << j for j in range((nodes - 1).bit_length())]
        return canonical(np.concatenate([np.stack([ids, (ids + jump) % nodes], axis=1) for jump in jumps]), nodes)
