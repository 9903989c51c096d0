"""Selectors: as many as asked for, all of them in the graph, each equally likely, and the rest connected on request."""

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import TypeVar

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from orchestrator.experiment.faults import FaultError
from tests.orchestrator.experiment.faults.builders import GRAPHS, links_hit, networkx_graph, nodes_hit, plan_of

SEEDS = st.integers(0, 2**63 - 1)

Hit = TypeVar("Hit", bound=Hashable)


def nodes_of(selector: str, graph: str = "regular", seed: int = 1, extra: str = "") -> tuple[int, ...]:
    plan = plan_of(f"{{kind: pause, nodes: {selector}{extra}}}", graph=graph, seed=seed)
    return nodes_hit(plan[0]) if plan else ()


def links_of(selector: str, graph: str = "regular", seed: int = 1, extra: str = "") -> tuple[tuple[int, int], ...]:
    plan = plan_of(f"{{kind: link-down, links: {selector}{extra}}}", graph=graph, seed=seed)
    return links_hit(plan[0]) if plan else ()


@pytest.mark.parametrize(
    ("selector", "count"),
    [("random(20%)", 3), ("random(1%)", 1), ("random(0%)", 0), ("random(100%)", 16), ("random(3)", 3), ("all", 16)],
)
def test_a_share_of_the_nodes_is_rounded_and_at_least_one(selector: str, count: int) -> None:
    assert len(nodes_of(selector)) == count


@pytest.mark.parametrize(
    ("selector", "edges"), [("random(20%)", 6), ("random(50%)", 16), ("random(1)", 1), ("random(0%)", 0), ("all", 32)]
)
def test_random_links_are_whole_edges(selector: str, edges: int) -> None:
    links = links_of(selector)
    assert len(links) == 2 * edges
    assert {(b, a) for a, b in links} == set(links)


def test_named_nodes_and_links_are_themselves() -> None:
    assert nodes_of("[3, 0, 3]") == (0, 3)
    assert links_of("[[1, 0], '2>3']", "ring") == ((0, 1), (1, 0), (2, 3))
    assert links_of("3>2", "ring") == ((3, 2),)
    assert links_of("0 - 8", "ring") == ((0, 8), (8, 0))
    assert links_of("of(3)", "ring") == ((2, 3), (3, 2), (3, 4), (4, 3))


def test_by_degree_takes_the_hubs_or_the_leaves_and_of_equals_the_first() -> None:
    assert nodes_of("{degree: highest}", "star") == (0,)
    assert nodes_of("{degree: lowest, count: 2}", "star") == (1, 2)
    degrees = GRAPHS["scale-free"].degrees.tolist()
    three = nodes_of("{degree: highest, count: 3}", "scale-free")
    assert sorted(degrees[node] for node in three) == sorted(degrees)[-3:]


@given(SEEDS, st.sampled_from(["regular", "complete", "clusters", "grid", "scale-free"]))
def test_links_can_be_cut_without_disconnecting_anybody(seed: int, graph: str) -> None:
    topology = GRAPHS[graph]
    spare = len(topology.edges) - (topology.nodes - 1)
    cut = links_of(f"random({spare})", graph, seed, ", keep_connected: true")
    left = networkx_graph(topology)
    left.remove_edges_from(cut)
    assert nx.is_tree(left)


@given(SEEDS, st.sampled_from(["regular", "star", "clusters", "grid", "scale-free"]), st.integers(1, 4))
def test_nodes_can_be_taken_without_disconnecting_the_rest(seed: int, graph: str, count: int) -> None:
    gone = nodes_of(f"random({count})", graph, seed, ", keep_connected: true")
    left = networkx_graph(GRAPHS[graph])
    left.remove_nodes_from(gone)
    assert len(gone) == count
    assert nx.is_connected(left)


def test_without_the_wish_a_random_choice_does_disconnect() -> None:
    cuts = [links_of("random(2)", "ring", seed) for seed in range(10)]
    assert all(len(cut) == 4 for cut in cuts)


FEWER = "can go while the rest stays connected; ask for fewer"
CUT = "the links that are named disconnect the graph; name others, or random ones"
APART = "the nodes that are named disconnect the rest; name others, or random ones"
MANY = "were asked for, but the topology has"
NINE = "; the nodes are 0 to 8"


@pytest.mark.parametrize(
    ("entry", "graph", "problem"),
    [
        ("link-down, links: random(2), keep_connected: true", "ring", f"links: only 1 of 2 {FEWER}"),
        ("kill, nodes: random(100%), keep_connected: true", "ring", f"nodes: only 8 of 9 {FEWER}"),
        ("kill, nodes: {degree: highest}, keep_connected: true", "star", f"keep_connected: {APART}"),
        ("flap, links: of(3), period: 1s, keep_connected: true", "ring", f"keep_connected: {CUT}"),
        ("link-down, links: ['0>1', '4-5'], keep_connected: true", "ring", f"keep_connected: {CUT}"),
        ("pause, nodes: [2, 9]", "ring", f"nodes: there is no node 9{NINE}"),
        ("pause, nodes: random(10)", "ring", f"nodes: 10 {MANY} 9 nodes; give at most 9"),
        ("pause, nodes: {degree: lowest, count: 10}", "ring", f"nodes.count: 10 {MANY} 9 nodes; give at most 9"),
        ("lossy, links: random(33), loss: 1%", "regular", f"links: 33 {MANY} 32 edges; give at most 32"),
        ("link-down, links: ['0-1', '0-3']", "ring", "links: there is no link 0-3; the neighbours of 0 are 1, 8"),
        ("link-down, links: 0>77", "ring", f"links: there is no node 77{NINE}"),
        ("degrade, links: of(9), delay: 1s", "ring", f"links: there is no node 9{NINE}"),
    ],
)
def test_what_the_graph_does_not_have_is_refused_with_key_value_and_fix(entry: str, graph: str, problem: str) -> None:
    with pytest.raises(FaultError) as caught:
        plan_of(f"{{kind: {entry}}}", graph=graph)
    assert str(caught.value) == f"faults.0.{problem}"


def test_random_nodes_and_links_are_uniform() -> None:
    # Each chi-square test raises a false alarm once in 1e6 seeds; the seeds are fixed.
    draws = 3000
    pairs = Counter(nodes_of("random(2)", "star", seed) for seed in range(draws))
    _uniform(pairs, list(combinations(range(7), 2)), draws)
    edges = Counter(links_of("random(1)", "ring", seed)[0] for seed in range(draws))
    _uniform(edges, [(a, b) for a, b in GRAPHS["ring"].edges.tolist()], draws)


def test_each_victim_of_churn_is_as_likely_as_the_others() -> None:
    # False alarm once in 1e6; far fewer than one node is away at a time, so that draws are nearly independent.
    plan = plan_of("{kind: churn, per_minute: 1500, back_after: 1ms}", graph="star")
    _uniform(Counter(nodes_hit(event)[0] for event in plan), list(range(7)), len(plan))


def _uniform(counts: Counter[Hit], outcomes: Sequence[Hit], draws: int) -> None:
    assert set(counts) <= set(outcomes)
    expected = draws / len(outcomes)
    statistic = sum((counts[outcome] - expected) ** 2 / expected for outcome in outcomes)
    assert statistic < chi2.isf(1e-6, len(outcomes) - 1)
