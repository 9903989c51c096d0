"""gRPC ports against connections that say nothing: closed in time, bounded in number; a real stream stays."""

import asyncio
import resource
import socket
from collections.abc import Iterator

import grpc
import pytest

from contract.ports import port_limits as limits_module
from contract.ports.port_limits import port_limits
from contract.rpc import exchange_pb2 as pb
from node.link_stream import PUSH
from node.server import ExchangeServer

SETTINGS = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""All that a client of HTTP/2 must say before it waits."""


@pytest.fixture
def few_descriptors() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("few_descriptors")
def test_a_port_may_have_its_share_of_the_descriptors_and_no_more_than_memory_bears() -> None:
    assert dict(port_limits(3 / 8))["grpc.max_allowed_incoming_connections"] == 384
    resource.setrlimit(resource.RLIMIT_NOFILE, (10, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    assert dict(port_limits(1 / 32))["grpc.max_allowed_incoming_connections"] == 1


def closed(client: socket.socket) -> bool:
    """Whether the other side has ended it; what it said before is of no interest."""
    try:
        while client.recv(4096):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    return True


async def until_closed(clients: list[socket.socket], count: int) -> None:
    while sum(map(closed, clients)) < count:
        await asyncio.sleep(0.02)


def connect(port: int, words: bytes = b"") -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(words)
    client.setblocking(False)
    return client


async def test_silent_connections_are_bounded_and_end_while_a_neighbours_stream_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits_module, "_HANDSHAKE_MS", 500)
    monkeypatch.setattr(limits_module, "_IDLE_MS", 500)
    monkeypatch.setattr(limits_module, "_MOST", 20)
    server = ExchangeServer("127.0.0.1", 0)
    await server.open()
    async with asyncio.timeout(60), grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        push: grpc.aio.StreamStreamMultiCallable[bytes, pb.Receipt]
        push = channel.stream_stream(PUSH, None, pb.Receipt.FromString)
        call = push()
        await call.write(b"one")
        first = await call.read()
        flood = [connect(server.port) for _ in range(60)]
        idle = [connect(server.port, SETTINGS)]
        await until_closed(flood, 41)  # at once: there is room for 19 beside the neighbour
        await until_closed(flood, 60)
        idle += [connect(server.port, SETTINGS) for _ in range(5)]
        await until_closed(idle, 6)
        for client in flood + idle:
            client.close()
        await call.write(b"two")
        second = await call.read()
        assert isinstance(first, pb.Receipt)
        assert isinstance(second, pb.Receipt)
        assert (first.seen, second.seen) == (1, 2)
        call.cancel()
    await server.close()
