"""Mixing matrices are symmetric and doubly stochastic, and a node's own row is the matrix's row to the last bit."""

import numpy as np
import pytest

from pame.topology import MixingKind, Topology, TopologySpec, build, mixing_row
from pame.topology.describe import metropolis
from pame.topology.kinds import Complete, ErdosRenyi, Grid, Ring, ScaleFree, Star, TwoClusters

CASES: list[tuple[TopologySpec, int]] = [
    (Ring(), 7), (Star(), 9), (Complete(), 6), (Grid(), 12), (ScaleFree(2), 40), (ErdosRenyi(0.3), 30),
    (TwoClusters(2), 11), (Ring(), 2),
]  # fmt: skip


def by_hand(topology: Topology, kind: str) -> np.ndarray:
    degree = [sum(i in edge for edge in topology.edges.tolist()) for i in range(topology.nodes)]
    q = np.zeros((topology.nodes, topology.nodes))
    for i, j in topology.edges.tolist():
        q[i, j] = q[j, i] = 1 / (1 + (max(degree[i], degree[j]) if kind == "metropolis" else max(degree)))
    return q + np.diag(1 - q.sum(axis=1))


@pytest.mark.parametrize("kind", ["metropolis", "uniform"])
@pytest.mark.parametrize(("spec", "nodes"), CASES, ids=str)
def test_both_matrices_follow_their_equations_and_are_doubly_stochastic(
    spec: TopologySpec, nodes: int, kind: MixingKind
) -> None:
    topology = build(spec, nodes, 3)
    q = np.zeros((nodes, nodes))
    for node in range(nodes):
        row = mixing_row(topology, node, kind)
        assert list(row) == sorted({node, *topology.neighbours(node)})
        q[node, list(row)] = list(row.values())
    np.testing.assert_allclose(q, by_hand(topology, kind), rtol=0, atol=1e-15)
    assert (q == q.T).all()
    assert (q >= 0).all()
    np.testing.assert_allclose(q.sum(axis=0), 1.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(q.sum(axis=1), 1.0, rtol=0, atol=1e-14)
    if kind == "metropolis":
        assert (metropolis(topology).toarray() == q).all()


def test_a_star_by_hand() -> None:
    topology = build(Star(), 4, 0)
    assert mixing_row(topology, 0, "metropolis") == {0: 0.25, 1: 0.25, 2: 0.25, 3: 0.25}
    assert mixing_row(topology, 2, "metropolis") == {0: 0.25, 2: 0.75}
    assert mixing_row(topology, 2, "uniform") == {0: 0.25, 2: 0.75}
