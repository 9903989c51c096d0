"""Where to draw the nodes of a graph: distances on paper like distances in the graph; a function of the graph alone.

Up to 60 nodes Kamada and Kawai's method, from a circle. Above, the same goal with less work: distances to pivots only
(every node is one up to 400), a start from their two main directions (Brandes and Pich), then stress majorization:

    x_i  <-  weighted mean over the pivots p of   x_p + d_ip * (x_i - x_p) / |x_i - x_p|,      weights 1 / d_ip^2
"""

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from pame.randomness import Key, Purpose, subset, uniforms
from pame.topology.describe import distances
from pame.topology.graph import Topology

Positions = NDArray[np.float64]
_KAMADA_KAWAI, _ALL_PIVOTS, _PIVOTS = 60, 400, 80
_STEPS = 60


def layout(topology: Topology) -> Positions:
    """One point of the unit square per node; the picture fills the square in at least one direction."""
    nodes = topology.nodes
    if 2 * len(topology.edges) == nodes * (nodes - 1):
        return _fitted(_circle(nodes))
    if nodes <= _KAMADA_KAWAI:
        graph = nx.Graph(topology.edges.tolist())
        placed = nx.kamada_kawai_layout(graph, pos=dict(enumerate(_circle(nodes))))
        return _fitted(np.array([placed[node] for node in range(nodes)], dtype=np.float64))
    pivots = subset(Key(0, Purpose.GRAPH, peer=1), nodes, nodes if nodes <= _ALL_PIVOTS else _PIVOTS)
    return _fitted(_by_pivots(topology, pivots))


def _circle(nodes: int) -> Positions:
    """Node 0 at the top, then clockwise."""
    angles = 2.0 * np.pi * np.arange(nodes) / nodes
    return np.stack([np.sin(angles), -np.cos(angles)], axis=1)


def _by_pivots(topology: Topology, pivots: NDArray[np.int64]) -> Positions:
    wanted = distances(topology, pivots.tolist()).T
    itself = wanted == 0.0
    weights = np.where(itself, 0.0, 1.0 / np.where(itself, 1.0, wanted) ** 2)
    weights /= weights.sum(axis=1, keepdims=True)
    points = _main_directions(wanted)
    for _ in range(_STEPS):
        apart = points[:, None, :] - points[pivots][None, :, :]
        length = np.hypot(apart[..., 0], apart[..., 1])
        pull = weights * (wanted / np.maximum(length, 1e-9) - 1.0)
        points = points + 0.5 * np.einsum("ip,ipx->ix", pull, apart)  # half a step: neighbours move at the same time
    return points


def _main_directions(wanted: NDArray[np.float64]) -> Positions:
    """Nodes by their distances to the pivots, projected; a little scatter parts those that would coincide."""
    squared = wanted**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean()
    found = centred @ np.linalg.eigh(centred.T @ centred)[1][:, :-3:-1]
    scatter = uniforms(Key(0, Purpose.GRAPH, peer=2), found.size).reshape(found.shape) - 0.5
    return np.asarray(wanted.max() * (_fitted(found) + 0.1 * scatter), dtype=np.float64)


def _fitted(positions: Positions) -> Positions:
    """Scaled alike in both directions and centred in the unit square."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    size = float((high - low).max()) or 1.0
    return np.asarray(np.clip((positions - (low + high) / 2.0) / size + 0.5, 0.0, 1.0), dtype=np.float64)
