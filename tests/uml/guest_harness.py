"""Hosts with an interface each, joined by cables, and what their packets go through, measured by UDP.

All hosts are network namespaces of this one process: a socket keeps the namespace in which it was made, so that one
thread sends here and receives there, by one clock. The kernel stamps arrivals: a slow reader spoils no figure.
"""

import ctypes
import os
import select
import socket
import struct
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

INTERFACE = "data"
HEADERS = 14 + 20 + 8
"""Ethernet, IP and UDP: what a queue counts beside the datagram."""
Journeys = list[tuple[float, float]]
"""When each datagram that arrived was sent, and when it arrived, in the order of sending."""
_OWN = Path("/proc/thread-self/ns/net")
_CLONE_NEWNET = 0x40000000
_SO_SNDBUFFORCE, _SO_RCVBUFFORCE, _SO_TIMESTAMPNS = 32, 33, 35
_BUFFER_BYTES = 16 << 20
_PORT = 5000
_PROBE = struct.Struct("!II")
_STAMP = struct.Struct("qq")
_SILENCE_S = 2.0
_IP_S = 30.0


@dataclass(frozen=True)
class Host:
    """A namespace, as an open file, and a socket in it."""

    number: int
    namespace: int
    udp: socket.socket

    @property
    def address(self) -> str:
        return _address(self.number)


def two_hosts() -> list[Host]:
    """A cable from one to the other."""
    here, there = _new_namespace(), _new_namespace()
    with inside(here):
        _ip(f"link add {INTERFACE} type veth peer name {INTERFACE} netns {_path(there)}")
    return _introduced([_host(0, here), _host(1, there)])


def hosts_on_a_bridge(count: int) -> list[Host]:
    """A cable from each to a bridge, which is where this process is."""
    namespaces = [_new_namespace() for _ in range(count)]
    commands = ["link add bridge type bridge stp_state 0 forward_delay 0", "link set bridge up"]
    for number, namespace in enumerate(namespaces):
        commands += [
            f"link add port-{number} type veth peer name {INTERFACE} netns {_path(namespace)}",
            f"link set port-{number} master bridge up",
        ]
    _ip(*commands)
    return _introduced([_host(number, namespace) for number, namespace in enumerate(namespaces)])


@contextmanager
def inside(namespace: int) -> Iterator[None]:
    """What this thread does, it does there; the programs it starts, too."""
    with _OWN.open() as home:
        _must(_LIBC.setns(namespace, _CLONE_NEWNET))
        try:
            yield
        finally:
            _must(_LIBC.setns(home.fileno(), _CLONE_NEWNET))


def journeys(
    links: Sequence[tuple[Host, Host]], count: int = 1, size: int = _PROBE.size, pause_s: float = 0.0
) -> dict[tuple[int, int], Journeys]:
    """Send so many datagrams over each of these links, all links in turn, and wait until no more come."""
    sent: dict[tuple[int, int, int], float] = {}
    for sequence in range(count):
        for sender, receiver in links:
            datagram = _PROBE.pack(sender.number, sequence).ljust(size, b"\0")
            sent[sender.number, receiver.number, sequence] = time.time()
            sender.udp.sendto(datagram, (receiver.address, _PORT))
        time.sleep(pause_s)
    arrived = _arrivals({receiver.udp: receiver.number for _, receiver in links}, len(sent))
    found: dict[tuple[int, int], Journeys] = {(sender.number, receiver.number): [] for sender, receiver in links}
    for key in sorted(arrived):
        found[key[0], key[1]].append((sent[key], arrived[key]))
    return found


def _arrivals(receivers: dict[socket.socket, int], most: int) -> dict[tuple[int, int, int], float]:
    """By sender, receiver and sequence: all, or those that came before it was silent."""
    found: dict[tuple[int, int, int], float] = {}
    while len(found) < most:
        readable, _, _ = select.select(list(receivers), [], [], _SILENCE_S)
        if not readable:
            break
        for udp in readable:
            datagram, notes, _, _ = udp.recvmsg(2048, socket.CMSG_SPACE(_STAMP.size))
            sender, sequence = _PROBE.unpack_from(datagram)
            seconds, nanoseconds = _STAMP.unpack(notes[0][2])
            found[sender, receivers[udp], sequence] = seconds + nanoseconds * 1e-9
    return found


def _host(number: int, namespace: int) -> Host:
    with inside(namespace):
        _ip(f"address add {_address(number)}/24 dev {INTERFACE}", f"link set {INTERFACE} up")
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    udp.setsockopt(socket.SOL_SOCKET, _SO_SNDBUFFORCE, _BUFFER_BYTES)
    udp.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
    udp.bind((_address(number), _PORT))
    return Host(number, namespace, udp)


def _introduced(hosts: list[Host]) -> list[Host]:
    """Everybody has everybody's hardware address: no datagram waits for it."""
    journeys([(sender, receiver) for sender in hosts for receiver in hosts if sender is not receiver])
    return hosts


def _new_namespace() -> int:
    with _OWN.open() as home:
        _must(_LIBC.unshare(_CLONE_NEWNET))
        made = os.open(_OWN, os.O_RDONLY)
        _must(_LIBC.setns(home.fileno(), _CLONE_NEWNET))
    return made


def _address(number: int) -> str:
    return f"10.7.0.{1 + number}"


def _path(namespace: int) -> str:
    return f"/proc/{os.getpid()}/fd/{namespace}"


def _ip(*commands: str) -> None:
    subprocess.run(("ip", "-batch", "-"), input="\n".join(commands), check=True, text=True, timeout=_IP_S)


_LIBC = ctypes.CDLL(None, use_errno=True)


def _must(said: int) -> None:
    if said != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
