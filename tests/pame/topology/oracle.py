"""What can be said of a graph by walking it."""

from collections.abc import Iterable, Sequence


def reached(graph: Sequence[Iterable[int]]) -> int:
    """How many nodes can be reached from node 0."""
    seen, waiting = {0}, [0]
    while waiting:
        fresh = set(graph[waiting.pop()]) - seen
        seen |= fresh
        waiting += fresh
    return len(seen)
