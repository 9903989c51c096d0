"""Faults on plain node processes: refused where nobody could do them, and answered when the nodes have."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from contract.rpc import experiments_pb2 as pb
from contract.rpc import refusal_pb2
from node.supervisor import SOCKET_VARIABLE
from orchestrator.control.manual_faults import injection
from orchestrator.experiment.faults.happened import Told
from pame.fault_effects import CutEffect, FaultEvent, PauseEffect, Window
from tests.command import only_run
from tests.harness import until
from tests.orchestrator.control.harness import TOKEN, Served, served, text_of
from tests.orchestrator.harness import summary_of

LONG: dict[str, Any] = {"compute": {"step": "20ms"}, "stop": {"iterations": 100_000}}


@asynccontextmanager
async def plain_nodes(world: Served, count: int, supervisor: str = "") -> AsyncIterator[None]:
    """`python -m node`, with nothing above it; or with this socket, whoever listens there."""
    environment = {name: value for name, value in os.environ.items() if name != SOCKET_VARIABLE}
    environment |= {SOCKET_VARIABLE: supervisor} if supervisor else {}
    command = (sys.executable, "-m", "node", "--orchestrator", world.control.address, "--token", TOKEN, "--member")
    nodes = [await asyncio.create_subprocess_exec(*command, f"node-{n}", env=environment) for n in range(count)]
    try:
        await until(lambda: len(world.control.members.alive()) == count)
        yield
    finally:
        for node in nodes:
            if node.returncode is None:
                node.send_signal(signal.SIGKILL)
            await node.wait()


async def test_what_needs_a_supervisor_is_refused_at_submission_and_by_hand_if_there_is_none(tmp_path: Path) -> None:
    async with served(tmp_path) as world, plain_nodes(world, 3):
        for kind in ("pause", "kill", "restart"):
            faults = [{"kind": "message-loss", "loss": 0.1}, {"kind": kind, "nodes": [1], "at": "1s"}]
            denied = (await world.submit(text_of(faults=faults))).denied
            assert denied.refusal == refusal_pb2.REFUSAL_BAD_EXPERIMENT
            assert denied.detail == (
                f"faults.1: {kind} needs a supervisor that can {kind} node 1, and node-1 has none: start it with "
                "`python -m node.supervisor` instead of `python -m node`"
            )
        assert not list(tmp_path.iterdir())
        accepted = (await world.submit(text_of(**LONG))).accepted
        run = await world.under_way()
        by_hand = (await world.inject("{kind: kill, nodes: [2], back_after: 1s}")).denied
        assert by_hand.refusal == refusal_pb2.REFUSAL_BAD_FAULT
        assert by_hand.detail.startswith("kill needs a supervisor that can kill node 2, and node-2 has none")
        assert run.plan == ()

        cut = (await world.inject("{kind: link-down, links: [0-1], for: 1s}")).planned
        assert list(cut.begun) == ["links 0→1, 1→0 down: begun at nodes 0, 1 (in-process)"]
        assert (list(cut.failures), list(cut.silent)) == ([], [])
        later = (await world.inject("{kind: link-down, links: [1-2], at: 1h, for: 1s}")).planned
        assert (len(later.events), list(later.begun), list(later.silent)) == (1, [], [])
        assert await world.cancel(accepted.run)
        ended = (await world.watch(accepted.run))[-1].ended
        assert ended.reason == "stopped by the user; 1 of 2 faults did not happen: the run ended before 3600 s"
    [folder] = tmp_path.iterdir()
    found = summary_of(folder)
    assert found["warnings"][0] == "1 of 2 faults did not happen: the run ended before 3600 s"
    assert [found["faults"][key] for key in ("planned", "happened", "failed", "never_began")] == [2, 1, 0, 1]


async def test_a_fault_that_a_supervisor_refuses_failed_with_its_reason(tmp_path: Path) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b'{"done": false, "why": "not today"}\n')
        await writer.drain()
        writer.close()

    refusing = await asyncio.start_unix_server(refuse, tmp_path / "orders")
    async with refusing, served(tmp_path / "runs") as world, plain_nodes(world, 3, str(tmp_path / "orders")):
        faults = [{"kind": "pause", "nodes": [1], "at": "100ms", "for": "1s"}]
        accepted = (await world.submit(text_of(**LONG, faults=faults))).accepted
        await world.under_way()
        answer = (await world.inject("{kind: kill, nodes: [2], back_after: 1s}")).planned
        assert (list(answer.begun), list(answer.failures)) == ([], ["kill at node 2 failed: not today"])
        assert await world.cancel(accepted.run)
        await world.watch(accepted.run)
    found = summary_of(only_run(tmp_path))["faults"]
    assert (found["failed"], found["never_began"]) == (2, 0)
    assert found["sentence"] == "2 of 2 faults failed: pause at node 1: not today; kill at node 2: not today"


CUT = FaultEvent(4, "link-down", CutEffect(((0, 1), (1, 0))), Window(5.0, 6.0))
PAUSE = FaultEvent(4, "pause", PauseEffect((2, 3)), Window(5.0, 6.0))


def begun(node: int, by: str, failure: str = "") -> Told:
    return Told(4, node, True, 5.0, 5.0, failure, by)


@pytest.mark.parametrize(
    ("due", "told", "expected"),
    [
        ([CUT], [], pb.Planned(silent=(0, 1))),
        (
            [CUT],
            [begun(0, "nft"), begun(1, "nft")],
            pb.Planned(begun=["links 0→1, 1→0 down: begun at nodes 0, 1 (nft)"]),
        ),
        (
            [PAUSE],
            [begun(2, "supervisor"), begun(3, "supervisor"), begun(3, "supervisor", "busy")],
            pb.Planned(
                begun=["nodes 2, 3 paused: begun at node 2 (supervisor)"], failures=["pause at node 3 failed: busy"]
            ),
        ),
        ([CUT], [Told(4, 0, False, 5.0, 5.0), Told(3, 0, True, 5.0, 5.0)], pb.Planned(silent=(0, 1))),
    ],
)
def test_the_last_word_of_every_acting_node_counts(
    due: Sequence[FaultEvent], told: Sequence[Told], expected: pb.Planned
) -> None:
    assert injection(due, told) == expected
