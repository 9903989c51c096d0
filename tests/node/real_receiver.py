"""The other end of a link, over real gRPC."""

import asyncio
import time
from collections.abc import AsyncIterator

import grpc

from contract.rpc import exchange_pb2 as pb
from contract.rpc import refusal_pb2
from node.link_stream import PUSH


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
        handler = grpc.stream_stream_rpc_method_handler(self._push, None, pb.Receipt.SerializeToString)
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
            refused = [pb.RefusedParcel(number=seen, refusal=refusal_pb2.REFUSAL_DUPLICATE)] if self.refuse else []
            yield pb.Receipt(seen=seen, late=seen // 2, refused=refused)
