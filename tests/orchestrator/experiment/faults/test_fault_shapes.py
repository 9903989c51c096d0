"""Named partitions: the parts have the shape of their name, and all links between them are cut, no others."""

import re

import networkx as nx
import pytest

from orchestrator.experiment.faults import FaultError, Horizon, compile_plan
from pame.topology import Topology
from tests.orchestrator.experiment.faults.builders import GRAPHS, links_hit, networkx_graph, specs


def parts_of(
    shape: str, topology: Topology, seed: int = 1, regions: dict[int, str] | None = None
) -> tuple[list[set[int]], nx.Graph]:
    """The parts as the words say them, and what is left of the graph."""
    (event,) = compile_plan(specs(f"{{kind: partition, {shape}}}"), topology, regions, seed, Horizon())
    words = event.fault.split(": ")[1].split(", joined by ")[0]
    parts = [set(map(int, part.split())) for part in words.split(" | ")]
    cut = links_hit(event)
    expected = {
        link
        for edge in topology.edges.tolist()
        for link in (tuple(edge), tuple(edge[::-1]))
        if any(edge[0] in part and edge[1] in other for part in parts for other in parts if part is not other)
    }
    assert set(cut) == expected
    assert len(cut) == len(expected)
    left = networkx_graph(topology)
    left.remove_edges_from(cut)
    return parts, left


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_halves_differ_by_at_most_one_node(name: str, seed: int) -> None:
    one, other = parts_of("shape: halves", GRAPHS[name], seed)[0]
    assert one | other == set(range(GRAPHS[name].nodes))
    assert not one & other
    assert abs(len(one) - len(other)) <= 1


@pytest.mark.parametrize("name", ["ring", "complete", "regular", "grid", "clusters", "pair"])
def test_halves_hang_together_where_that_is_possible(name: str) -> None:
    for seed in range(5):
        parts, left = parts_of("shape: halves", GRAPHS[name], seed)
        assert sorted(map(sorted, nx.connected_components(left))) == sorted(map(sorted, parts))


def test_halves_of_a_star_are_halves_although_leaves_cannot_hang_together() -> None:
    one, other = parts_of("shape: halves", GRAPHS["star"])[0]
    assert {len(one), len(other)} == {3, 4}


@pytest.mark.parametrize("name", GRAPHS)
def test_an_isolated_node_has_no_link_left(name: str) -> None:
    (alone, rest), left = parts_of("shape: isolate", GRAPHS[name])
    if len(alone) > len(rest):
        alone = rest
    assert len(alone) == 1
    assert left.degree[alone.pop()] == 0


def test_several_isolated_nodes_are_alone_each() -> None:
    parts, left = parts_of("shape: isolate, nodes: [0, 1, 4]", GRAPHS["complete"])
    assert parts == [{0}, {1}, {4}, {2, 3, 5}]
    assert sorted(map(sorted, nx.connected_components(left))) == [[0], [1], [2, 3, 5], [4]]


@pytest.mark.parametrize("name", ["ring", "complete", "regular", "grid", "scale-free", "clusters"])
@pytest.mark.parametrize("seed", [1, 2])
def test_only_the_bridge_can_talk_to_both_halves(name: str, seed: int) -> None:
    topology = GRAPHS[name]
    (one, other), left = parts_of("shape: bridge", topology, seed)
    (middle,) = set(range(topology.nodes)) - one - other
    assert abs(len(one) - len(other)) <= 1
    near = set(topology.neighbours(middle))
    assert near == set(left.neighbors(middle))
    assert near & one
    assert near & other
    left.remove_node(middle)
    assert not any(nx.has_path(left, a, b) for a in one for b in other)


def test_the_words_name_the_bridge() -> None:
    (event,) = compile_plan(specs("{kind: partition, shape: bridge}"), GRAPHS["complete"], None, 4, Horizon())
    named = set(map(int, re.findall("[0-9]+", event.fault)))
    middle = int(event.fault.partition(", joined by ")[2])
    assert named == set(range(6))
    assert all(middle not in link for link in links_hit(event))


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_min_cut_is_as_small_as_the_one_of_networkx(name: str, seed: int) -> None:
    topology = GRAPHS[name]
    parts, left = parts_of("shape: min-cut", topology, seed)
    smallest, _ = nx.stoer_wagner(networkx_graph(topology))
    assert len(parts) == 2
    assert topology.edges.shape[0] - left.number_of_edges() == smallest
    assert nx.number_connected_components(left) == 2


def test_the_min_cut_of_two_clusters_goes_between_them() -> None:
    assert parts_of("shape: min-cut", GRAPHS["clusters"])[0] == [set(range(6)), set(range(6, 12))]


def test_regions_are_cut_from_each_other_and_who_is_in_none_is_alone() -> None:
    places = {0: "eu", 1: "eu", 2: "us", 3: "us", 4: "asia"}
    parts, _ = parts_of("shape: regions", GRAPHS["complete"], regions=places)
    assert parts == [{4}, {0, 1}, {2, 3}, {5}]


REGIONS = "regions needs nodes in at least two regions; give them in links.regions"
BRIDGE = "no node is a bridge between halves that are joined otherwise too; take another shape"


@pytest.mark.parametrize(
    ("entry", "graph", "regions", "problem"),
    [
        ("{kind: partition, shape: regions}", "ring", None, f"faults.0.shape: {REGIONS}"),
        ("{kind: partition, shape: regions}", "ring", {0: "eu", 1: "eu"}, f"faults.0.shape: {REGIONS}"),
        ("{kind: partition, shape: bridge}", "pair", None, f"faults.0.shape: {BRIDGE}"),
        ("{kind: partition, shape: bridge}", "star", None, f"faults.0.shape: {BRIDGE}"),
    ],
)
def test_a_shape_that_the_graph_cannot_have_is_refused(
    entry: str, graph: str, regions: dict[int, str] | None, problem: str
) -> None:
    with pytest.raises(FaultError) as caught:
        compile_plan(specs(entry), GRAPHS[graph], regions, 1, Horizon())
    assert str(caught.value) == problem
