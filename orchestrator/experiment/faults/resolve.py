"""From a selector to the very nodes and links of a graph.

A random choice goes through all candidates in an order drawn from the seed and takes the first ones. To keep the graph
connected it passes over each that, together with those taken before, would disconnect what is left, and comes back to
them as long as that helps; if there are still too few, it says so. Nodes and links that are named are only checked.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from orchestrator.experiment.faults.interface import Impossible, Use, World
from orchestrator.experiment.faults.selectors import ByDegree, Ends, LinkSelector, NodeSelector, Of, Random
from pame.fault_effects import Link
from pame.randomness import permutation
from pame.topology import Topology
from pame.topology.graph import components

Edge = tuple[int, int]


def choose_nodes(selector: NodeSelector, world: World, turn: int = 0, keep_connected: bool = False) -> tuple[int, ...]:
    """The nodes, ascending."""
    graph = world.topology
    match selector:
        case Random():
            wanted = selector.of(graph.nodes)
            _enough("nodes", wanted, graph.nodes, "nodes")
            order = permutation(world.key(Use.CHOICE, turn), graph.nodes).tolist()
            return _first("nodes", order, wanted, lambda taken: rest_is_connected(graph, taken), keep_connected)
        case ByDegree():
            _enough("nodes.count", selector.count, graph.nodes, "nodes")
            sign = -1 if selector.degree == "highest" else 1
            chosen = np.argsort(sign * graph.degrees, kind="stable")[: selector.count].tolist()
        case "all":
            chosen = list(range(graph.nodes))
        case _:
            chosen = [known_node("nodes", node, graph) for node in selector]
    if keep_connected and not rest_is_connected(graph, chosen):
        raise Impossible("keep_connected", "the nodes that are named disconnect the rest; name others, or random ones")
    return tuple(sorted(set(chosen)))


def choose_links(selector: LinkSelector, world: World, turn: int = 0, keep_connected: bool = False) -> tuple[Link, ...]:
    """The links, ascending."""
    graph = world.topology
    edges: list[Edge] = [(a, b) for a, b in graph.edges.tolist()]
    match selector:
        case Random():
            wanted = selector.of(len(edges))
            _enough("links", wanted, len(edges), "edges")
            order = permutation(world.key(Use.CHOICE, turn), len(edges)).tolist()
            taken = _first(
                "links", order, wanted, lambda chosen: _edges_can_go(graph, (edges[i] for i in chosen)), keep_connected
            )
            return both_ways(edges[i] for i in taken)
        case "all":
            links = both_ways(edges)
        case Of():
            node = known_node("links", selector.node, graph)
            links = both_ways((node, other) for other in graph.neighbours(node))
        case Ends():
            links = tuple(_known_links(selector, graph))
        case _:
            links = tuple(sorted({link for ends in selector for link in _known_links(ends, graph)}))
    if keep_connected and not _edges_can_go(graph, links):
        raise Impossible("keep_connected", "the links that are named disconnect the graph; name others, or random ones")
    return links


def both_ways(edges: Iterable[Edge]) -> tuple[Link, ...]:
    """Both directions of each, ascending."""
    return tuple(sorted({link for a, b in edges for link in ((a, b), (b, a))}))


def links_of(nodes: Iterable[int], graph: Topology) -> tuple[Link, ...]:
    """All links from and to some nodes, ascending."""
    return both_ways((node, other) for node in nodes for other in graph.neighbours(node))


def known_node(key: str, node: int, graph: Topology) -> int:
    """The node itself, if there is one of that number."""
    if node >= graph.nodes:
        raise Impossible(key, f"there is no node {node}; the nodes are 0 to {graph.nodes - 1}")
    return node


def rest_is_connected(graph: Topology, gone: Iterable[int]) -> bool:
    """Whether the nodes that are left reach each other, and there is one."""
    left = np.ones(graph.nodes, dtype=np.bool_)
    left[list(gone)] = False
    if not left.any():
        return False
    both = left[graph.edges].all(axis=1)
    labels = components(graph.nodes, graph.edges[both])[left]
    return bool((labels == labels[0]).all())


def _edges_can_go(graph: Topology, gone: Iterable[Edge]) -> bool:
    """Whether the graph stays connected; an edge that is cut one way counts as gone."""
    return not components(graph.nodes, graph.edges[~is_among(graph, gone)]).any()


def is_among(graph: Topology, links: Iterable[Edge]) -> NDArray[np.bool_]:
    """For each edge of the graph, whether one of the links is one of its directions."""
    codes = np.array([min(link) * graph.nodes + max(link) for link in links], dtype=np.int64)
    return np.isin(graph.edges[:, 0] * graph.nodes + graph.edges[:, 1], codes)


def _first(
    key: str, order: Sequence[int], wanted: int, can_go: Callable[[list[int]], bool], keep_connected: bool
) -> tuple[int, ...]:
    """The first `wanted` of the order that can go, ascending."""
    if not keep_connected:
        return tuple(sorted(order[:wanted]))
    taken: list[int] = []
    before = -1
    while before < len(taken) < wanted:
        before = len(taken)
        for candidate in order:
            if len(taken) < wanted and candidate not in taken and can_go([*taken, candidate]):
                taken.append(candidate)
    if len(taken) < wanted:
        raise Impossible(key, f"only {len(taken)} of {wanted} can go while the rest stays connected; ask for fewer")
    return tuple(sorted(taken))


def _enough(key: str, wanted: int, there: int, what: str) -> None:
    if wanted > there:
        raise Impossible(key, f"{wanted} were asked for, but the topology has {there} {what}; give at most {there}")


def _known_links(ends: Ends, graph: Topology) -> list[Link]:
    known_node("links", ends.sender, graph)
    known_node("links", ends.receiver, graph)
    neighbours = graph.neighbours(ends.sender)
    if ends.receiver not in neighbours:
        near = ", ".join(map(str, neighbours[:8])) + (", ..." if len(neighbours) > 8 else "")
        raise Impossible(
            "links", f"there is no link {ends.sender}-{ends.receiver}; the neighbours of {ends.sender} are {near}"
        )
    link = (ends.sender, ends.receiver)
    return sorted([link, link[::-1]]) if ends.both else [link]
