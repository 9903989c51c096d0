"""Every kind gives the graph it promises, or says why not."""

import itertools

import networkx as nx
import numpy as np
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pame.errors import TopologyError
from pame.topology import SPECS, Topology, TopologySpec, build
from pame.topology.graph import components
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

RANDOM = [ErdosRenyi(0.3), RandomRegular(2), RandomRegular(3), RandomRegular(6), SmallWorld(4, 0.3), ScaleFree(2)]
FIXED = [Ring(), Grid(), Torus(), Star(), Complete(), Exponential(), TwoClusters(), TwoClusters(bridges=5)]


def pairs(topology: Topology) -> list[tuple[int, int]]:
    return [(i, j) for i, j in topology.edges.tolist()]


def as_networkx(topology: Topology) -> nx.Graph:
    graph = nx.Graph(pairs(topology))
    graph.add_nodes_from(range(topology.nodes))
    return graph


def specs() -> st.SearchStrategy[TopologySpec]:
    return st.one_of(
        st.sampled_from(FIXED),
        st.builds(ErdosRenyi, st.floats(0.01, 1.0)),
        st.builds(RandomRegular, st.integers(1, 12)),
        st.builds(SmallWorld, st.integers(1, 6).map(lambda half: 2 * half), st.floats(0, 1)),
        st.builds(ScaleFree, st.integers(1, 8)),
        st.builds(TwoClusters, st.integers(1, 30)),
    )


@settings(max_examples=100, deadline=None)
@given(specs(), st.integers(2, 40), st.integers(0, 2**64 - 1))
def test_any_spec_gives_a_connected_simple_graph_in_order_or_a_refusal(
    spec: TopologySpec, nodes: int, seed: int
) -> None:
    try:
        topology = build(spec, nodes, seed)
    except TopologyError:
        return
    edges = pairs(topology)
    assert topology.edges.dtype == np.int64
    assert edges == sorted(set(edges))
    assert all(0 <= i < j < nodes for i, j in edges)
    graph = as_networkx(topology)
    assert graph.number_of_nodes() == nodes
    assert nx.is_connected(graph)
    for node in range(nodes):
        assert topology.neighbours(node) == tuple(sorted(graph[node]))
        assert topology.degrees[node] == graph.degree[node]


@pytest.mark.parametrize("spec", RANDOM, ids=str)
def test_a_seed_gives_one_graph_and_another_seed_another(spec: TopologySpec) -> None:
    assert pairs(build(spec, 30, 7)) == pairs(build(spec, 30, 7))
    assert pairs(build(spec, 30, 7)) != pairs(build(spec, 30, 8))


@pytest.mark.parametrize("spec", FIXED, ids=str)
def test_a_fixed_kind_ignores_the_seed(spec: TopologySpec) -> None:
    assert pairs(build(spec, 30, 7)) == pairs(build(spec, 30, 8))


def test_small_graphs_are_the_ones_drawn_by_hand() -> None:
    assert pairs(build(Ring(), 4, 0)) == [(0, 1), (0, 3), (1, 2), (2, 3)]
    assert pairs(build(Ring(), 2, 0)) == [(0, 1)]
    assert pairs(build(Star(), 4, 0)) == [(0, 1), (0, 2), (0, 3)]
    assert pairs(build(Complete(), 3, 0)) == [(0, 1), (0, 2), (1, 2)]
    assert pairs(build(Grid(), 6, 0)) == [(0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5)]
    assert pairs(build(Grid(), 3, 0)) == [(0, 1), (1, 2)]
    assert pairs(build(Torus(), 4, 0)) == [(0, 1), (0, 2), (1, 3), (2, 3)]
    assert pairs(build(TwoClusters(), 5, 0)) == [(0, 1), (0, 2), (2, 3), (2, 4), (3, 4)]


def test_the_random_graphs_of_a_seed_never_change() -> None:
    # frozen on purpose: an old run folder must give its graph again
    assert pairs(build(ErdosRenyi(0.5), 5, 1)) == [(0, 3), (0, 4), (1, 2), (1, 4), (2, 3), (3, 4)]
    assert pairs(build(RandomRegular(3), 6, 1)) == [
        (0, 1), (0, 3), (0, 4), (1, 2), (1, 4), (2, 3), (2, 5), (3, 5), (4, 5),
    ]  # fmt: skip
    assert pairs(build(SmallWorld(2, 0.5), 6, 1)) == [(0, 1), (0, 5), (1, 2), (1, 3), (2, 5), (4, 5)]
    assert pairs(build(ScaleFree(1), 6, 1)) == [(0, 1), (1, 2), (1, 3), (1, 4), (3, 5)]


@pytest.mark.parametrize(("nodes", "rows"), [(12, 3), (36, 6), (35, 5), (22, 2)])
def test_grid_and_torus_are_as_square_as_the_divisors_allow(nodes: int, rows: int) -> None:
    grid = nx.grid_2d_graph(rows, nodes // rows)
    torus = nx.grid_2d_graph(rows, nodes // rows, periodic=True)
    assert nx.is_isomorphic(as_networkx(build(Grid(), nodes, 0)), grid)
    assert nx.is_isomorphic(as_networkx(build(Torus(), nodes, 0)), torus)


@pytest.mark.parametrize("nodes", [2, 3, 6, 7, 16, 32, 33, 100])
def test_exponential_neighbours_are_the_powers_of_two_away(nodes: int) -> None:
    topology = build(Exponential(), nodes, 0)
    powers = [2**j for j in range(10) if 2**j < nodes]
    for node in range(nodes):
        expected = {(node + sign * power) % nodes for power in powers for sign in (1, -1)}
        assert topology.neighbours(node) == tuple(sorted(expected))


@pytest.mark.parametrize("nodes", [2, 3, 6, 9])
def test_bridges_join_the_halves_up_to_every_pair(nodes: int) -> None:
    half = nodes // 2
    for bridges in range(1, half * (nodes - half) + 1):
        across = [(i, j) for i, j in pairs(build(TwoClusters(bridges), nodes, 0)) if i < half <= j]
        assert len(across) == bridges
        if bridges <= half:
            assert len({i for i, _ in across}) == len({j for _, j in across}) == bridges
    with pytest.raises(TopologyError, match=f"at most {half * (nodes - half)}"):
        build(TwoClusters(half * (nodes - half) + 1), nodes, 0)


def test_two_clusters_are_complete_inside() -> None:
    graph = as_networkx(build(TwoClusters(3), 11, 0))
    for half in (range(5), range(5, 11)):
        assert all(graph.has_edge(i, j) for i, j in itertools.combinations(half, 2))


@pytest.mark.parametrize(("nodes", "degree"), [(2, 1), (7, 2), (10, 3), (9, 4), (12, 5), (50, 7), (20, 18), (9, 8)])
def test_random_regular_has_the_degree_everywhere(nodes: int, degree: int) -> None:
    for seed in range(5):
        assert build(RandomRegular(degree), nodes, seed).degrees.tolist() == [degree] * nodes


def test_large_regular_graphs_are_regular() -> None:
    assert set(build(RandomRegular(10), 10_000, 3).degrees.tolist()) == {10}
    assert set(build(RandomRegular(60), 2000, 3).degrees.tolist()) == {60}


def test_without_rewiring_a_small_world_is_the_ring_lattice() -> None:
    lattice = {tuple(sorted((i, (i + d) % 11))) for i in range(11) for d in (1, 2)}
    assert set(pairs(build(SmallWorld(4, 0.0), 11, 5))) == lattice


@pytest.mark.parametrize("rewire", [0.1, 0.7, 1.0])
def test_rewiring_keeps_the_number_of_edges_and_half_of_every_degree(rewire: float) -> None:
    topology = build(SmallWorld(6, rewire), 60, 2)
    assert len(topology.edges) == 180
    assert topology.degrees.min() >= 3


def test_rewiring_where_everyone_is_joined_already_changes_nothing() -> None:
    assert pairs(build(SmallWorld(4, 1.0), 5, 0)) == list(itertools.combinations(range(5), 2))


@pytest.mark.parametrize("attach", [1, 2, 5])
def test_scale_free_newcomers_bring_their_edges_and_hubs_emerge(attach: int) -> None:
    topology = build(ScaleFree(attach), 300, 4)
    assert len(topology.edges) == attach * (300 - attach)
    for newcomer in range(attach + 1, 300):
        assert sum(j < newcomer for j in topology.neighbours(newcomer)) == attach
    assert topology.degrees.max() > 8 * attach


@pytest.mark.parametrize(
    ("spec", "nodes", "remedy"),
    [
        (Torus(), 13, "use 12 or 14 nodes"),
        (Torus(), 2, "use 4 nodes"),
        (Torus(), 5, "use 4 or 6 nodes"),
        (RandomRegular(3), 5, "use an even degree or 6 nodes"),
        (RandomRegular(5), 5, "use a degree of 1 to 4"),
        (RandomRegular(1), 4, "use a degree of at least 2"),
        (SmallWorld(3, 0.1), 10, "even degree up to 8"),
        (SmallWorld(10, 0.1), 10, "even degree up to 8"),
        (SmallWorld(2, 0.1), 2, "use at least 3 nodes"),
        (ScaleFree(5), 5, "use an attach between 1 and 4"),
    ],
    ids=str,
)
def test_an_impossible_graph_is_refused_with_what_would_do(spec: TopologySpec, nodes: int, remedy: str) -> None:
    with pytest.raises(TopologyError, match=remedy):
        build(spec, nodes, 0)


@pytest.mark.parametrize(("p", "nodes"), [(0.015, 200), (1e-4, 200)])
def test_a_too_small_probability_is_refused_with_one_that_would_do(p: float, nodes: int) -> None:
    enough = (np.log(nodes) + 3) / nodes
    with pytest.raises(TopologyError, match=f"use p of about {enough:.2g} or more"):
        build(ErdosRenyi(p), nodes, 0)
    build(ErdosRenyi(float(enough)), nodes, 0)


@pytest.mark.parametrize("spec", [Ring(), Complete(), ErdosRenyi(1.0), EdgeList("a.txt")], ids=str)
def test_fewer_than_two_nodes_are_refused(spec: TopologySpec) -> None:
    for nodes in (1, 0, -3):
        with pytest.raises(TopologyError, match="at least 2 nodes"):
            build(spec, nodes, 0, "")


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 30), st.integers(0, 45), st.integers(0, 10**6))
def test_components_are_those_of_networkx(nodes: int, count: int, seed: int) -> None:
    graph = nx.gnm_random_graph(nodes, count, seed=seed)
    edges = np.array(sorted(tuple(sorted(edge)) for edge in graph.edges), dtype=np.int64).reshape(-1, 2)
    expected = {node: min(part) for part in nx.connected_components(graph) for node in part}
    assert components(nodes, edges).tolist() == [expected[node] for node in range(nodes)]


def test_a_node_that_does_not_exist_has_no_neighbours_to_give() -> None:
    topology = build(Ring(), 5, 0)
    for node in (-1, 5):
        with pytest.raises(IndexError):
            topology.neighbours(node)


def test_the_registry_names_every_kind() -> None:
    assert list(SPECS) == [
        "ring", "grid", "torus", "star", "complete", "erdos-renyi", "random-regular", "small-world", "scale-free",
        "exponential", "two-clusters", "edge-list",
    ]  # fmt: skip
    assert all(spec.__doc__ for spec in SPECS.values())


def test_pydantic_reads_the_kinds_and_their_limits() -> None:
    adapter: pydantic.TypeAdapter[TopologySpec] = pydantic.TypeAdapter(TopologySpec)
    assert adapter.validate_python({"kind": "small-world", "degree": 4, "rewire": 0.1}) == SmallWorld(4, 0.1)
    assert adapter.validate_python({"kind": "two-clusters"}) == TwoClusters(1)
    for bad in (
        {"kind": "erdos-renyi", "p": 0.0},
        {"kind": "erdos-renyi", "p": 1.5},
        {"kind": "small-world", "degree": 3, "rewire": 0.1},
        {"kind": "random-regular", "degree": 0},
        {"kind": "scale-free", "attach": 0},
        {"kind": "two-clusters", "bridges": 0},
    ):
        with pytest.raises(pydantic.ValidationError):
            adapter.validate_python(bad)
