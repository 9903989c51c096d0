"""A topology of your own: a ring with a hub in the middle.

Look at it with `pame --plugin docs/examples/wheel.py topology --set 'topology={kind: wheel}'`.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from pame.errors import TopologyError
from pame.topology.graph import Edges, canonical


@dataclass(frozen=True)
class Wheel:
    """Node 0 is the hub; every `spoke`-th of the others is joined to it."""

    kind: Literal["wheel"] = "wheel"
    spoke: Annotated[int, Ge(1)] = 1

    def edges(self, nodes: int, seed: int) -> Edges:
        """Pairs of nodes; anything random would be drawn from the seed."""
        if nodes < 4:
            raise TopologyError(f"a wheel of {nodes} nodes has no rim; use at least 4 nodes")
        rim = np.arange(1, nodes)
        ring = np.stack([rim, np.roll(rim, -1)], axis=1)
        spokes = np.stack([np.zeros_like(rim[:: self.spoke]), rim[:: self.spoke]], axis=1)
        return canonical(np.concatenate([ring, spokes]), nodes)


TOPOLOGIES = [Wheel]
