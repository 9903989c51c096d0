"""Datagrams between two nodes of this machine: stamped by the kernel, echoed when asked, and nobody else's."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from types import SimpleNamespace
from typing import Any

import pytest

from contract.assignment import Peer
from contract.rpc import control_pb2 as pb
from node.probing import Prober
from node.probing.datagram import Datagram, key_of, pack
from node.probing.udp import ProbeSocket
from pame.links import LinkSpec
from tests.harness import until
from tests.node.builders import StillConditions

pytestmark = pytest.mark.edge

RUN = 77
SECRET = b"sixteen bytes..."
WHOLE = LinkSpec(delay_s=0.001, loss=0.5, rate_bps=2e6)


@asynccontextmanager
async def probing(index: int, ports: dict[int, int]) -> AsyncIterator[Prober]:
    """One of a pair, whose links are left to a kernel (which on loopback does nothing)."""
    peers = [Peer(1 - index, f"127.0.0.1:{ports[1 - index]}", 0, "")]
    assigned: Any = SimpleNamespace(run=RUN, index=index, peers=peers, tls=False, secret=SECRET)
    weather = StillConditions(whole=WHOLE)
    made = Prober(assigned, SimpleNamespace(is_at_work=True), weather, None)  # type: ignore[arg-type]
    made.open("127.0.0.1", ports[index])
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
def ports() -> dict[int, int]:
    with socket.socket(type=socket.SOCK_DGRAM) as one, socket.socket(type=socket.SOCK_DGRAM) as two:
        for each in (one, two):
            each.bind(("127.0.0.1", 0))
        return {0: one.getsockname()[1], 1: two.getsockname()[1]}


def order(kind: pb.Probe.Kind, peer: int, echo: bool = False, number: int = 1) -> pb.Probe:
    return pb.Probe(run=RUN, number=number, kind=kind, peer=peer, seconds=0.1, echo=echo)


async def measured(ports: dict[int, int], kind: pb.Probe.Kind, echo: bool) -> tuple[pb.Probed, pb.Probed, pb.Probed]:
    """What the sender sent, what the receiver saw, what the sender saw."""
    async with probing(0, ports) as one, probing(1, ports) as two:
        sent = await one.carry_out(order(kind, 1, echo))
        for _ in range(20):  # turns of the loop, however late they come: one to be read, one to be answered
            await asyncio.sleep(0.005)
        seen = await two.carry_out(order(pb.Probe.KIND_COLLECT, 0))
        return sent, seen, await one.carry_out(order(pb.Probe.KIND_COLLECT, 1))


async def test_everything_sent_arrives_with_its_age_and_its_size(ports: dict[int, int]) -> None:
    sent, seen, home = await measured(ports, pb.Probe.KIND_TIMING, echo=False)
    assert sent.datagrams.sent >= 5
    assert len(seen.datagrams.arrival_ns) == sent.datagrams.sent
    assert all(0 <= age < 5 * 10**9 for age in seen.datagrams.age_ns)
    assert seen.datagrams.bytes == 64 + 42
    assert list(seen.datagrams.arrival_ns) == sorted(seen.datagrams.arrival_ns)
    assert not home.datagrams.round_trip_ns


async def test_an_echo_tells_the_round_trip(ports: dict[int, int]) -> None:
    sent, seen, home = await measured(ports, pb.Probe.KIND_TIMING, echo=True)
    assert len(home.datagrams.round_trip_ns) == len(seen.datagrams.arrival_ns) == sent.datagrams.sent
    assert all(trip >= 0 for trip in home.datagrams.round_trip_ns)


async def test_a_train_offers_more_than_the_rate(ports: dict[int, int]) -> None:
    sent, seen, _ = await measured(ports, pb.Probe.KIND_RATE, echo=False)
    assert 8 * sent.datagrams.bytes * sent.datagrams.sent / 0.1 > WHOLE.rate_bps
    assert seen.datagrams.bytes == sent.datagrams.bytes == 1242


async def test_other_datagrams_are_not_counted_and_not_answered(ports: dict[int, int]) -> None:
    answers: list[bytes] = []
    right = Datagram(key_of(SECRET), 1, 1, 0, echo=True, sent_ns=time.time_ns())
    wrong = [
        b"hello",
        pack(right._replace(key=RUN)),
        pack(right._replace(key=key_of(b"another secret.."))),
        pack(right._replace(sender=9)),
        pack(right._replace(receiver=9)),
    ]
    async with probing(0, ports) as one:
        with closing(ProbeSocket("127.0.0.1", ports[1], lambda data, *_: answers.append(data))) as stranger:
            for data in (*wrong, pack(right)):
                stranger.send(data, ("127.0.0.1", ports[0]))
            await until(lambda: answers)
            seen = await one.carry_out(order(pb.Probe.KIND_COLLECT, 1))
    assert len(seen.datagrams.arrival_ns) == len(answers) == 1


async def test_a_newer_number_begins_an_empty_page(ports: dict[int, int]) -> None:
    counts = []
    async with probing(0, ports) as one, probing(1, ports) as two:
        for number in (1, 2):
            await one.carry_out(order(pb.Probe.KIND_TIMING, 1, number=number))
            await asyncio.sleep(0.05)
            seen = await two.carry_out(order(pb.Probe.KIND_COLLECT, 0, number=1))
            counts.append(len(seen.datagrams.arrival_ns))
    assert counts[0] > 0
    assert counts[1] == 0


async def test_a_taken_port_is_told_and_no_stranger_is_probed(ports: dict[int, int]) -> None:
    with closing(ProbeSocket("127.0.0.1", ports[0], lambda *_: None)):
        async with probing(0, ports) as one:
            taken, stranger = [await one.carry_out(order(pb.Probe.KIND_TIMING, peer)) for peer in (1, 5)]
    assert "no UDP port" in taken.trouble
    assert "no neighbour" in stranger.trouble


async def test_a_machine_carries_something(ports: dict[int, int]) -> None:
    async with probing(0, ports) as one:
        assert (await one.carry_out(order(pb.Probe.KIND_CAPACITY, 0))).capacity_bps > 1e6
