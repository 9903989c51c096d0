"""The figures of graphs whose figures are known."""

import networkx as nx
import numpy as np
import pytest

import pame.topology.describe as module
from pame.topology import TopologySpec, build
from pame.topology.describe import describe, spectral_gap
from pame.topology.kinds import (
    Complete,
    EdgeList,
    ErdosRenyi,
    Exponential,
    Grid,
    RandomRegular,
    Ring,
    ScaleFree,
    SmallWorld,
    Star,
    Torus,
    TwoClusters,
)


def test_all_figures_of_a_small_ring() -> None:
    found = describe(build(Ring(), 6, 0))
    assert (found.nodes, found.edges, found.degree_min, found.degree_mean, found.degree_max) == (6, 6, 2, 2.0, 2)
    assert (found.diameter, found.diameter_exact) == (3, True)
    assert found.spectral_gap == pytest.approx(1 / 3, abs=1e-12)  # eigenvalues (1 + 2 cos(pi k / 3)) / 3


@pytest.mark.parametrize("nodes", [3, 4, 5, 50, 499, 501, 1200])
def test_the_gap_of_a_ring_is_that_of_its_cosines(nodes: int) -> None:
    values = sorted(abs((1 + 2 * np.cos(2 * np.pi * k / nodes)) / 3) for k in range(1, nodes))
    assert spectral_gap(build(Ring(), nodes, 0)) == pytest.approx(1 - values[-1], rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(("spec", "nodes"), [(Torus(), 900), (Exponential(), 600), (Torus(), 100), (Exponential(), 33)])
def test_the_gap_of_a_circulant_graph_is_that_of_its_characters(spec: TopologySpec, nodes: int) -> None:
    topology = build(spec, nodes, 0)
    side = round(nodes**0.5) if isinstance(spec, Torus) else nodes
    first, second = np.divmod(np.arange(nodes), side)
    neighbours = np.array(topology.neighbours(0))
    angles = (np.outer(first, neighbours // side) + np.outer(second, neighbours % side)) * 2 * np.pi / side
    values = (1 + np.cos(angles).sum(axis=1)) / (1 + len(neighbours))
    assert spectral_gap(topology) == pytest.approx(1 - np.sort(np.abs(values))[-2], rel=1e-6)


@pytest.mark.parametrize("nodes", [2, 3, 40, 600])
def test_one_round_on_the_complete_graph_is_the_mean(nodes: int) -> None:
    assert spectral_gap(build(Complete(), nodes, 0)) == 1.0


@pytest.mark.parametrize("nodes", [3, 10, 500, 700])
def test_the_gap_of_a_star_is_one_over_its_nodes(nodes: int) -> None:
    assert spectral_gap(build(Star(), nodes, 0)) == pytest.approx(1 / nodes, rel=1e-9)


@pytest.mark.parametrize("half", [3, 10, 260])
def test_a_negative_eigenvalue_counts_by_its_size(half: int) -> None:
    # two halves joined completely, nobody inside: eigenvalues 1, 1 / (1 + half) and (1 - half) / (1 + half)
    text = "\n".join(f"{i} {half + j}" for i in range(half) for j in range(half))
    gap = spectral_gap(build(EdgeList("bipartite"), 2 * half, 0, text))
    assert gap == pytest.approx(2 / (1 + half), rel=1e-9)


def test_the_iterative_gap_agrees_with_the_dense_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for spec in (ErdosRenyi(0.05), ScaleFree(2), SmallWorld(4, 0.1), TwoClusters(2)):
        topology = build(spec, 200, 1)
        dense = spectral_gap(topology)
        with monkeypatch.context() as patch:
            patch.setattr(module, "_DENSE_GAP", 0)
            assert spectral_gap(topology) == pytest.approx(dense, rel=1e-6)


def test_a_gap_that_would_take_too_long_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LANCZOS_WORK", 1)
    assert spectral_gap(build(Ring(), 1500, 0)) is None


@pytest.mark.parametrize(
    ("spec", "nodes", "diameter"),
    [(Ring(), 9, 4), (Ring(), 130, 65), (Star(), 30, 2), (Star(), 2, 1), (Complete(), 64, 1), (Grid(), 12, 5),
     (Torus(), 36, 6), (TwoClusters(), 300, 3), (Ring(), 2000, 1000)],
    ids=str,
)  # fmt: skip
def test_known_diameters(spec: TopologySpec, nodes: int, diameter: int) -> None:
    assert describe(build(spec, nodes, 0)).diameter == diameter


@pytest.mark.parametrize("nodes", [63, 64, 65, 150])
def test_the_diameter_is_that_of_networkx(nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_GATHERED_WORDS", 50)  # many small pieces
    for spec in (ErdosRenyi(0.12), ScaleFree(1), SmallWorld(4, 0.1)):
        topology = build(spec, nodes, 2)
        assert describe(topology).diameter == nx.diameter(nx.Graph(topology.edges.tolist()))


def test_above_two_thousand_nodes_the_diameter_is_a_marked_lower_bound() -> None:
    ring = describe(build(Ring(), 2002, 0))
    assert (ring.diameter, ring.diameter_exact) == (1001, False)
    topology = build(RandomRegular(3), 2500, 0)
    bound = describe(topology).diameter
    distances = nx.single_source_shortest_path_length(nx.Graph(topology.edges.tolist()), 0)
    assert max(distances.values()) <= bound <= 2 * max(distances.values())
