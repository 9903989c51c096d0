"""What can be said of a graph in a few numbers: degrees, diameter, and how quickly it mixes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from pame.randomness import Key, Purpose, uniforms
from pame.topology.graph import Topology

_EXACT_DIAMETER = 2000
_DENSE_GAP = 500
_LANCZOS_VECTORS = 40
_LANCZOS_WORK = 4_000_000_000
"""Multiplications spent on a spectral gap before it is given up: a few seconds."""
_GATHERED_WORDS = 1 << 20


@dataclass(frozen=True, slots=True)
class Description:
    """The figures of a graph; a diameter that is not exact is a lower bound, a gap that is None was not found."""

    nodes: int
    edges: int
    degree_min: int
    degree_mean: float
    degree_max: int
    diameter: int
    diameter_exact: bool
    spectral_gap: float | None


def distances(topology: Topology, sources: Sequence[int]) -> NDArray[np.float64]:
    """One row per source: the steps from it to every node."""
    offsets, targets = topology.adjacency
    steps = np.ones(targets.size, dtype=np.float64)
    graph: csr_array[np.float64] = csr_array((steps, targets, offsets), shape=(topology.nodes, topology.nodes))
    return dijkstra(graph, indices=list(sources), unweighted=True)


def describe(topology: Topology) -> Description:
    exact = topology.nodes <= _EXACT_DIAMETER
    return Description(
        nodes=topology.nodes,
        edges=len(topology.edges),
        degree_min=int(topology.degrees.min()),
        degree_mean=2.0 * len(topology.edges) / topology.nodes,
        degree_max=int(topology.degrees.max()),
        diameter=_diameter(topology) if exact else _double_sweep(topology),
        diameter_exact=exact,
        spectral_gap=spectral_gap(topology),
    )


def metropolis(topology: Topology) -> csr_array:
    """Q as a matrix; `graph` has the equation, and single rows."""
    _, targets = topology.adjacency
    nodes, degrees = np.arange(topology.nodes), topology.degrees
    sources = np.repeat(nodes, degrees)
    weights = 1.0 / (1.0 + np.maximum(degrees[sources], degrees[targets]))
    rest = 1.0 - np.bincount(sources, weights, minlength=topology.nodes)
    rows, columns = np.concatenate([sources, nodes]), np.concatenate([targets, nodes])
    matrix = csr_array((np.concatenate([weights, rest]), (rows, columns)), shape=(topology.nodes, topology.nodes))
    matrix.sort_indices()
    return matrix


def spectral_gap(topology: Topology) -> float | None:
    """`1 - max(|lambda_2|, |lambda_m|)` of the Metropolis matrix; None if Lanczos found it too hard."""
    nodes = topology.nodes
    if 2 * len(topology.edges) == nodes * (nodes - 1):
        return 1.0
    matrix = metropolis(topology)
    if nodes <= _DENSE_GAP:
        values = eigvalsh(matrix.toarray())
        return float(1.0 - max(abs(values[0]), abs(values[-2])))
    restarts = max(1, _LANCZOS_WORK // (_LANCZOS_VECTORS * (matrix.nnz + _LANCZOS_VECTORS * nodes)))
    # Without the constant vector, whose eigenvalue is 1, the largest that is left is the one in question.
    centred = LinearOperator(
        matrix.shape, matvec=lambda x: matrix @ np.ravel(x) - np.mean(x), dtype=np.dtype(np.float64)
    )
    start = uniforms(Key(0, Purpose.GRAPH), nodes) - 0.5
    try:
        values = eigsh(
            centred, k=1, which="LM", v0=start, ncv=_LANCZOS_VECTORS, maxiter=restarts, return_eigenvectors=False
        )
    except ArpackNoConvergence:
        return None
    return float(1.0 - abs(values[0]))


def _diameter(topology: Topology) -> int:
    """All nodes search at once: row i of `seen` is the set of nodes within `steps` steps of i, one bit each."""
    offsets, targets = topology.adjacency
    seen = np.packbits(np.eye(topology.nodes, dtype=np.bool_), axis=1)
    seen = np.pad(seen, ((0, 0), (0, -seen.shape[1] % 8))).view(np.uint64)
    full = np.bitwise_or.reduce(seen, axis=0)
    pieces = _pieces(offsets, _GATHERED_WORDS // seen.shape[1])
    steps = 0
    while not (seen == full).all():
        wider = seen.copy()
        for first, last in pieces:
            near = seen[targets[offsets[first] : offsets[last]]]
            wider[first:last] |= np.bitwise_or.reduceat(near, offsets[first:last] - offsets[first], axis=0)
        seen = wider
        steps += 1
    return steps


def _pieces(offsets: NDArray[np.int64], size: int) -> list[tuple[int, int]]:
    """Consecutive ranges of nodes with about `size` neighbours each, to bound the memory of a step."""
    cuts = np.searchsorted(offsets, np.arange(0, offsets[-1], size))
    bounds = np.unique(np.append(cuts, offsets.size - 1)).tolist()
    return list(pairwise(bounds))


def _double_sweep(topology: Topology) -> int:
    """The largest distance from a node that is farthest from node 0: at most the diameter, often equal to it."""
    farthest = int(np.argmax(distances(topology, [0])))
    return int(distances(topology, [farthest]).max())
