"""Where a node that came back goes on: where its live neighbours are, with the model that was asked for."""

import asyncio

import numpy as np
import pytest

from contract.assignment import Peer
from contract.rpc import control_pb2 as pb
from orchestrator.control import rejoin
from orchestrator.control.node_reports import NodeReports
from orchestrator.control.rejoin import Rejoins, first_iteration, start_model
from tests.harness import Watcher
from tests.orchestrator.control.test_node_reports import model, setting, tell


def collection() -> NodeReports:
    made = NodeReports(setting(), Watcher())
    made.iterations[:] = [3, 10, 20, 40]
    for node in (0, 1, 3):
        tell(made, node, 5)
    return made


def test_it_goes_on_at_the_median_of_its_live_neighbours() -> None:
    assert first_iteration(collection(), 0, [1, 2, 3], {1, 2, 3}, 100) == 20
    assert first_iteration(collection(), 0, [1, 2, 3], {1, 3}, 100) == 25
    assert first_iteration(collection(), 0, [1, 3], {3}, 30) == 30  # never beyond the last
    assert first_iteration(collection(), 0, [1, 3], set(), 100) == 3


def test_it_begins_with_its_snapshot_the_mean_of_its_neighbours_or_zero() -> None:
    snapshot = start_model(collection(), "snapshot", 0, [1, 2, 3])
    assert snapshot is not None
    assert snapshot.tobytes() == model(0, 5).tobytes()
    mean = start_model(collection(), "neighbours", 0, [1, 2, 3])  # node 2 has left none
    assert mean is not None
    assert np.allclose(mean, (model(1, 5) + model(3, 5)) / 2, rtol=1e-15)
    assert start_model(collection(), "cold", 0, [1, 2, 3]) is None
    assert start_model(collection(), "snapshot", 2, [1, 3]) is None
    assert start_model(collection(), "neighbours", 2, [2]) is None


class Someone:
    """A member that remembers what it is told."""

    def __init__(self) -> None:
        self.alive = True
        self.told: list[str] = []

    def tell(self, message: pb.ToNode) -> None:
        self.told.append(str(message.WhichOneof("kind")))


class Places:
    """Four seats, all taken; everybody is here for the first time but node 0."""

    def __init__(self) -> None:
        self.members = [Someone() for _ in range(4)]

    def take_over(self, index: int, member: Someone) -> int:
        return 2

    def incarnation(self, index: int) -> int:
        return 2

    def member(self, index: int) -> Someone:
        return self.members[index]

    def alive(self) -> set[int]:
        return {0, 1, 2, 3}

    def peer(self, index: int) -> Peer:
        return Peer(index, "127.0.0.1:1", 2, "again")

    def peers(self, indices: object) -> list[Peer]:
        return []


class NoStrikes:
    """Nothing of a plan is over."""

    def left(self, _index: int, plan: str) -> str:
        return plan


async def come_back(heard_by: set[int]) -> tuple[Rejoins, Places]:
    """Node 0 is ready again, and these of its neighbours 1 and 3 hear of it in time."""
    places, world = Places(), setting()
    comebacks = Rejoins(pb.Assignment(run=1), world, places, collection(), NoStrikes())  # type: ignore[arg-type]
    comebacks.begin(0, places.members[0], 1.0)  # type: ignore[arg-type]
    comebacks.ready(0)
    for other in heard_by:
        comebacks.known(0, other)
    await asyncio.sleep(0.2)
    comebacks.known(0, 3)
    return comebacks, places


@pytest.mark.parametrize("frozen", [set(), {1}, {1, 3}])
def test_a_neighbour_that_is_frozen_while_a_node_comes_back_is_remembered(
    monkeypatch: pytest.MonkeyPatch, frozen: set[int]
) -> None:
    monkeypatch.setattr(rejoin, "_HEAR_S", 0.05)
    neighbours = set(setting().contacts(0))
    comebacks, places = asyncio.run(come_back(neighbours - frozen))
    assert places.members[0].told == ["assignment", "start"], "it starts in any case"
    assert comebacks.unaware == {(0, other) for other in frozen}
