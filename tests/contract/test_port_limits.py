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
from tests.contract.harness import read, stream
from tests.harness import until

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
        call = stream(channel, PUSH, pb.Receipt)
        await call.write(b"one")
        assert (await read(call, pb.Receipt)).seen == 1
        flood = [connect(server.port) for _ in range(60)]
        idle = [connect(server.port, SETTINGS)]
        await until(lambda: sum(map(closed, flood)) >= 41)  # at once: there is room for 19 beside the neighbour
        await until(lambda: all(map(closed, flood)))
        idle += [connect(server.port, SETTINGS) for _ in range(5)]
        await until(lambda: all(map(closed, idle)))
        for client in flood + idle:
            client.close()
        await call.write(b"two")
        assert (await read(call, pb.Receipt)).seen == 2
        call.cancel()
    await server.close()
