"""A stream to a neighbour over gRPC: opened anew whenever it breaks, as long as its link is there."""

import asyncio
from abc import ABC, abstractmethod

import grpc

from contract.assignment import Peer
from contract.credentials import Credentials, expecting, mutual_channel
from contract.rpc import exchange_pb2 as pb
from contract.tasks import cancelled, end_of_stream, until_one_ends
from node.stream_proof import shown

PUSH = "/pame.v1.Exchange/Push"
PROBE = "/pame.v1.Exchange/Probe"
_FIRST_BACKOFF_S = 0.05
_LONGEST_BACKOFF_S = 1.0

PushCall = grpc.aio.StreamStreamCall[bytes, pb.Receipt]


class LinkStream(ABC):
    """Stream after stream; the pause between two grows to a second, and is short again after a success."""

    def __init__(self, peer: Peer, limit: int, credentials: Credentials | None, method: str, secret: bytes) -> None:
        self._peer = peer
        self._limit = limit
        self._credentials = credentials
        self._method = method
        self._secret = secret
        self._call: PushCall | None = None
        self._is_heard = False
        """A receipt came over this stream."""
        self._task = asyncio.create_task(self._run())

    @abstractmethod
    def opened(self) -> None:
        """A new stream; nothing was written to it."""

    @abstractmethod
    async def write(self, call: PushCall) -> None:
        """Write to the stream until it ends."""

    @abstractmethod
    def received(self, receipt: pb.Receipt) -> None:
        """Of what was written to this stream."""

    @abstractmethod
    def broken(self) -> None:
        """It ended; another one comes."""

    def move(self, peer: Peer) -> None:
        """The neighbour came back somewhere else: connect anew."""
        self._peer = peer
        if self._call is not None:
            self._call.cancel()

    async def close(self) -> None:
        """Stop; what still waits is lost."""
        await cancelled(self._task)

    async def _run(self) -> None:
        backoff = _FIRST_BACKOFF_S
        while True:
            self._is_heard = False
            await end_of_stream(self._stream())
            self.broken()
            backoff = _FIRST_BACKOFF_S if self._is_heard else min(2 * backoff, _LONGEST_BACKOFF_S)
            await asyncio.sleep(backoff)

    async def _stream(self) -> None:
        async with self._channel() as channel:
            push: grpc.aio.StreamStreamMultiCallable[bytes, pb.Receipt]
            push = channel.stream_stream(self._method, None, pb.Receipt.FromString)
            self._call = call = push(metadata=shown(self._secret, self._peer.address, self._peer.incarnation))
            self.opened()
            try:
                await until_one_ends(self._read(call), self.write(call))
            finally:
                self._call = None
                call.cancel()

    def _channel(self) -> grpc.aio.Channel:
        options = [
            ("grpc.max_send_message_length", self._limit),
            ("grpc.max_receive_message_length", self._limit),
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.enable_http_proxy", 0),
        ]
        if self._credentials is None:
            return grpc.aio.insecure_channel(self._peer.address, options=options)
        mutual = mutual_channel(self._credentials)
        return grpc.aio.secure_channel(self._peer.address, mutual, options=[*options, *expecting(self._peer.name)])

    async def _read(self, call: PushCall) -> None:
        async for receipt in call:
            self._is_heard = True
            self.received(receipt)
