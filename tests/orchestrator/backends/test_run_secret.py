"""A stranger on the machine of a run in the clear: knows all but the secret, and changes no bit of it."""

import asyncio
import time
from pathlib import Path

import grpc
import pytest

from contract.rpc import exchange_pb2 as pb
from node.link_stream import PROBE, PUSH
from node.stream_proof import shown
from orchestrator.control.members import Member
from orchestrator.results import Status
from tests.harness import until
from tests.orchestrator.backends.harness import LINEAR, PAME, World, experiment_of, forged, receipts, running
from tests.orchestrator.control.harness import scrape
from tests.orchestrator.simulated import simulated

HONEST = experiment_of(
    nodes=4, topology={"kind": "ring"}, problem=LINEAR, algorithm=PAME,
    compute={"step": "20ms"}, exchange={"patience": "60s"}, stop={"iterations": 100},
)  # fmt: skip
ENDED = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.INTERNAL)
"""The latter is gRPC's word for writing to a stream that has just ended."""
REFUSED = 'pame_node_received_refused_messages_total{reason="wrong_secret"}'


async def prey(world: World) -> tuple[Member, int, bytes]:
    """A node under way, a neighbour of it, and a perfect message of that one, but for its values."""
    victim = await world.at_iteration("node-1", 5)
    sender = world.run.setting.topology.neighbours(victim)[0]
    member = world.control.members.get("node-1")
    assert member is not None
    return member, sender, forged(world.run.setting, world.run.number, sender, victim, 1e150)


async def test_with_the_number_the_addresses_and_a_perfect_message_a_stranger_cannot_push_nor_probe(
    tmp_path: Path,
) -> None:
    async with running(HONEST, tmp_path / "run") as world:
        member, sender, message = await prey(world)
        probe = pb.ProbeMessage(run=world.run.number, sender=sender, number=1, sent_ns=time.time_ns())
        elsewhere = shown(world.run.common.secret, "127.0.0.1:9")  # as whoever took the port of a dead node is shown
        guessed = shown(bytes(16), member.address)
        async with grpc.aio.insecure_channel(member.address) as channel:
            for method, data in ((PUSH, message), (PROBE, probe.SerializeToString())):
                for metadata in ((), guessed, elsewhere):
                    with pytest.raises(grpc.aio.AioRpcError) as refused:
                        await receipts(channel, method, metadata, data)
                    assert refused.value.code() in ENDED
        counted = await asyncio.to_thread(scrape, member.metrics_address)
    outcome = world.outcome
    assert (outcome.ending.status, outcome.ending.exact) == (Status.FINISHED, True)
    assert f"{REFUSED} 6.0" in counted
    assert (outcome.figures.node.strangers, outcome.figures.into.refused, outcome.figures.into.absurd) == (6, 0, 0)
    expected = simulated(HONEST, tmp_path).models
    results = outcome.run.collection.results
    assert [results[node][1].tobytes() for node in range(4)] == [model.tobytes() for model in expected]


async def test_whoever_holds_the_secret_can_push_what_a_stranger_could_not(tmp_path: Path) -> None:
    """So it is the secret that the stranger lacked; and what was pushed is counted where it came from."""
    async with running(HONEST, tmp_path / "run") as world:
        member, sender, message = await prey(world)
        metadata = shown(world.run.common.secret, member.address)
        async with grpc.aio.insecure_channel(member.address) as channel:
            [receipt] = await receipts(channel, PUSH, metadata, message)
            assert (receipt.seen, list(receipt.refused)) == (1, [])
        await until(lambda: world.run.totals.figures().into.absurd)
        assert world.run.totals.figures().absurd_senders == (sender,)
        world.run.cancel()
    outcome = world.outcome
    assert outcome.figures.node.strangers == 0
