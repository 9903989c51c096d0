"""The connections of an HTTP port: bounded in number and in time, so that no visitor takes what a run needs.

When there are too many, the oldest gives way: whoever comes and asks at once is answered, whatever the others do.
"""

import asyncio
import socket
from collections.abc import Callable

from node.refused_requests import CROWDED, SLOW, RefusedRequests

_BACKLOG = 1024
"""So many wait in the kernel, where they cost no descriptor."""
_TURNS = 8
"""A connection gets so many turns of the event loop before those behind it can push it out."""


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
        """It is closed."""
        if (alarm := self._alarms.pop(transport, None)) is not None:
            alarm.cancel()

    def close(self) -> None:
        """End all."""
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


async def listen(listening: socket.socket, protocol: Callable[[], asyncio.BaseProtocol], most: int) -> asyncio.Server:
    """Serve there; of a flood of connections only a few are accepted in each turn of the event loop."""
    loop = asyncio.get_running_loop()
    try:
        server = await loop.create_server(protocol, sock=listening, backlog=max(1, most // _TURNS))
    except OSError:
        listening.close()
        raise
    listening.listen(_BACKLOG)  # asyncio takes one number for how many may wait and for how many it accepts at once
    return server
