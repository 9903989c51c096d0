"""The data connections as the kernel counts them: `ss -tine`, read at the end of a run, before the links close.

    ESTAB 0 0 127.0.0.1:35916 127.0.0.1:49715 ino:442197 ...
             ts sack ... bytes_sent:100000 bytes_retrans:305 bytes_received:17 segs_out:5 segs_in:3 retrans:0/1 ...

A connection has two ends, and both see it. Only the end that opened it counts it here: what it sent are messages, what
it received are receipts, the segments out and in are all packets of the connection, pure ACKs included.
Retransmissions are those of the messages' direction: a sender alone knows what it sent again.
A connection belongs to the link whose receiver has its far end's address. Those that broke during the run are gone
by then: `connections` says how many were counted.
"""

import asyncio
import socket
import subprocess
from collections.abc import Mapping, Set
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from pathlib import Path

from contract.counters import SocketCounts

_COMMAND = ("ss", "-tineH")
_PATIENCE_S = 4.0
_DIGITS = 18
"""Longer numbers are no counters: 64 bits hold these."""


@dataclass(frozen=True, slots=True)
class Connection:
    """One end of a TCP connection."""

    inode: int
    peer: tuple[str, int]
    """Address and port of the other end; IPv4 as such, also where a socket of IPv6 speaks it."""
    counts: SocketCounts


async def count_sockets(receivers: Mapping[int, str], but: Set[int] = frozenset()) -> dict[int, SocketCounts] | None:
    """By receiver, of the connections this process has opened to its `host:port`; None where `ss` does not answer.

    `but`: sockets that do not count."""
    try:
        said = await asyncio.to_thread(
            subprocess.run, _COMMAND, capture_output=True, text=True, errors="replace", timeout=_PATIENCE_S, check=True
        )
        inodes = own_inodes() - but
    except (OSError, subprocess.SubprocessError):
        return None
    own = [found for found in parse(said.stdout) if found.inode in inodes]
    ends = {receiver: await _resolve(address) for receiver, address in receivers.items()}
    return {
        receiver: sum((found.counts for found in own if found.peer in ends[receiver]), SocketCounts())
        for receiver in receivers
    }


def parse(text: str) -> list[Connection]:
    """The connections in what `ss -tineH` printed; lines it cannot read are left out, counters it lacks are zero."""
    found = (_connection(words) for words in _sockets(text))
    return [connection for connection in found if connection is not None]


def _connection(words: list[str]) -> Connection | None:
    """From state, two queues, two addresses, and what is said of the socket as `name:value`."""
    said = dict(word.split(":", 1) for word in words[5:] if ":" in word)
    if len(words) < 5 or "ino" not in said:
        return None
    (_, local_port), (peer_host, peer_port) = (_end(address) for address in words[3:5])
    if local_port is None or peer_port is None:
        return None

    def counter(name: str) -> int:
        return _number(said.get(name, "").rpartition("/")[2]) or 0

    counts = SocketCounts(
        connections=1,
        bytes_sent=counter("bytes_sent"),
        bytes_received=counter("bytes_received"),
        segments_out=counter("segs_out"),
        segments_in=counter("segs_in"),
        retransmitted=counter("retrans"),
        retransmitted_bytes=counter("bytes_retrans"),
    )
    return Connection(counter("ino"), (peer_host, peer_port), counts)


def _sockets(text: str) -> list[list[str]]:
    """The words of each socket: a line that begins with a blank goes on with the one before it."""
    sockets: list[list[str]] = []
    for line in text.splitlines():
        if line[:1].isspace() and sockets:
            sockets[-1] += line.split()
        else:
            sockets.append(line.split())
    return sockets


def _end(address: str) -> tuple[str, int | None]:
    host, _, port = address.rpartition(":")
    return _plain(host.strip("[]")), _number(port)


def _plain(host: str) -> str:
    """`::ffff:10.0.0.1` is 10.0.0.1; a name stays a name."""
    try:
        found = ip_address(host)
    except ValueError:
        return host
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return str(mapped or found)


async def _resolve(address: str) -> set[tuple[str, int]]:
    """The ends that `host:port` can mean; none if nobody knows the name."""
    host, _, port = address.rpartition(":")
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return set()
    return {(_plain(str(end[0])), int(port)) for *_, end in found}


def _number(word: str) -> int | None:
    return int(word) if word.isascii() and word.isdigit() and len(word) <= _DIGITS else None


def own_inodes() -> set[int]:
    """Of the sockets this process has open."""
    inodes = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            kind, _, inode = str(descriptor.readlink()).partition(":")
        except FileNotFoundError:  # closed meanwhile
            continue
        if kind == "socket" and (number := _number(inode.strip("[]"))) is not None:
            inodes.add(number)
    return inodes
