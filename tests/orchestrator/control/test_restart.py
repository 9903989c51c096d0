"""Where a node that came back goes on: where its live neighbours are, with the model that was asked for."""

import asyncio

import numpy as np
import pytest

from contract.rpc import control_pb2 as pb
from orchestrator.control import rejoin
from orchestrator.control.fired_faults import FiredFaults
from orchestrator.control.index_table import IndexTable
from orchestrator.control.node_reports import NodeReports
from orchestrator.control.rejoin import Rejoins, first_iteration, start_model
from tests.harness import Watcher
from tests.orchestrator.control.builders import member
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


@pytest.mark.parametrize("frozen", [set(), {1}, {1, 3}])
async def test_a_neighbour_that_is_frozen_while_a_node_comes_back_is_remembered(
    monkeypatch: pytest.MonkeyPatch, frozen: set[int]
) -> None:
    monkeypatch.setattr(rejoin, "_HEAR_S", 0.05)
    indices, successor = IndexTable(4), member(0)
    for node in range(4):
        indices.take(node, member(node))
    comebacks = Rejoins(pb.Assignment(run=1), setting(), indices, collection(), FiredFaults())
    comebacks.begin(0, successor, 1.0)
    comebacks.ready(0)
    for other in set(setting().contacts(0)) - frozen:
        comebacks.known(0, other)
    await asyncio.sleep(0.2)
    comebacks.known(0, 3)
    told = [successor.outbox.get_nowait().WhichOneof("kind") for _ in range(successor.outbox.qsize())]
    assert told == ["assignment", "start"], "it starts in any case"
    assert comebacks.unaware == {(0, other) for other in frozen}
