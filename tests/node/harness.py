"""The other end of a link, over real gRPC; links and nodes without a network; a metrics server for plain tests."""

import asyncio
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from threading import Thread

import grpc
from prometheus_client.registry import Collector

from contract.assignment import Peer
from contract.counters import OutCounters
from contract.ports.metrics_server import MetricsServer
from contract.ports.refused_requests import RefusedRequests
from contract.rpc import control_pb2, refusal_pb2
from contract.rpc import exchange_pb2 as pb
from node.link import OutLink
from node.link_stream import PUSH
from node.process import Node, Options
from tests.node.builders import StillConditions


class Receiver:
    """A neighbour that remembers what came and when; it acknowledges at once, or only when told."""

    def __init__(self, method: str = PUSH) -> None:
        self._method = method
        self.arrived: list[tuple[float, bytes]] = []
        self.acknowledging = asyncio.Event()
        self.acknowledging.set()
        self.refuse = False
        self.streams = 0
        self._server: grpc.aio.Server | None = None
        self.port = 0

    async def open(self) -> None:
        self._server = grpc.aio.server()
        handler: grpc.RpcMethodHandler[bytes, pb.Receipt] = grpc.stream_stream_rpc_method_handler(
            self._push, None, pb.Receipt.SerializeToString
        )
        service, method = self._method.strip("/").split("/")
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: handler}),))
        self.port = self._server.add_insecure_port(f"127.0.0.1:{self.port}")
        await self._server.start()

    async def close(self) -> None:
        if self._server is not None:
            await self._server.stop(None)

    async def _push(self, requests: AsyncIterator[bytes], context: object) -> AsyncIterator[pb.Receipt]:
        self.streams += 1
        seen = 0
        async for data in requests:
            seen += 1
            self.arrived.append((time.monotonic(), data))
            await self.acknowledging.wait()
            refused = [pb.RefusedMessage(number=seen, refusal=refusal_pb2.REFUSAL_DUPLICATE)] if self.refuse else []
            yield pb.Receipt(seen=seen, late=seen // 2, refused=refused)


@asynccontextmanager
async def link_to(
    address: str, weather: StillConditions | None = None, limit: int = 2**20, secret: bytes = b""
) -> AsyncIterator[tuple[OutLink, OutCounters]]:
    """A link to node 3, which is at this address."""
    account = OutCounters()
    peer, conditions = Peer(3, address, 0), weather or StillConditions()
    link = OutLink(peer, limit, conditions, account, secret=secret)  # type: ignore[arg-type]
    try:
        yield link, account
    finally:
        await link.close()


@asynccontextmanager
async def assigned_node(assignment: control_pb2.ToNode) -> AsyncIterator[Node]:
    """A node with a part in a run that has not begun: it reaches nobody."""
    node = Node(Options("127.0.0.1:1", "a token", "node-0"))
    await node._handle(assignment)
    try:
        yield node
    finally:
        if node._session is not None:
            await node._session.close()
        await node._server.close()


@contextmanager
def serving(collector: Collector, refused: RefusedRequests | None = None) -> Iterator[MetricsServer]:
    """It works in a thread of its own."""
    server = MetricsServer(collector, "127.0.0.1", 0, refused or RefusedRequests())
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(server.open(), loop).result(20)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.close(), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
        loop.close()


def get(port: int, accept: str = "text/plain") -> str:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return str(answer.read().decode())
