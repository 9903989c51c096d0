"""The regular graph of every iteration: regular, symmetric, and uniform over all there are. Seeds are fixed."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from pame.randomness import Key, Purpose
from pame.topology.regular_draw import Neighbours, regular_neighbours
from tests.pame.topology.oracle import reached


def drawn(nodes: int, degree: int, k: int, seed: int = 3) -> Neighbours:
    return regular_neighbours(Key(seed, Purpose.EPIDEMIC, iteration=k), nodes, degree)


def triangles(graph: Neighbours) -> int:
    beside = [set(others) for others in graph]
    return sum(len(beside[i] & beside[j]) for i, others in enumerate(graph) for j in others) // 6


@pytest.mark.parametrize("nodes", [2, 3, 5, 6, 31, 32])
@pytest.mark.parametrize("degree", [1, 2, 3, 4, 7, 8, 15, 16, 30, 31])
def test_everybody_has_as_many_neighbours_each_of_whom_has_it_as_one(nodes: int, degree: int) -> None:
    degree = min(degree, nodes - 1)
    wanted = degree + degree * nodes % 2  # with both odd there is no such graph
    for k in range(20):
        graph = drawn(nodes, degree, k)
        assert {len(set(others)) for others in graph} == {wanted}
        assert all(others == tuple(sorted(others)) and node not in others for node, others in enumerate(graph))
        assert all(node in graph[other] for node, others in enumerate(graph) for other in others)


def test_the_same_key_gives_the_same_graph_and_another_iteration_or_seed_another() -> None:
    graphs = [drawn(16, 4, k, seed) for k in range(20) for seed in (1, 2)]
    assert graphs == [drawn(16, 4, k, seed) for k in range(20) for seed in (1, 2)]
    assert len(set(graphs)) == 40


def test_a_known_draw_stays_as_it_is_since_nodes_of_different_versions_must_agree() -> None:
    known = ((2, 3, 4), (2, 5, 6), (0, 1, 7), (0, 4, 6), (0, 3, 7), (1, 6, 7), (1, 3, 5), (2, 4, 5))
    assert drawn(8, 3, 0) == known


@pytest.mark.parametrize(
    ("nodes", "degree", "graphs"),
    [(6, 3, 70), (5, 2, 12), (6, 2, 70), (6, 4, 15), (8, 1, 105)],
    ids=["cubic on 6", "cycles on 5", "a cycle or two triangles on 6", "octahedra", "pairings of 8"],
)
def test_every_labelled_regular_graph_is_equally_likely(nodes: int, degree: int, graphs: int) -> None:
    # chi-square at 1e-6 for each
    counts = Counter(drawn(nodes, degree, k) for k in range(50 * graphs))
    assert len(counts) == graphs
    assert chisquare(list(counts.values())).pvalue > 1e-6


def test_as_many_cubic_graphs_on_8_nodes_are_in_two_pieces_and_without_triangles_as_there_are() -> None:
    # of all 19355 labelled ones 35 are two complete graphs of four, and 3360 have no triangle; 1e-6 for each
    graphs = [drawn(8, 3, k) for k in range(6000)]
    pieces = sum(reached(graph) < 8 for graph in graphs)
    free = sum(triangles(graph) == 0 for graph in graphs)
    for seen, law in ((pieces, 35 / 19355), (free, 3360 / 19355)):
        assert binom.ppf(5e-7, 6000, law) <= seen <= binom.ppf(1 - 5e-7, 6000, law)


def test_any_two_nodes_meet_equally_often() -> None:
    # Each pair is joined with probability 4/15 at each of 3000 iterations, independently: 800 times, deviation 24.2.
    # 120 pairs within 4.5 deviations: one false alarm in 1,200 seeds.
    met = np.zeros((16, 16))
    for k in range(3000):
        for node, others in enumerate(drawn(16, 4, k)):
            met[node, list(others)] += 1
    assert np.abs(met[np.triu_indices(16, 1)] - 800).max() < 4.5 * 24.3


def test_graphs_of_degree_4_on_32_nodes_have_as_many_triangles_as_pairings_without_mistakes() -> None:
    # The oracle draws all stubs at once until every pair is an edge, which is uniform. Two means of 400: 5 deviations
    # of their difference are one false alarm in 1.7 million. The circle that the draw begins with has 32 triangles.
    generator = np.random.default_rng(5)
    ours = [triangles(drawn(32, 4, k)) for k in range(400)]
    theirs = [triangles(_paired(32, 4, generator)) for _ in range(400)]
    deviation = np.sqrt((np.var(ours) + np.var(theirs)) / 400)
    assert abs(np.mean(ours) - np.mean(theirs)) < 5 * deviation
    assert sum(reached(drawn(32, 4, k)) == 32 for k in range(400)) >= 399


def _paired(nodes: int, degree: int, generator: np.random.Generator) -> Neighbours:
    stubs = np.repeat(np.arange(nodes), degree)
    while True:
        pairs = {(min(a, b), max(a, b)) for a, b in generator.permutation(stubs).reshape(-1, 2).tolist() if a != b}
        if 2 * len(pairs) == stubs.size:
            joined = set(itertools.chain(pairs, ((b, a) for a, b in pairs)))
            return tuple(tuple(sorted(b for a, b in joined if a == node)) for node in range(nodes))
