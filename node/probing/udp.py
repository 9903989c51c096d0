"""Datagrams on the data network: they take the way that the neighbours' messages take, through the same queues.

The kernel says when one arrived: how long this process took to look at it does not matter.
"""

import asyncio
import socket
import struct
import time
from collections.abc import Callable

_TIMESPEC = struct.Struct("qq")
_COUNT = struct.Struct("I")
_SO_TIMESTAMPNS = 35
_SO_RXQ_OVFL = 40
_BUFFER = 4 * 2**20
_LONGEST = 2048
_AT_ONCE = 256

Arrived = Callable[[bytes, tuple[str, int], int], None]
"""(what, from where, when: nanoseconds of the wall clock)."""


class ProbeSocket:
    """A UDP socket with the number of the node's data port."""

    def __init__(self, host: str, port: int, arrived: Arrived) -> None:
        """OSError if it cannot be had."""
        self._arrived = arrived
        self.overrun = 0
        """Datagrams that this socket had no room for, since it was opened."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
            for option in (_SO_TIMESTAMPNS, _SO_RXQ_OVFL):
                self._socket.setsockopt(socket.SOL_SOCKET, option, 1)
            self._socket.bind((host, port))
        except OSError:
            self._socket.close()
            raise
        asyncio.get_running_loop().add_reader(self._socket, self._read)

    def send(self, data: bytes, address: tuple[str, int]) -> bool:
        """Hand it to the kernel; False if there is no room for it now."""
        try:
            self._socket.sendto(data, address)
        except OSError:  # a full queue, or the echo of an unreachable neighbour
            return False
        return True

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._socket)
        self._socket.close()

    def _read(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                data, said, _, where = self._socket.recvmsg(_LONGEST, 256)
            except BlockingIOError:
                return
            except OSError:  # what an earlier datagram met at its receiver
                continue
            when = time.time_ns()
            for _, kind, value in said:
                if kind == _SO_TIMESTAMPNS and len(value) == _TIMESPEC.size:
                    seconds, nanoseconds = _TIMESPEC.unpack(value)
                    when = seconds * 10**9 + nanoseconds
                elif kind == _SO_RXQ_OVFL and len(value) == _COUNT.size:
                    self.overrun = _COUNT.unpack(value)[0]
            self._arrived(data, where, when)
