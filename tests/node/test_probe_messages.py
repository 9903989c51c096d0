"""Probe messages over real gRPC: as many as tell something, however long a busy machine takes for them."""

from types import SimpleNamespace
from typing import Any

from contract.assignment import Peer
from contract.rpc import exchange_pb2 as pb
from node.emulated_wire import AHEAD_S
from node.link_stream import PROBE
from node.probing.stream import UNCOUNTED, ProbeStream
from pame.links import LinkSpec
from tests.node.builders import StillConditions
from tests.node.harness import Receiver

DELAY_S = 0.02
ASSIGNED: Any = SimpleNamespace(run=1, index=0, secret=bytes(16))


async def pinged(seconds: float, fewest: int) -> tuple[int, list[int], float]:
    """How many are said to be sent, the numbers that came, and the shortest round trip."""
    receiver = Receiver(PROBE)
    await receiver.open()
    weather = StillConditions(LinkSpec(delay_s=DELAY_S))
    stream = ProbeStream(ASSIGNED, Peer(1, f"127.0.0.1:{receiver.port}", 0), weather, None)  # type: ignore[arg-type]
    try:
        assert await stream.connect()
        sent = await stream.pings(7, seconds, fewest)
    finally:
        await stream.close()
        await receiver.close()
    return sent, [pb.ProbeMessage.FromString(data).number for _, data in receiver.arrived], stream.shortest_s


async def test_a_measurement_without_time_still_sends_the_fewest_that_tell_something() -> None:
    sent, numbers, shortest_s = await pinged(0.0, 6)
    assert sent == 6
    assert numbers == [UNCOUNTED] + 6 * [7]
    assert shortest_s > DELAY_S - AHEAD_S


async def test_within_its_time_it_sends_more() -> None:
    sent, numbers, _ = await pinged(1.0, 2)
    assert sent == len(numbers) - 1
    assert 2 < sent <= 1.0 / DELAY_S + 1
