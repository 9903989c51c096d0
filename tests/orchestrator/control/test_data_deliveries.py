"""The orchestrator's side of a delivery: which pieces a node may ask for, and what it is told and counted."""

import asyncio
import time
from pathlib import Path

import pytest

from contract import data_delivery
from contract.data_delivery import PIECE_BYTES, shard_source
from contract.rpc import control_pb2 as pb
from orchestrator.control import ControlPlane, run_phases
from orchestrator.control.abilities import needs, require_abilities
from orchestrator.control.data_deliveries import DataDeliveries
from orchestrator.control.field_ranges import ControlRefused
from orchestrator.control.members import Members
from orchestrator.control.node_history import NodeHistory
from orchestrator.control.node_messages import NodeFacts, check
from orchestrator.control.recorded_run import conduct, make_order
from orchestrator.errors import NotEnoughNodes
from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import make_network_setting
from pame.problems import Problem, ProblemInputs, ProblemSpec, build
from pame.resolved_run import ResolvedRun
from tests.harness import Watcher, until
from tests.orchestrator.control.builders import member
from tests.orchestrator.control.harness import experiment_of
from tests.pame.vision.builders import data_set

RUN = 77
SOFTMAX = {"kind": "image-classification", "data": "stripes", "model": {"kind": "softmax"}}


def experiment(**problem: object) -> Experiment:
    return experiment_of(nodes=4, problem=SOFTMAX | problem)


def resolved(train: int = 160) -> ResolvedRun:
    def draw(spec: ProblemSpec, nodes: int, seed: int) -> Problem:
        return build(spec, nodes, seed, ProblemInputs(data_set(train)))

    return make_network_setting(experiment(), Path(), draw)


def wanted(offset: int) -> pb.FromNode:
    return pb.FromNode(data_wanted=pb.DataWanted(run=RUN, offset=offset))


def test_a_node_may_ask_for_its_samples_and_not_beyond_them() -> None:
    facts = NodeFacts(resolved(), snapshot_every=5)
    size = 40 * (4 + 8 * 8)
    assert facts.data_bytes == [size] * 4
    check(wanted(0), 1, False, facts)
    check(wanted(size - 1), 1, True, facts)
    for offset in (size, 2**63):
        with pytest.raises(ControlRefused, match=f"node 1 has {size} bytes"):
            check(wanted(offset), 1, False, facts)


def test_without_a_data_set_there_is_nothing_to_ask_for() -> None:
    linear = make_network_setting(experiment_of(), Path())
    with pytest.raises(ControlRefused, match="node 1 has 0 bytes"):
        check(wanted(0), 1, False, NodeFacts(linear, snapshot_every=5))


def test_pieces_are_asked_for_in_their_order_and_once_by_each_incarnation() -> None:
    history = NodeHistory()
    assert history.is_new((1, 0), wanted(0), 0)
    assert history.is_new((1, 0), wanted(PIECE_BYTES), 0)
    for offset in (PIECE_BYTES, 0, 3 * PIECE_BYTES, 5):
        with pytest.raises(ControlRefused, match=f"{2 * PIECE_BYTES} is the next"):
            history.is_new((1, 0), wanted(offset), 0)
    assert history.is_new((1, 1), wanted(0), 0)  # it came back, and begins anew


async def test_a_piece_is_sent_to_who_asked_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_delivery, "PIECE_BYTES", 1000)
    source, asking, other = shard_source(resolved().problem), member(0), member(1)
    assert source is not None
    deliveries = DataDeliveries(RUN, source)
    for offset in (0, 1000, 2000):
        deliveries.send(2, offset, asking)
        await until(lambda: not asking.outbox.empty())
        piece = asking.outbox.get_nowait().data_piece
        assert (piece.run, piece.offset, piece.content) == (RUN, offset, source.content(2, offset))
    assert deliveries.figures() == {"delivered_bytes": 2720, "delivered_nodes": 1}
    assert other.outbox.empty()
    assert DataDeliveries(RUN, None).figures() == {}


async def test_a_run_waits_for_nodes_as_long_as_they_ask_for_pieces_and_not_much_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_phases, "_PREPARE_S", 1.0)
    made = experiment_of()
    order = make_order(made, tmp_path, "serve")
    control = ControlPlane("127.0.0.1")
    for index in range(made.nodes):
        control.members.add(member(index, *needs(made)))
    conducting = asyncio.create_task(conduct(control, order, tmp_path / "run", Watcher()))
    try:
        await until(lambda: control.run is not None and control.run.phase == "preparing")
        assert control.run is not None
        control.run.deliveries.newest_at = time.monotonic() + 1000.0
        began = time.monotonic()
        await until(lambda: time.monotonic() > began + 2.0)
        assert control.run.phase == "preparing"
        control.run.deliveries.newest_at = 0.0
        with pytest.raises(NotEnoughNodes, match="were not ready within 1 s"):
            await asyncio.wait_for(conducting, 60)
    finally:
        conducting.cancel()
        await control.close("the test is over")


def test_nodes_without_torch_are_refused_in_one_line_that_says_what_to_do() -> None:
    needed = needs(experiment())
    able = [member(i, *needed) for i in range(4)]
    unable = [member(i, "algorithm:pame", "problem:linear", name=f"other-{i}") for i in range(4)]
    require_abilities(able, needed, 4)
    require_abilities(able + unable, needed, 4)
    require_abilities(unable[:3], needed, 4)  # others may still come
    with pytest.raises(NotEnoughNodes, match=r"4 of the 4 nodes .* have no torch: .*PAME_NODE_TARGET=node-torch"):
        require_abilities(unable, needed, 4)
    with pytest.raises(NotEnoughNodes, match="4 of the 7 nodes"):
        require_abilities(able[:3] + unable, needed, 4)


def test_nodes_without_the_users_module_are_refused() -> None:
    needed = needs(experiment(model={"kind": "module", "module": "folder/mine.py:Net"}))
    plain = member(0, *needs(experiment()))
    with pytest.raises(NotEnoughNodes, match=r"do not have the module mine\.py:Net: give its file to every node"):
        require_abilities([plain], needed, 1)
    require_abilities([member(0, *needed)], needed, 1)


async def test_nobody_waits_for_nodes_when_enough_are_there_that_cannot_do_it() -> None:
    members = Members()
    for index in range(4):
        members.add(member(index, "problem:linear"))
    async with asyncio.timeout(30):
        assert await members.gather(4, 600.0, {"problem:image-classification"}) == []
