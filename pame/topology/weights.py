"""The mixing weights of one node: how much of each neighbour's model goes into its average.

metropolis:  Q_ij = 1 / (1 + max(d_i, d_j))        uniform:  Q_ij = 1 / (1 + d_max)        on edges,
Q_ii = 1 - sum_j Q_ij.                             Both Q are symmetric and doubly stochastic.
"""

from typing import Literal

from pame.topology.graph import Topology

MixingKind = Literal["metropolis", "uniform"]


def mixing_row(topology: Topology, node: int, kind: MixingKind) -> dict[int, float]:
    """Row `node` of Q, by ascending node id, the node's own weight included."""
    neighbours = topology.neighbours(node)
    degrees = topology.degrees
    if kind == "uniform":
        weights = dict.fromkeys(neighbours, 1.0 / (1.0 + float(degrees.max())))
    else:
        own = degrees[node]
        weights = {j: 1.0 / (1.0 + float(max(own, degrees[j]))) for j in neighbours}
    total = 0.0
    for weight in weights.values():  # one by one, as `describe` adds them: the same bits
        total += weight
    weights[node] = 1.0 - total
    return dict(sorted(weights.items()))
