"""Submit, watch, cancel, list: over real gRPC. A run without nodes stays in gathering, which is enough for most."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2

from contract.rpc import experiments_pb2 as pb
from contract.rpc import refusal_pb2
from orchestrator.control.run_phases import GATHER_S
from pame.errors import PameError
from tests.harness import entered
from tests.orchestrator.control.harness import TOKEN, Served, experiment_of, kinds, served, text_of
from tests.orchestrator.harness import events_of, summary_of
from tests.orchestrator.simulated import is_as_simulated


@pytest.fixture
def world(tmp_path: Path, loop: asyncio.Runner) -> Iterator[Served]:
    with entered(loop, served(tmp_path / "runs")) as world:
        yield world


async def test_two_runs_in_a_row_on_the_same_nodes_are_those_of_the_simulator(world: Served) -> None:
    """Another n: other message limits. Fewer nodes: the first by name take part, node-2 before node-10."""
    names = ["node-1", "node-2", "node-10", "node-11"]
    first = {"nodes": 4, "seed": 1}
    second = {
        "nodes": 3,
        "seed": 2,
        "problem": {"kind": "linear", "n": 3000, "samples": 20, "test_samples": 20},
        "algorithm": {"kind": "pame", "step": {"kind": "fixed", "eta": 0.001}},
    }
    async with world.nodes(*names):
        for settings in (first, second):
            accepted = (await world.submit(text_of(**settings))).accepted
            events = await world.watch(accepted.run)
            assert events[-1].ended.status == "finished", events[-1]
            assert events[-1].ended.exact
            points = [event.point for event in events if event.HasField("point")]
            assert [point.iteration for point in points if point.by == "iteration"][-1] == 30
            folder = world.out / accepted.folder
            assert is_as_simulated(folder, experiment_of(**settings))
            assert (folder / "report.html").is_file()
        assert [event["detail"] for event in events_of(folder, "assigned")] == names[:3]
        listed = await world.stub.ListNodes(pb.ListNodesRequest(token=TOKEN))
        assert [(member.name, member.alive, member.HasField("index")) for member in listed.members] == [
            (name, True, False) for name in names
        ]


async def test_a_run_that_is_cancelled_at_once_does_not_gather_nodes_first(world: Served) -> None:
    accepted = (await world.submit(text_of())).accepted
    async with asyncio.timeout(GATHER_S / 2):
        assert await world.cancel(accepted.run)
        assert (await world.watch(accepted.run))[-1].ended.status == "interrupted"


async def test_a_second_experiment_is_refused_while_a_run_is_under_way_and_taken_when_it_is_cancelled(
    world: Served,
) -> None:
    accepted = (await world.submit(text_of())).accepted
    denied = (await world.submit(text_of())).denied
    assert denied.refusal == refusal_pb2.REFUSAL_BUSY
    assert (await world.stub.ListNodes(pb.ListNodesRequest(token=TOKEN))).run == accepted.run
    assert not await world.cancel(accepted.run + 1)
    assert await world.cancel(accepted.run)
    events = await world.watch(accepted.run)
    assert (events[-1].ended.status, events[-1].ended.reason) == ("interrupted", "stopped by the user")
    assert summary_of(world.out / accepted.folder)["status"] == "interrupted"
    assert (world.out / accepted.folder / "topology.json").is_file()
    assert not await world.cancel(accepted.run)
    assert (await world.submit(text_of())).HasField("accepted")


async def test_watchers_of_the_next_run_all_see_it_and_one_that_leaves_holds_nobody_up(world: Served) -> None:
    watching = [asyncio.create_task(world.watch(0)) for _ in range(2)]
    leaving = world.stub.Watch(pb.WatchRequest(run=0, token=TOKEN))
    accepted = (await world.submit(text_of())).accepted
    first = await leaving.read()
    assert (first.phase.phase, first.phase.run, first.phase.nodes) == ("gathering", accepted.run, 3)
    leaving.cancel()
    await world.cancel(0)
    for events in await asyncio.gather(*watching):
        assert kinds(events)[0] == "phase"
        assert kinds(events)[-1] == "ended"
        assert [event.phase.phase for event in events if event.HasField("phase")] == ["gathering", "ending"]
    late = await world.watch(accepted.run)
    assert kinds(late) == ["phase", "network", "ended"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("nodes: lots\n", "nodes"),
        ("nodes: 3\nstop: {iterations: 0}\nseed: -1\n", "seed"),
        ("nodes: 3\nseed: [1, 2]\n", "sweep"),
        ("nodes: 3\ntopology: {kind: edge-list, file: /etc/passwd}\n", "does not carry the text of '/etc/passwd'"),
        ("nodes: 5\nplan: /etc/passwd\n", "does not carry the text of '/etc/passwd'"),
        ("nodes: 20000\n", "nodes: 20000, and this orchestrator takes at most 10000"),
        ("problem: {n: 1000000, samples: 1000000}\n", "problem: data and models take"),
        ("nodes: 5\ntopology: {kind: random-regular, degree: 3}\n", "topology"),
        ("", "empty"),
    ],
)
async def test_what_is_wrong_with_an_experiment_is_said_and_no_folder_is_left(
    world: Served, text: str, word: str
) -> None:
    denied = (await world.submit(text)).denied
    assert denied.refusal == refusal_pb2.REFUSAL_BAD_EXPERIMENT
    assert word in denied.detail
    accepted = (await world.submit(text_of())).accepted
    assert accepted.folder, "a refused experiment keeps the desk busy"
    world.desk.cancel(0)
    await world.desk.ending()
    assert [path.name for path in world.out.iterdir()] == [accepted.folder]


async def test_every_call_needs_the_token(world: Served) -> None:
    denied = (await world.submit(text_of(), token="another")).denied
    assert denied.refusal == refusal_pb2.REFUSAL_WRONG_TOKEN
    for answer in (
        world.stub.Cancel(pb.CancelRequest(run=1)),
        world.stub.ListNodes(pb.ListNodesRequest(token="a toke")),
        world.stub.Watch(pb.WatchRequest(run=0)).read(),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await answer
        assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED


async def test_a_run_nobody_knows_cannot_be_watched(world: Served) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await world.watch(12345)
    assert refused.value.code() == grpc.StatusCode.NOT_FOUND
    assert not await world.cancel(12345)


@pytest.mark.parametrize("service", ["", "pame.v1.Control", "pame.v1.Experiments"])
async def test_health_is_told_for_every_service(service: str, world: Served) -> None:
    check: grpc.aio.UnaryUnaryMultiCallable[health_pb2.HealthCheckRequest, health_pb2.HealthCheckResponse]
    check = world.channel.unary_unary(
        "/grpc.health.v1.Health/Check",
        health_pb2.HealthCheckRequest.SerializeToString,
        health_pb2.HealthCheckResponse.FromString,
    )
    answer = await check(health_pb2.HealthCheckRequest(service=service))
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_whoever_waits_for_an_idle_desk_is_woken_by_a_refused_experiment(tmp_path: Path, world: Served) -> None:
    bad = experiment_of(nodes=3, topology={"kind": "random-regular", "degree": 5})
    submitting = asyncio.create_task(world.desk.submit(bad, tmp_path))
    await asyncio.sleep(0)
    waiting = asyncio.create_task(world.desk.idle())
    with pytest.raises(PameError):
        await submitting
    await waiting
