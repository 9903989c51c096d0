"""How many steps lie between nodes."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from pame.topology.graph import Topology


def distances(topology: Topology, sources: Sequence[int]) -> NDArray[np.float64]:
    """One row per source: the steps from it to every node."""
    offsets, targets = topology.adjacency
    steps = np.ones(targets.size, dtype=np.float64)
    graph: csr_array[np.float64] = csr_array((steps, targets, offsets), shape=(topology.nodes, topology.nodes))
    return dijkstra(graph, indices=list(sources), unweighted=True)
