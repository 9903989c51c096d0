"""A node's gRPC server: health checks always, and the neighbours' streams of the run under way.

The largest message follows from n, which only an assignment tells: the server is opened anew on the same port then.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import grpc

from contract.counters import NodeCounters
from contract.credentials import Credentials, mutual_server, peer_name
from contract.ports.health_server import start_healthy
from contract.ports.port_limits import port_limits
from contract.rpc import exchange_pb2 as pb
from contract.rpc import refusal_pb2
from node.link_stream import PROBE, PUSH
from node.stream_proof import Admission
from node.wire_message import WireMessageRefused
from pame.errors import PameError

SERVICE = "pame.v1.Exchange"
_IDLE_LIMIT = 4096
_HEADROOM = 2
_LEAST_HEADROOM = 64 * 2**20
"""Our own limit refuses a message with its reason and counts it. gRPC has a limit for what is larger still: it ends the
stream with RESOURCE_EXHAUSTED before a byte of it is kept, but tells only the sender why."""
_SHARE = 3 / 8
"""Of the descriptors: while one server replaces another, there are two."""
_STREAMS = 16
"""On one connection: a neighbour needs one."""
_PATIENCE_WITH_REFUSED = 100
"""A stream that sends nothing else is closed."""

Arrive = Callable[[bytes, str | None], int]
"""Takes a message in from whom a certificate names, if there is one; how many of its sender were late so far, or
`WireMessageRefused`."""


class NoDataPort(PameError):
    """The port is taken, or not ours to take."""


class ExchangeServer:
    """Owns the port."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self._server: grpc.aio.Server | None = None
        self._streams = 0
        self.idle = NodeCounters()
        """While no run is under way: messages that come all the same."""
        self.credentials: Credentials | None = None
        """What it shows and asks for from the next `open` on; None: no TLS."""

    @property
    def is_open(self) -> bool:
        return self._server is not None

    @property
    def address(self) -> str:
        """What neighbours dial, and what their streams show a proof for."""
        return f"{self.host}:{self.port}"

    async def open(
        self,
        limit: int = _IDLE_LIMIT,
        arrive: Arrive | None = None,
        tls: bool = True,
        probed: Arrive | None = None,
        admission: Admission | None = None,
    ) -> None:
        """Serve with this limit; a server that is already open is replaced without a gap. `tls`: if there is any;
        `probed`: takes in what measures a link, as `arrive` does messages; `admission`: looks at streams first."""
        previous = self._server
        options = [
            ("grpc.max_receive_message_length", max(_HEADROOM * limit, _LEAST_HEADROOM if arrive else 0)),
            ("grpc.max_concurrent_streams", _STREAMS),
            ("grpc.so_reuseport", 1),
            *port_limits(_SHARE),
        ]
        server = grpc.aio.server(options=options)
        takers = {PUSH: arrive, PROBE: probed}
        named = {
            method.split("/")[-1]: self._handler(take or self._turn_away, admission) for method, take in takers.items()
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, named),))
        try:
            if self.credentials is not None and tls:
                self.port = server.add_secure_port(self.address, mutual_server(self.credentials))
            else:
                self.port = server.add_insecure_port(self.address)
        except RuntimeError:
            raise NoDataPort(f"cannot listen on {self.address}: give another --port, or 0 for any") from None
        await start_healthy(server, SERVICE)
        self._server = server
        if previous is not None:
            await previous.stop(None)

    async def quiet(self, seconds: float) -> None:
        """Wait until the neighbours have closed their streams, but not longer than this."""
        deadline = time.monotonic() + seconds
        while self._streams and time.monotonic() < deadline:
            await asyncio.sleep(0.005)

    async def close(self) -> None:
        if self._server is not None:
            await self._server.stop(0.2)

    def _handler(self, arrive: Arrive, admission: Admission | None) -> "grpc.RpcMethodHandler[bytes, pb.Receipt]":
        async def push(_: object, context: "grpc.aio.ServicerContext[bytes, pb.Receipt]") -> None:
            if admission is not None:
                await admission.check(context)
            await self._take_in(context, arrive)

        return grpc.stream_stream_rpc_method_handler(push, None, pb.Receipt.SerializeToString)

    async def _take_in(self, context: "grpc.aio.ServicerContext[bytes, pb.Receipt]", arrive: Arrive) -> None:
        stream, name = _Stream(), peer_name(context)
        self._streams += 1
        acknowledging = asyncio.create_task(stream.acknowledge(context))
        try:
            while isinstance(data := await context.read(), bytes):  # else EOF
                stream.take(data, name, arrive)
                if stream.refused_in_a_row >= _PATIENCE_WITH_REFUSED:
                    break
            stream.end()
            await acknowledging
        finally:
            self._streams -= 1
            acknowledging.cancel()
        if stream.refused_in_a_row >= _PATIENCE_WITH_REFUSED:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "too many refused messages in a row")

    def _turn_away(self, data: bytes, name: str | None) -> int:
        refused = WireMessageRefused(refusal_pb2.REFUSAL_WRONG_RUN, "no run is under way here")
        self.idle.refuse(refused.code)
        raise refused


class _Stream:
    """What has come over one stream."""

    def __init__(self) -> None:
        self.refused_in_a_row = 0
        self._seen = 0
        self._late = 0
        self._refused: list[pb.RefusedMessage] = []
        self._news = asyncio.Event()
        self._is_over = False

    def take(self, data: bytes, name: str | None, arrive: Arrive) -> None:
        self._seen += 1
        try:
            self._late = arrive(data, name)
            self.refused_in_a_row = 0
        except WireMessageRefused as refused:
            self.refused_in_a_row += 1
            code: Any = refused.refusal
            self._refused.append(pb.RefusedMessage(number=self._seen, refusal=code, detail=str(refused)))
        self._news.set()

    async def acknowledge(self, context: "grpc.aio.ServicerContext[bytes, pb.Receipt]") -> None:
        """One receipt for whatever has come since the last one, until everything is acknowledged."""
        acknowledged = 0
        while not (self._is_over and acknowledged == self._seen):
            await self._news.wait()
            self._news.clear()
            if acknowledged < self._seen:
                acknowledged = self._seen
                refused, self._refused = self._refused, []
                await context.write(pb.Receipt(seen=acknowledged, late=self._late, refused=refused))

    def end(self) -> None:
        self._is_over = True
        self._news.set()
