"""Partitions by name: which nodes end up together.

halves   two connected parts of equal size (to within one), where the search finds such; else just of equal size.
isolate  each chosen node alone, the rest together.
bridge   two halves that only one node, the bridge, can still talk to.
min-cut  along a smallest set of edges whose loss disconnects the graph; the most even of those found.
regions  each region for itself.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, permutations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from orchestrator.experiment.faults.interface import Impossible
from orchestrator.experiment.faults.resolve import both_ways, rest_is_connected
from pame.fault_effects import Link
from pame.topology import Topology

Part = tuple[int, ...]
_ROOTS = 100
_PAIRS = 6


def halves(graph: Topology, order: Sequence[int]) -> list[Part]:
    """Two halves: one grown from the first node, in the given order, that leaves a connected other half."""
    everybody = frozenset(range(graph.nodes))
    candidates = (_grown(graph, root, graph.nodes // 2, everybody, order) for root in order[:_ROOTS])
    for half in candidates:
        if _connected(graph, half) and _connected(graph, everybody - half):
            return _parts(half, everybody - half)
    half = _grown(graph, order[0], graph.nodes // 2, everybody, order)
    return _parts(half, everybody - half)


def isolate(graph: Topology, nodes: Sequence[int]) -> list[Part]:
    """Each of the nodes alone, and the rest."""
    rest = tuple(sorted(set(range(graph.nodes)) - set(nodes)))
    return [*((node,) for node in sorted(nodes)), *([rest] if rest else [])]


def bridge(graph: Topology, order: Sequence[int]) -> tuple[int, list[Part]]:
    """The bridge, and the halves that it joins: the first bridge in the given order with connected halves, if any."""
    found = None
    for middle in [node for node in order if graph.degrees[node] > 1][:_ROOTS]:
        others = frozenset(range(graph.nodes)) - {middle}
        near = [node for node in order if node in graph.neighbours(middle)]
        for one, other in islice(permutations(near, 2), _PAIRS):
            half = _grown(graph, one, (graph.nodes - 1) // 2, others - {other}, order)
            if not links_between(graph, _parts(half, others - half)):
                continue
            if _connected(graph, half) and _connected(graph, others - half):
                return middle, _parts(half, others - half)
            found = found or (middle, _parts(half, others - half))
    if found is None:
        raise Impossible(
            "shape", "no node is a bridge between halves that are joined otherwise too; take another shape"
        )
    return found


def min_cut(graph: Topology, order: Sequence[int]) -> list[Part]:
    """Both sides of a smallest cut: of all smallest flows from the first node to another, the most even cut."""
    offsets, targets = graph.adjacency
    capacity = csr_array(
        (np.ones(targets.size, dtype=np.int32), targets.astype(np.int32), offsets.astype(np.int32)),
        shape=(graph.nodes, graph.nodes),
    )
    source, everybody = order[0], frozenset(range(graph.nodes))
    smallest, best = graph.nodes, frozenset[int]()
    for sink in order[1:]:
        flow = maximum_flow(capacity, source, sink)
        if flow.flow_value > smallest:
            continue
        left = csr_array(capacity - flow.flow)
        left.eliminate_zeros()
        near = frozenset(breadth_first_order(left, source, return_predecessors=False).tolist())
        far = everybody - frozenset(breadth_first_order(csr_array(left.T), sink, return_predecessors=False).tolist())
        side = max(near, far, key=lambda part: _evenness(part, graph.nodes))
        if flow.flow_value < smallest or _evenness(side, graph.nodes) > _evenness(best, graph.nodes):
            smallest, best = int(flow.flow_value), side
    return _parts(best, everybody - best)


def regions(graph: Topology, places: Mapping[int, str] | None) -> list[Part]:
    """The nodes of each region, and alone those that are in none."""
    names = sorted(set((places or {}).values()))
    if not places or len(names) < 2:
        raise Impossible("shape", "regions needs nodes in at least two regions; give them in links.regions")
    parts = [tuple(node for node in range(graph.nodes) if places.get(node) == name) for name in names]
    return [*filter(None, parts), *((node,) for node in range(graph.nodes) if node not in places)]


def links_between(graph: Topology, parts: Iterable[Part]) -> tuple[Link, ...]:
    """All links from one part to another, ascending; a node in no part keeps its links."""
    part_of = np.full(graph.nodes, -1)
    for number, part in enumerate(parts):
        part_of[list(part)] = number
    ends = part_of[graph.edges]
    cut = graph.edges[(ends[:, 0] != ends[:, 1]) & (ends >= 0).all(axis=1)].tolist()
    return both_ways((a, b) for a, b in cut)


def _parts(one: Iterable[int], other: Iterable[int]) -> list[Part]:
    return sorted([tuple(sorted(one)), tuple(sorted(other))])


def _evenness(part: frozenset[int], nodes: int) -> int:
    return min(len(part), nodes - len(part))


def _grown(graph: Topology, root: int, size: int, allowed: frozenset[int], order: Sequence[int]) -> frozenset[int]:
    """`size` of the allowed nodes, breadth first from the root; where that ends too early, from the next in order."""
    taken: set[int] = set()
    starts = iter([root, *order])
    waiting: deque[int] = deque()
    while len(taken) < size:
        node = waiting.popleft() if waiting else next(starts)
        if node in taken or node not in allowed:
            continue
        taken.add(node)
        waiting.extend(graph.neighbours(node))
    return frozenset(taken)


def _connected(graph: Topology, part: frozenset[int]) -> bool:
    return rest_is_connected(graph, set(range(graph.nodes)) - part)
