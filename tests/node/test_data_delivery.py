"""An assignment whose samples come first: asked for piece by piece, and nothing else that comes instead is taken."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from contract import data_store
from contract.assignment import Peer, assign, describe
from contract.data_delivery import ShardSource, data_piece, shard_source
from contract.rpc import control_pb2 as pb
from node.process import Node
from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import make_network_setting
from pame.resolved_run import ResolvedRun
from tests.contract.data_builders import store
from tests.node.harness import assigned_node
from tests.pame.vision.builders import data_set, on_stripes

pytestmark = pytest.mark.edge

RUN = 77
SETTINGS = {
    "nodes": 3,
    "topology": {"kind": "ring"},
    "problem": {"kind": "image-classification", "data": "stripes", "model": {"kind": "softmax"}},
}
EXPERIMENT = Experiment.model_validate_json(json.dumps(SETTINGS))
PEERS = [Peer(1, "127.0.0.1:9", 0), Peer(2, "127.0.0.1:10", 0)]


@pytest.fixture(autouse=True)
def _no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On this machine."""
    monkeypatch.setenv(data_store.VARIABLE, str(tmp_path))


def resolved() -> ResolvedRun:
    return make_network_setting(EXPERIMENT, Path(), on_stripes)


def source() -> ShardSource:
    found = shard_source(resolved().problem)
    assert found is not None
    return found


def assignment(run: int = RUN) -> pb.ToNode:
    return pb.ToNode(assignment=assign(describe(run, resolved(), EXPERIMENT.problem), 0, 0, PEERS))


def piece(content: bytes, run: int = RUN, offset: int = 0) -> pb.ToNode:
    return pb.ToNode(data_piece=data_piece(run, offset, content))


@asynccontextmanager
async def waiting_node() -> AsyncIterator[Node]:
    """It has asked for its samples."""
    async with assigned_node(assignment()) as node:
        [asked] = said(node)
        assert (asked.data_wanted.run, asked.data_wanted.offset) == (RUN, 0)
        yield node


def said(node: Node) -> list[pb.FromNode]:
    """What it has to tell the orchestrator, once."""
    found = list(node._control._outgoing)
    node._control._outgoing.clear()
    return found


async def test_a_node_is_ready_only_when_its_samples_are_there() -> None:
    async with waiting_node() as node:
        assert node._session is None
        await node._handle(piece(source().content(0, 0)))
        [ready] = said(node)
        assert ready.ready.run == RUN
        assert len(ready.ready.torch_fingerprint) == 32
        assert node._session is not None
        objective = node._session.assigned.setting.problem.local(0)
        assert objective.samples == source().format(0).samples


async def test_samples_that_were_changed_end_the_run_with_the_reason() -> None:
    async with waiting_node() as node:
        content = source().content(0, 0)
        changed = piece(content)
        changed.data_piece.content = b"\1" + content[1:]
        await node._handle(changed)
        [failure] = said(node)
        assert failure.failure.run == RUN
        assert "the data of this node was refused (data_damaged): the piece at byte 0" in failure.failure.reason
        await node._handle(piece(content))  # too late: nobody waits for it any more
        assert said(node) == []
        assert (node._session, node.refused_commands) == (None, 1)


@pytest.mark.parametrize("run", [RUN, RUN + 1])
async def test_a_piece_that_nobody_asked_for_changes_nothing(run: int, caplog: pytest.LogCaptureFixture) -> None:
    async with waiting_node() as node:
        content = source().content(0, 0)
        if run == RUN:  # everything is there already
            await node._handle(piece(content))
            said(node)
        session = node._session
        await node._handle(piece(content, run))
        assert (said(node), node.refused_commands, node._session) == ([], 1, session)
        assert "data_not_wanted" in vars(caplog.records[-1])["fields"]["reason"]


async def test_another_assignment_takes_the_place_of_one_that_waits() -> None:
    async with waiting_node() as node:
        await node._handle(assignment(RUN + 1))
        [asked] = said(node)
        assert (asked.data_wanted.run, asked.data_wanted.offset) == (RUN + 1, 0)
        await node._handle(piece(source().content(0, 0)))
        assert node.refused_commands == 1
        await node._handle(piece(source().content(0, 0), RUN + 1))
        [ready] = said(node)
        assert ready.ready.run == RUN + 1


async def test_a_node_that_has_the_data_set_asks_for_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store(tmp_path / "prepared", data_set())
    monkeypatch.setenv(data_store.VARIABLE, str(tmp_path / "prepared"))
    async with assigned_node(assignment()) as node:
        [ready] = said(node)
        assert ready.ready.run == RUN
        assert node._session is not None
