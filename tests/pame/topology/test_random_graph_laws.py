"""The random kinds follow their laws. Seeds are fixed; each test states how often it would fail by chance."""

import itertools
from collections import Counter
from math import comb

import numpy as np
import pytest
from scipy.stats import binom, chi2, chisquare

from pame.randomness import Key, Purpose
from pame.topology import TopologySpec, build
from pame.topology.kinds import ErdosRenyi, RandomRegular, ScaleFree, SmallWorld
from pame.topology.kinds.random_regular import _piece_by_piece
from tests.pame.topology.oracle import reached


def graph_counts(spec: TopologySpec, nodes: int, seeds: int) -> Counter[bytes]:
    return Counter(build(spec, nodes, seed).edges.tobytes() for seed in range(seeds))


def edge_counts(spec: TopologySpec, nodes: int, seeds: int) -> dict[tuple[int, int], int]:
    counts = dict.fromkeys(itertools.combinations(range(nodes), 2), 0)
    for seed in range(seeds):
        for i, j in build(spec, nodes, seed).edges.tolist():
            counts[i, j] += 1
    return counts


@pytest.mark.parametrize(
    ("nodes", "degree", "graphs"),
    [(6, 3, 70), (5, 2, 12), (6, 4, 15), (8, 1 + 5, 105)],
    ids=["cubic on 6", "cycles on 5", "octahedra", "complements of pairings of 8"],
)
def test_every_labelled_regular_graph_is_equally_likely(nodes: int, degree: int, graphs: int) -> None:
    # chi-square at 1e-6; all regular graphs of these sizes are connected, so the counts are the known ones
    counts = graph_counts(RandomRegular(degree), nodes, 25 * graphs)
    assert len(counts) == graphs
    assert chisquare(list(counts.values())).pvalue > 1e-6


def test_direct_pairing_is_uniform_over_the_connected_cubic_graphs_on_8_nodes() -> None:
    # 19320 of the 19355 cubic graphs are connected. A node's three neighbours are then uniform over the C(7,3) = 35
    # triples by symmetry, and the share of graphs with a triangle is a property of the uniform law: compare with
    # brute force over all of them. False alarm 1e-6 for each.
    seeds = 1500
    topologies = [build(RandomRegular(3), 8, seed) for seed in range(seeds)]
    triples = Counter(topology.neighbours(0) for topology in topologies)
    assert chisquare([triples[triple] for triple in itertools.combinations(range(1, 8), 3)]).pvalue > 1e-6
    everything = cubic_graphs(8)
    assert len(everything) == 19355
    connected = [graph for graph in everything if reached(neighbour_sets(graph, 8)) == 8]
    assert len(connected) == 19320
    with_triangle = sum(has_triangle(graph, 8) for graph in connected) / len(connected)
    seen = sum(has_triangle(frozenset(map(tuple, t.edges.tolist())), 8) for t in topologies)
    assert binom.ppf(5e-7, seeds, with_triangle) <= seen <= binom.ppf(1 - 5e-7, seeds, with_triangle)


def test_piecewise_pairing_favours_no_edge() -> None:
    # degree 5 on 12 nodes is drawn piece by piece; by symmetry each edge has probability 5/11. 66 edges, 1e-6 in all
    seeds = 600
    counts = edge_counts(RandomRegular(5), 12, seeds)
    low, high = binom.ppf(5e-7 / 66, seeds, 5 / 11), binom.ppf(1 - 5e-7 / 66, seeds, 5 / 11)
    assert all(low <= count <= high for count in counts.values())


def test_piecewise_pairing_is_near_the_uniform_law() -> None:
    # cubic graphs on 6 nodes: 60 prisms and 10 K_{3,3}; only asymptotically uniform, so within 5 points of 6/7
    prisms = 0
    for seed in range(1000):
        tries = (_piece_by_piece(6, 3, Key(seed, Purpose.GRAPH, 0, 0, number)) for number in range(100))
        codes = next(found for found in tries if found is not None)
        prisms += has_triangle(frozenset((int(code) // 6, int(code) % 6) for code in codes), 6)
    assert abs(prisms / 1000 - 6 / 7) < 0.05


def test_each_pair_is_joined_with_probability_p() -> None:
    # p high enough that conditioning on connected graphs does not show; 190 pairs, false alarm 1e-6 in all
    seeds = 600
    counts = edge_counts(ErdosRenyi(0.5), 20, seeds)
    low, high = binom.ppf(5e-7 / 190, seeds, 0.5), binom.ppf(1 - 5e-7 / 190, seeds, 0.5)
    assert all(low <= count <= high for count in counts.values())


def test_the_number_of_edges_is_binomial() -> None:
    # mean and variance over 600 graphs, normal approximation at 5 sigma: about 1e-6 each
    sizes = np.array([len(build(ErdosRenyi(0.3), 24, seed).edges) for seed in range(600)])
    pairs = comb(24, 2)
    variance = pairs * 0.3 * 0.7
    assert abs(sizes.mean() - 0.3 * pairs) < 5 * np.sqrt(variance / 600)
    spread = 599 * sizes.var(ddof=1) / variance
    assert chi2.ppf(5e-7, 599) < spread < chi2.ppf(1 - 5e-7, 599)


def test_edges_are_rewired_as_often_as_asked() -> None:
    # a lattice edge survives if it was not chosen (or chosen and another came back to it, rarer than 1 in 100);
    # 5 sigma of the binomial plus that 1 %
    lattice = {tuple(sorted((i, (i + d) % 500))) for i in range(500) for d in (1, 2, 3)}
    kept = sum(tuple(edge) in lattice for edge in build(SmallWorld(6, 0.25), 500, 9).edges.tolist())
    assert abs(kept - 0.75 * 1500) < 5 * np.sqrt(1500 * 0.25 * 0.75) + 15


def test_a_rewired_edge_goes_to_near_and_far_nodes_alike() -> None:
    # On a ring of 7 with few rewirings, a moved edge leads 2 or 3 away: two nodes of each. 5 sigma: about 1e-6
    seeds = 1500
    counts = edge_counts(SmallWorld(2, 0.05), 7, seeds)
    chords = {
        distance: sum(count for (i, j), count in counts.items() if min(j - i, 7 - j + i) == distance)
        for distance in (2, 3)
    }
    total = sum(chords.values())
    assert total > 200
    assert abs(chords[2] - total / 2) < 5 * np.sqrt(total / 4)


def test_newcomers_attach_in_proportion_to_degree() -> None:
    # attach 1, four nodes: node 2 joins 0 or 1 (1/2 each); node 3 joins the node of degree 2 with 1/2, the others
    # with 1/4 each. Paths and stars by hand: star with probability 1/2. Binomial at 1e-6
    seeds = 1500
    stars = sum(build(ScaleFree(1), 4, seed).degrees.max() == 3 for seed in range(seeds))
    assert binom.ppf(5e-7, seeds, 0.5) <= stars <= binom.ppf(1 - 5e-7, seeds, 0.5)


Graph = frozenset[tuple[int, ...]]


def cubic_graphs(nodes: int) -> list[Graph]:
    """All labelled 3-regular graphs, by giving the first unfinished node its missing neighbours in every way."""
    found: list[Graph] = []

    def extend(edges: Graph, free: list[int]) -> None:
        node = next((i for i in range(nodes) if free[i]), None)
        if node is None:
            found.append(edges)
            return
        later = [j for j in range(node + 1, nodes) if free[j]]
        for chosen in itertools.combinations(later, free[node]):
            left = [0 if i == node else free[i] - (i in chosen) for i in range(nodes)]
            extend(edges | {(node, j) for j in chosen}, left)

    extend(frozenset(), [3] * nodes)
    return found


def neighbour_sets(graph: Graph, nodes: int) -> list[set[int]]:
    sets: list[set[int]] = [set() for _ in range(nodes)]
    for i, j in graph:
        sets[i].add(j)
        sets[j].add(i)
    return sets


def has_triangle(graph: Graph, nodes: int) -> bool:
    near = neighbour_sets(graph, nodes)
    return any(near[i] & near[j] for i, j in graph)
