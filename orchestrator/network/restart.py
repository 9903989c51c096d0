"""Where a node that came back goes on, and with which model (`restart.state`)."""

from collections.abc import Sequence, Set
from statistics import median

from orchestrator.network.collection import Collection
from pame.exchange import Vector


def first_iteration(collection: Collection, index: int, neighbours: Sequence[int], alive: Set[int], last: int) -> int:
    """The median iteration of its live neighbours; its own last one if none lives."""
    places = [collection.iterations[j] for j in neighbours if j in alive]
    return min(int(median(places)) if places else collection.iterations[index], last)


def start_model(collection: Collection, state: str, index: int, neighbours: Sequence[int]) -> Vector | None:
    """Its last snapshot, or the mean of its neighbours'; None, that is zero, if it shall be cold or there is none."""
    if state == "snapshot" and collection.latest_iteration[index] >= 0:
        newest: Vector = collection.latest[index]
        return newest
    known = [j for j in neighbours if collection.latest_iteration[j] >= 0]
    if state == "neighbours" and known:
        mean: Vector = collection.latest[known].mean(axis=0)
        return mean
    return None
