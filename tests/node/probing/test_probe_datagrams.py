"""Datagrams between two nodes of this machine: stamped by the kernel, echoed when asked, and nobody else's."""

import asyncio
import time
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from contract.assignment import Peer
from contract.rpc import control_pb2 as pb
from node.probing import Prober
from node.probing.datagram import Datagram, key_of, pack
from node.probing.udp import ProbeSocket
from pame.links import LinkSpec

pytestmark = pytest.mark.edge

RUN = 77
SECRET = b"sixteen bytes..."
WHOLE = LinkSpec(delay_s=0.001, loss=0.5, rate_bps=2e6)


@dataclass
class KernelWeather:
    """Everything is left to a kernel (which on loopback does nothing)."""

    whole: LinkSpec = field(default_factory=lambda: WHOLE)

    def whole_link(self, receiver: int) -> LinkSpec:
        return self.whole

    def link(self, receiver: int) -> LinkSpec:
        return LinkSpec()


def prober(index: int, peer: int, ports: dict[int, int]) -> Prober:
    peers = [Peer(peer, f"127.0.0.1:{ports[peer]}", 0, "")]
    assigned: Any = SimpleNamespace(run=RUN, index=index, peers=peers, tls=False, secret=SECRET)
    made = Prober(assigned, SimpleNamespace(is_at_work=True), KernelWeather(), None)  # type: ignore[arg-type]
    made.open("127.0.0.1", ports[index])
    return made


def free_ports() -> dict[int, int]:
    import socket

    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = {index: one.getsockname()[1] for index, one in enumerate(sockets)}
    for one in sockets:
        one.close()
    return ports


def order(kind: pb.Probe.Kind, peer: int, echo: bool = False, number: int = 1) -> pb.Probe:
    return pb.Probe(run=RUN, number=number, kind=kind, peer=peer, seconds=0.1, echo=echo)


async def measured(kind: pb.Probe.Kind, echo: bool) -> tuple[pb.Probed, pb.Probed, pb.Probed]:
    """What the sender sent, what the receiver saw, what the sender saw."""
    ports = free_ports()
    one, two = prober(0, 1, ports), prober(1, 0, ports)
    try:
        sent = await one.carry_out(order(kind, 1, echo))
        for _ in range(20):  # turns of the loop, however late they come: one to be read, one to be answered
            await asyncio.sleep(0.005)
        seen = await two.carry_out(order(pb.Probe.KIND_COLLECT, 0))
        home = await one.carry_out(order(pb.Probe.KIND_COLLECT, 1))
    finally:
        await one.close()
        await two.close()
    return sent, seen, home


def test_everything_sent_arrives_with_its_age_and_its_size() -> None:
    sent, seen, home = asyncio.run(measured(pb.Probe.KIND_TIMING, echo=False))
    assert sent.datagrams.sent >= 5
    assert len(seen.datagrams.arrival_ns) == sent.datagrams.sent
    assert all(0 <= age < 5 * 10**9 for age in seen.datagrams.age_ns)
    assert seen.datagrams.bytes == 64 + 42
    assert list(seen.datagrams.arrival_ns) == sorted(seen.datagrams.arrival_ns)
    assert not home.datagrams.round_trip_ns


def test_an_echo_tells_the_round_trip() -> None:
    sent, seen, home = asyncio.run(measured(pb.Probe.KIND_TIMING, echo=True))
    assert len(home.datagrams.round_trip_ns) == len(seen.datagrams.arrival_ns) == sent.datagrams.sent
    assert all(trip >= 0 for trip in home.datagrams.round_trip_ns)


def test_a_train_offers_more_than_the_rate() -> None:
    sent, seen, _ = asyncio.run(measured(pb.Probe.KIND_RATE, echo=False))
    assert 8 * sent.datagrams.bytes * sent.datagrams.sent / 0.1 > WHOLE.rate_bps
    assert seen.datagrams.bytes == sent.datagrams.bytes == 1242


def test_other_datagrams_are_not_counted_and_not_answered() -> None:
    async def go() -> tuple[pb.Probed, list[bytes]]:
        ports = free_ports()
        one = prober(0, 1, ports)
        answers: list[bytes] = []
        stranger = ProbeSocket("127.0.0.1", ports[1], lambda data, *_: answers.append(data))
        right = Datagram(key_of(SECRET), 1, 1, 0, echo=True, sent_ns=time.time_ns())
        wrong = [
            b"hello",
            pack(right._replace(key=RUN)),
            pack(right._replace(key=key_of(b"another secret.."))),
            pack(right._replace(sender=9)),
            pack(right._replace(receiver=9)),
        ]
        try:
            for data in wrong:
                stranger.send(data, ("127.0.0.1", ports[0]))
            stranger.send(pack(right), ("127.0.0.1", ports[0]))
            for _ in range(500):
                if answers:
                    break
                await asyncio.sleep(0.01)
            return await one.carry_out(order(pb.Probe.KIND_COLLECT, 1)), answers
        finally:
            stranger.close()
            await one.close()

    seen, answers = asyncio.run(go())
    assert len(seen.datagrams.arrival_ns) == len(answers) == 1


def test_a_newer_number_begins_an_empty_page() -> None:
    async def go() -> list[int]:
        ports = free_ports()
        one, two = prober(0, 1, ports), prober(1, 0, ports)
        counts = []
        try:
            for number in (1, 2):
                await one.carry_out(order(pb.Probe.KIND_TIMING, 1, number=number))
                await asyncio.sleep(0.05)
                seen = await two.carry_out(order(pb.Probe.KIND_COLLECT, 0, number=1))
                counts.append(len(seen.datagrams.arrival_ns))
        finally:
            await one.close()
            await two.close()
        return counts

    first, old = asyncio.run(go())
    assert first > 0
    assert old == 0


def test_a_taken_port_is_told_and_no_stranger_is_probed() -> None:
    async def go() -> tuple[pb.Probed, pb.Probed]:
        ports = free_ports()
        holder = ProbeSocket("127.0.0.1", ports[0], lambda *_: None)
        one = prober(0, 1, ports)
        try:
            return (
                await one.carry_out(order(pb.Probe.KIND_TIMING, 1)),
                await one.carry_out(order(pb.Probe.KIND_TIMING, 5)),
            )
        finally:
            holder.close()
            await one.close()

    taken, stranger = asyncio.run(go())
    assert "no UDP port" in taken.trouble
    assert "no neighbour" in stranger.trouble


def test_a_machine_carries_something() -> None:
    ports = free_ports()

    async def go() -> float:
        one = prober(0, 1, ports)
        try:
            return (await one.carry_out(order(pb.Probe.KIND_CAPACITY, 0))).capacity_bps
        finally:
            await one.close()

    assert asyncio.run(go()) > 1e6
