"""The node's one stream to the orchestrator: join, take commands, send what happened; opened anew when it breaks."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable

import grpc

from contract.logs import log_event
from contract.ports.port_limits import KEEPALIVE_MS
from contract.rpc import control_pb2 as pb
from contract.tasks import end_of_stream, is_set, until_one_ends
from node.commands import decoded
from node.orchestrator_channel import JoinRefused, NotYet, Options
from pame.errors import PameError

_LOG = logging.getLogger(__name__)
ATTACH = "/pame.v1.Control/Attach"
HEARTBEAT_S = 1.0
_OUTGOING_BYTES = 16 * 2**20
_RETRY_S = 0.25
_ANY_SIZE = -1
_LARGEST = 512 * 2**20
"""A command: the assignment in a large graph."""


class OrchestratorGone(PameError):
    """The orchestrator cannot be reached any more."""


class ControlStream:
    def __init__(
        self,
        orchestrator: str,
        connect: Callable[[Options], Awaitable[grpc.aio.Channel]],
        join: Callable[[], pb.Join],
        handle: Callable[[pb.ToNode], Awaitable[None]],
        heartbeat: Callable[[], pb.Heartbeat],
        patience_s: float,
    ) -> None:
        """`orchestrator`: for people; `patience_s`: how long to keep trying without any contact."""
        self._orchestrator = orchestrator
        self._connect = connect
        self._call: grpc.aio.StreamStreamCall[pb.FromNode, pb.ToNode] | None = None
        self._join = join
        self._handle = handle
        self._heartbeat = heartbeat
        self._patience_s = patience_s
        self._outgoing: deque[pb.FromNode] = deque()
        self._outgoing_bytes = 0
        self._room = asyncio.Event()
        self._room.set()
        self._wake = asyncio.Event()
        self._leaving = False
        self._welcome = False
        """Whether the orchestrator has said anything on the stream under way."""
        self._contact = time.monotonic()

    def send(self, message: pb.FromNode) -> None:
        """Queue a message; it survives a broken connection."""
        self._outgoing.append(message)
        self._outgoing_bytes += message.ByteSize()
        if self._outgoing_bytes > _OUTGOING_BYTES:
            self._room.clear()
        self._wake.set()

    async def room(self) -> bool:
        """Wait until an orchestrator that is there has taken most of what it is sent; False if none is there."""
        while not self._room.is_set():
            if not self._welcome:
                return False
            await is_set(self._room, HEARTBEAT_S)
        return True

    def leave(self, reason: str) -> None:
        """Say goodbye after everything else; `run` ends when the orchestrator has closed the stream."""
        self.send(pb.FromNode(goodbye=pb.Goodbye(reason=reason)))
        self._leaving = True

    def renew(self) -> None:
        """Join once more, over a new connection."""
        if self._call is not None:
            self._call.cancel()

    async def run(self) -> None:
        """Join, and again after every break, until there has been no contact for too long."""
        self._contact = time.monotonic()
        told = False
        while not self._leaving:
            before = self._contact
            try:
                why = await end_of_stream(self._attach())
            except NotYet as error:
                why = str(error)
            if not self._leaving and (not told or self._contact > before):
                told = True
                where, trying_s = self._orchestrator, self._patience_s
                log_event(_LOG, "no_orchestrator", logging.WARNING, orchestrator=where, reason=why, trying_s=trying_s)
            if time.monotonic() - self._contact > self._patience_s:
                raise OrchestratorGone(
                    f"no contact with the orchestrator at {self._orchestrator} for {self._patience_s:g} s "
                    f"({why}): check that it runs and that the address is right"
                )
            await asyncio.sleep(_RETRY_S)

    async def _attach(self) -> None:
        options = [
            ("grpc.max_receive_message_length", _LARGEST),
            ("grpc.max_send_message_length", _ANY_SIZE),
            ("grpc.enable_http_proxy", 0),
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 1000),
            ("grpc.keepalive_time_ms", KEEPALIVE_MS),
            ("grpc.keepalive_timeout_ms", KEEPALIVE_MS // 2),
        ]
        async with await self._connect(options) as channel:
            attach: grpc.aio.StreamStreamMultiCallable[pb.FromNode, pb.ToNode]
            attach = channel.stream_stream(ATTACH, pb.FromNode.SerializeToString, decoded)
            self._call = call = attach()
            await call.write(pb.FromNode(join=self._join()))
            self._welcome = False
            try:
                await until_one_ends(self._read(call), self._write(call), self._beat())
            finally:
                if self._welcome:  # there was contact until now, said or not
                    self._contact = time.monotonic()
                self._welcome = False
                self._call = None

    async def _read(self, call: "grpc.aio.StreamStreamCall[pb.FromNode, pb.ToNode]") -> None:
        async for message in call:
            self._welcome = True
            if message.WhichOneof("kind") == "refused":
                raise JoinRefused(message.refused.detail, message.refused.refusal)
            await self._handle(message)

    async def _write(self, call: "grpc.aio.StreamStreamCall[pb.FromNode, pb.ToNode]") -> None:
        while True:
            while self._outgoing:
                await call.write(self._outgoing[0])
                self._outgoing_bytes -= self._outgoing.popleft().ByteSize()
                if self._outgoing_bytes <= _OUTGOING_BYTES:
                    self._room.set()
            if self._leaving:
                await call.done_writing()
                await asyncio.Event().wait()  # the orchestrator closes the stream when it has read everything
            self._wake.clear()
            await self._wake.wait()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            self.send(pb.FromNode(heartbeat=self._heartbeat()))
