"""This machine: which boot of it this is, and what it can carry at all."""

import socket
import time
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_PAYLOAD = bytes(1200)
_AT_ONCE = 32


def boot_id() -> str:
    """Within one boot, all processes read the same clock. Its name; empty where the kernel tells none."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def capacity_bps(seconds: float) -> float:
    """Of datagrams to itself, unshaped, sent and read by one thread as probes are."""
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
