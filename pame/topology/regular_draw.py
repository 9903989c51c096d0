"""A random regular graph that is cheap enough to be drawn at every iteration, by every node for itself.

All nodes stand in a circle in random order, each joined to its nearest. Then edges are switched: two of them, (a, b)
and (c, d), become (a, d) and (c, b) unless that joins a node to itself or repeats an edge. Every graph of this degree
can be reached, and a switch is as likely as its reversal, so that the law tends to the uniform one over all regular
graphs, connected or not; five tries per edge are enough (tests). The random order makes any two nodes meet with the
same probability, however many tries there are. A degree above half of the others is drawn as the complement of a small
one.
"""

from dataclasses import replace

from pame.randomness import Key, integers, permutation

Neighbours = tuple[tuple[int, ...], ...]
"""Of every node, ascending."""
_TRIES_PER_EDGE = 5


def regular_neighbours(key: Key, nodes: int, degree: int) -> Neighbours:
    """Who is joined to whom; where no such graph exists (both numbers odd), a node gets one neighbour more.

    The draws are those of the key with peers 0 and 1.
    """
    degree += nodes * degree % 2
    is_dense = 2 * degree > nodes - 1
    beside = _switched(key, nodes, _circle(key, nodes, nodes - 1 - degree if is_dense else degree))
    if is_dense:
        everybody = set(range(nodes))
        beside = [everybody - others - {node} for node, others in enumerate(beside)]
    return tuple(tuple(sorted(others)) for others in beside)


def _circle(key: Key, nodes: int, degree: int) -> list[tuple[int, int]]:
    """Everybody joined to those beside, in random order; an odd degree needs those opposite, too."""
    order = permutation(key, nodes).tolist()
    edges = [(order[i], order[(i + far) % nodes]) for far in range(1, degree // 2 + 1) for i in range(nodes)]
    return edges + [(order[i], order[i + nodes // 2]) for i in range(nodes // 2 if degree % 2 else 0)]


def _switched(key: Key, nodes: int, edges: list[tuple[int, int]]) -> list[set[int]]:
    """The neighbours of every node when all tries are over; `edges` changes."""
    beside: list[set[int]] = [set() for _ in range(nodes)]
    for a, b in edges:
        beside[a].add(b)
        beside[b].add(a)
    tries = _TRIES_PER_EDGE * len(edges)
    drawn = integers(replace(key, peer=1), 2 * tries, 2 * len(edges)).tolist() if edges else []
    for one, other in zip(drawn[::2], drawn[1::2], strict=True):
        (a, b), (c, d) = edges[one >> 1], edges[other >> 1]
        if other & 1:
            c, d = d, c
        if a == d or b == c or d in beside[a] or b in beside[c]:
            continue
        for near, old, new in ((a, b, d), (d, c, a), (c, d, b), (b, a, c)):
            beside[near].remove(old)
            beside[near].add(new)
        edges[one >> 1], edges[other >> 1] = (a, d), (c, b)
    return beside
