"""The mixing matrices Q of a whole graph, sparse; `weights` has the equations and single rows."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pame.topology.graph import Topology


def metropolis(topology: Topology) -> csr_array:
    """Q with 1 / (1 + the larger of the two degrees) on each edge."""
    _, targets = topology.adjacency
    degrees = topology.degrees
    sources = np.repeat(np.arange(topology.nodes), degrees)
    return _with_diagonal(topology, 1.0 / (1.0 + np.maximum(degrees[sources], degrees[targets])))


def uniform(topology: Topology) -> csr_array:
    """Q with 1 / (1 + the largest degree of the graph) on every edge."""
    largest = float(topology.degrees.max())
    return _with_diagonal(topology, np.full(topology.adjacency[1].size, 1.0 / (1.0 + largest)))


def _with_diagonal(topology: Topology, weights: NDArray[np.float64]) -> csr_array:
    """Q from its weights on the directed edges, in the order of the adjacency."""
    _, targets = topology.adjacency
    nodes = np.arange(topology.nodes)
    sources = np.repeat(nodes, topology.degrees)
    rest = 1.0 - np.bincount(sources, weights, minlength=topology.nodes)
    values = np.concatenate([weights, rest])
    rows, columns = np.concatenate([sources, nodes]), np.concatenate([targets, nodes])
    matrix = csr_array((values, (rows, columns)), shape=(topology.nodes, topology.nodes))
    matrix.sort_indices()
    return matrix
