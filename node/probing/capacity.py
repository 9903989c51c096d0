"""What this machine can carry: datagrams to itself, unshaped, sent and read by one thread as probes are."""

import socket
import time

_PAYLOAD = bytes(1200)
_AT_ONCE = 32


def capacity_bps(seconds: float) -> float:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        receiver.bind(("127.0.0.1", 0))
        receiver.setblocking(False)
        sender.connect(receiver.getsockname())
        received, began = 0, time.perf_counter()
        while (spent := time.perf_counter() - began) < seconds:
            for _ in range(_AT_ONCE):
                sender.send(_PAYLOAD)
            received += _waiting(receiver)
        return 8 * received / spent


def _waiting(receiver: socket.socket) -> int:
    """The bytes that have come."""
    total = 0
    for _ in range(_AT_ONCE):
        try:
            total += len(receiver.recv(2048))
        except BlockingIOError:
            break
    return total
