"""Takes orders over a Unix socket without ever waiting for whoever gives them; standard library only."""

import json
import selectors
import socket
from collections.abc import Callable
from contextlib import suppress

_ORDER_BYTES = 1024
_MOST = 16
"""So many may be about to say something; then the one that has said nothing for longest is hung up on."""


class SupervisorSocket:
    """One order and one answer per connection."""

    def __init__(
        self, listening: socket.socket, events: selectors.BaseSelector, carry_out: Callable[[bytes], dict[str, object]]
    ) -> None:
        """`events`: who calls `ready` with what is readable."""
        self._listening = listening
        self._events = events
        self._carry_out = carry_out
        self._waiting: dict[socket.socket, None] = {}
        listening.setblocking(False)
        events.register(listening, selectors.EVENT_READ)

    def ready(self, readable: object) -> None:
        """Somebody has come, or has spoken."""
        if readable is self._listening:
            with suppress(OSError):  # whoever it was may be gone again
                self._let_in(self._listening.accept()[0])
        elif isinstance(readable, socket.socket) and readable in self._waiting:
            with self._out(readable) as connection, suppress(OSError):
                answer = self._carry_out(connection.recv(_ORDER_BYTES))
                connection.sendall(json.dumps(answer).encode() + b"\n")

    def _let_in(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        if len(self._waiting) >= _MOST:
            self._out(next(iter(self._waiting))).close()
        self._waiting[connection] = None
        self._events.register(connection, selectors.EVENT_READ)

    def _out(self, connection: socket.socket) -> socket.socket:
        del self._waiting[connection]
        self._events.unregister(connection)
        return connection
