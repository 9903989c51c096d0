"""The connections of an HTTP port: bounded in number and in time, so that no visitor takes what a run needs.

When there are too many, the oldest gives way: whoever comes and asks at once is answered, whatever the others do.
"""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress

from contract.ports.refused_requests import CROWDED, SLOW, RefusedRequests

_BACKLOG = 1024
"""So many wait in the kernel, where they cost no descriptor."""
_AT_ONCE, _EVERY_S = 64, 0.1
"""Accepting is not free: who comes back as soon as it is pushed out must not keep the event loop busy."""


class Connections:
    """Those of one port, oldest first."""

    def __init__(self, most: int, refused: RefusedRequests) -> None:
        self._most = most
        self._refused = refused
        self._alarms: dict[asyncio.Transport, asyncio.TimerHandle] = {}

    def __len__(self) -> int:
        return len(self._alarms)

    def enter(self, transport: asyncio.Transport, seconds: float) -> None:
        """A new one; it has this long for its first request."""
        while len(self._alarms) >= self._most:
            self._end(next(iter(self._alarms)), CROWDED)
        self._alarms[transport] = self._alarm(transport, seconds)

    def allow(self, transport: asyncio.Transport, seconds: float) -> None:
        """From now on it has this long for what it does next."""
        if transport in self._alarms:
            self._alarms[transport].cancel()
            self._alarms[transport] = self._alarm(transport, seconds)

    def leave(self, transport: asyncio.Transport) -> None:
        if (alarm := self._alarms.pop(transport, None)) is not None:
            alarm.cancel()

    def close(self) -> None:
        for transport in list(self._alarms):
            self.leave(transport)
            transport.abort()

    def _alarm(self, transport: asyncio.Transport, seconds: float) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, self._end, transport, SLOW)

    def _end(self, transport: asyncio.Transport, reason: str) -> None:
        self.leave(transport)
        transport.abort()
        self._refused.count(reason)


def bound(host: str, port: int) -> socket.socket:
    """A socket that will listen there; port 0: any free one. OSError if that cannot be."""
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening


def listen(listening: socket.socket, protocol: Callable[[], asyncio.BaseProtocol]) -> "asyncio.Task[None]":
    """Serve there until cancelled, which also closes it; of a flood a few at a time are accepted, the rest wait."""
    listening.listen(_BACKLOG)
    return asyncio.create_task(_accept(listening, protocol))


async def _accept(listening: socket.socket, protocol: Callable[[], asyncio.BaseProtocol]) -> None:
    loop = asyncio.get_running_loop()
    with listening:
        while True:
            began = loop.time()
            with suppress(OSError):  # one that has left already, or no descriptor is free: the next turn tries again
                for _ in range(_AT_ONCE):
                    accepted, _address = await loop.sock_accept(listening)
                    await loop.connect_accepted_socket(protocol, accepted)
            await asyncio.sleep(max(_EVERY_S + began - loop.time(), 0.0))
