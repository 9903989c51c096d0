"""A node's door, over real gRPC: whatever a client sends, it gets the right reason, is counted, and harms nobody."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc
import numpy as np
import pytest

from contract.assignment import Assigned, Peer, assign, assigned, describe
from contract.counters import NodeCounters
from contract.refusals import refusal_name
from contract.rpc import exchange_pb2 as pb
from node.conditions import NodeConditions
from node.fault_schedule import FaultSchedule
from node.link_stream import PUSH
from node.server import ExchangeServer
from node.trainer import Trainer
from node.wire_message import pack, size_limit
from pame.algorithms import PameSpec
from pame.problems import LinearSpec
from pame.topology import Topology
from tests.contract.harness import read, stream
from tests.pame.builders import small_run

RUN, N, ITERATIONS = 4242, 30, 20
PROBLEM = LinearSpec(n=N, samples=10, test_samples=5)
BOUND_S = 30.0


def node_of(index: int, incarnations: dict[int, int] | None = None) -> Assigned:
    """One of three nodes on a line 0 - 1 - 2, with a round at every iteration, as an assignment makes it."""
    algorithm, line = PameSpec(participation=1.0, support=0.5), Topology(3, np.array([[0, 1], [1, 2]]))
    setting = small_run(PROBLEM, algorithm, iterations=ITERATIONS, topology=line)
    known = incarnations or {}
    peers = [Peer(j, "127.0.0.1:9", known.get(j, 0)) for j in setting.topology.neighbours(index)]
    return assigned(assign(describe(RUN, setting, PROBLEM), index, known.get(index, 0), peers))


def message_of(sender: int, k: int, incarnation: int = 0) -> pb.NodeMessage:
    """The message that this node really sends at iteration k, from its start."""
    node = node_of(sender)
    algorithm = node.setting.node(sender, node.setting.selection(), node.start)
    algorithm.prepare(k)
    return pb.NodeMessage.FromString(pack(node.setting, RUN, sender, incarnation, k, algorithm.message(k)).data)


@dataclass
class Door:
    address: str
    trainer: Trainer
    account: NodeCounters

    async def push(self, *messages: bytes) -> tuple[list[pb.RefusedMessage], int]:
        """Everything over one stream: what was refused, and how many were seen."""
        async with grpc.aio.insecure_channel(self.address) as channel, asyncio.timeout(BOUND_S):
            call = stream(channel, PUSH, pb.Receipt)
            for data in messages:
                await call.write(data)
            await call.done_writing()
            receipts = [receipt async for receipt in call]
        return [refused for receipt in receipts for refused in receipt.refused], receipts[-1].seen

    async def refuses(self, data: bytes, reason: str) -> pb.RefusedMessage:
        [refused], seen = await self.push(data)
        assert (refusal_name(refused.refusal), refused.number, seen) == (reason, 1, 1)
        return refused

    async def takes_a_good_one(self, sender: int = 0, k: int = 7, incarnation: int = 0) -> None:
        before = self.account.into[sender].received
        refused, seen = await self.push(message_of(sender, k, incarnation).SerializeToString())
        assert (refused, seen) == ([], 1)
        assert self.account.into[sender].received == before + 1


@asynccontextmanager
async def door(incarnations: dict[int, int] | None = None) -> AsyncIterator[Door]:
    account = NodeCounters(run=RUN, index=1)
    node = node_of(1, incarnations)
    conditions, faults = NodeConditions(node.setting.conditions, 1), FaultSchedule(1, (), lambda _: None)
    trainer = Trainer(node, {}, conditions, account, lambda _: None, lambda *_: None, _always_room, faults)
    server = ExchangeServer("127.0.0.1", 0)
    await server.open(size_limit({"w": N}), trainer.arrive)
    try:
        yield Door(f"127.0.0.1:{server.port}", trainer, account)
    finally:
        await server.close()


def changed(**changes: int) -> bytes:
    """A good message of node 0 at iteration 3, but for the changes."""
    message = message_of(0, 3)
    for name, value in changes.items():
        setattr(message, name, value)
    return message.SerializeToString()


def vectors(*made: pb.Vector) -> bytes:
    message = message_of(0, 3)
    del message.vectors[:]
    message.vectors.extend(made)
    return message.SerializeToString()


def good_vector() -> pb.Vector:
    return message_of(0, 3).vectors[0]


def partial(data: bytes) -> bytes:
    return vectors(pb.Vector(name=good_vector().name, partial=data))


STRANGERS = {
    "garbage": (b"\xff" * 40, "not_a_message"),
    "half a message": (changed()[:-3], "not_a_message"),
    "nothing": (b"", "wrong_run"),
    "another run": (changed(run=RUN + 1), "wrong_run"),
    "a node that does not exist": (changed(sender=99), "unknown_sender"),
    "itself": (changed(sender=1), "unknown_sender"),
    "just too large": (bytes(size_limit({"w": N}) + 1), "too_large"),
    "a thousand times too large": (bytes(1000 * size_limit({"w": N})), "too_large"),
}
NEIGHBOURS = {
    "another dimension": (changed(n=N + 1), "wrong_dimension"),
    "after the last iteration": (changed(iteration=ITERATIONS), "bad_iteration"),
    "far in the future": (changed(iteration=2**32 - 1), "bad_iteration"),
    "no vector": (vectors(), "wrong_vectors"),
    "two vectors": (vectors(good_vector(), good_vector()), "wrong_vectors"),
    "a vector of another name": (vectors(pb.Vector(name="x" * 2000, partial=b"")), "wrong_vectors"),
    "a dense vector": (vectors(pb.Vector(name=good_vector().name, dense=bytes(8 * N))), "wrong_vectors"),
    "empty bytes": (partial(b""), "bad_length"),
    "a byte too many": (partial(good_vector().partial + b"\0"), "bad_length"),
    "a byte too few": (partial(good_vector().partial[:-1]), "bad_length"),
    "the support of another iteration": (vectors(message_of(0, 4).vectors[0]), "checksum_mismatch"),
}


@pytest.mark.parametrize(("data", "reason"), STRANGERS.values(), ids=STRANGERS)
async def test_what_names_no_neighbour_is_refused_with_its_reason_and_counted(data: bytes, reason: str) -> None:
    async with door() as node:
        assert len((await node.refuses(data, reason)).detail) < 400
        assert node.account.refused_by == {reason: 1}
        await node.takes_a_good_one()


@pytest.mark.parametrize(("data", "reason"), NEIGHBOURS.values(), ids=NEIGHBOURS)
async def test_what_names_a_neighbour_but_is_wrong_is_refused_with_its_reason_and_counted(
    data: bytes, reason: str
) -> None:
    async with door() as node:
        assert len((await node.refuses(data, reason)).detail) < 400
        assert node.account.into[0].refused_by == {reason: 1}
        assert node.account.into[0].received == 0
        await node.takes_a_good_one(k=3)


async def test_a_copy_is_a_duplicate_on_the_same_stream_and_on_another_one() -> None:
    async with door() as node:
        good = changed()
        [refused], seen = await node.push(good, good)
        assert (refusal_name(refused.refusal), refused.number, seen) == ("duplicate", 2, 2)
        await node.refuses(good, "duplicate")
        assert node.account.into[0].refused_by == {"duplicate": 2}
        await node.takes_a_good_one(k=4)


async def test_after_a_restart_the_old_incarnation_is_refused_and_the_new_one_may_go_back() -> None:
    async with door() as node:
        await node.takes_a_good_one(k=9)
        node.trainer.checks.moved(0, 1)
        await node.refuses(message_of(0, 10, incarnation=0).SerializeToString(), "old_incarnation")
        assert node.account.into[0].refused_by == {"old_incarnation": 1}
        await node.takes_a_good_one(k=6, incarnation=1)


async def test_a_new_incarnation_that_is_refused_does_not_silence_the_present_one() -> None:
    async with door() as node:
        await node.refuses(changed(incarnation=7, n=N + 1), "wrong_dimension")
        await node.takes_a_good_one(incarnation=0)


async def test_a_message_too_large_for_grpc_itself_breaks_its_stream_but_not_the_server() -> None:
    async with door() as node:
        async with grpc.aio.insecure_channel(node.address) as channel, asyncio.timeout(BOUND_S):
            call = stream(channel, PUSH, pb.Receipt)
            await call.write(bytes(65 * 2**20))
            assert await call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        await node.takes_a_good_one()


async def test_a_hundred_refused_messages_in_a_row_close_the_stream_with_all_their_reasons() -> None:
    async with door() as node:
        async with grpc.aio.insecure_channel(node.address) as channel, asyncio.timeout(BOUND_S):
            call = stream(channel, PUSH, pb.Receipt)
            for _ in range(100):
                await call.write(b"\xff" * 8)
            numbers: list[int] = []
            while not numbers or numbers[-1] < 100:
                numbers += [refused.number for refused in (await read(call, pb.Receipt)).refused]
            assert numbers == list(range(1, 101))
            assert await call.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert node.account.refused_by == {"not_a_message": 100}
        await node.takes_a_good_one()


async def test_a_good_message_among_bad_ones_keeps_the_stream_open() -> None:
    async with door() as node:
        bad = [b"\xff" * 8] * 99
        refused, seen = await node.push(*bad, changed(), *bad)
        assert (len(refused), seen) == (198, 199)
        assert node.account.into[0].received == 1


async def test_between_runs_everything_is_of_another_run() -> None:
    server = ExchangeServer("127.0.0.1", 0)
    await server.open()
    try:
        idle = Door(f"127.0.0.1:{server.port}", None, NodeCounters())  # type: ignore[arg-type]
        await idle.refuses(changed(), "wrong_run")
        assert server.idle.refused_by == {"wrong_run": 1}
    finally:
        await server.close()


async def _always_room() -> bool:
    return True
