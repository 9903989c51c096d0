"""Cables between private network namespaces."""

import ctypes
import json
import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

_CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)
FORCE_BUFFER = 33  # SO_RCVBUFFORCE
WAIT_S = 20.0

Result = TypeVar("Result")


@dataclass(frozen=True)
class Place:
    """A network namespace with one interface."""

    holder: int
    interface: str

    def run(self, *command: str, text: str = "", check: bool = True) -> subprocess.CompletedProcess[str]:
        entered = ("nsenter", "--target", str(self.holder), "--net", *command)
        done = subprocess.run(entered, input=text, capture_output=True, text=True, timeout=30, check=False)
        assert done.returncode == 0 or not check, f"{command}: {done.stderr}"
        return done

    def open(self, *hosts: int) -> None:
        """It becomes these hosts of 10.9.0.0/24."""
        self.run("sysctl", "-qw", f"net.ipv6.conf.{self.interface}.disable_ipv6=1")
        for host in hosts:
            self.run("ip", "address", "add", f"10.9.0.{host}/24", "dev", self.interface)
        self.run("ip", "link", "set", self.interface, "up")

    def do(self, work: Callable[[], Result]) -> Result:
        """Python in there: a thread of its own enters the namespace; sockets that it opens stay in it."""

        def entered() -> Result:
            descriptor = os.open(f"/proc/{self.holder}/ns/net", os.O_RDONLY)
            try:
                assert _LIBC.setns(descriptor, _CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
            finally:
                os.close(descriptor)
            return work()

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(entered).result(timeout=60)

    def receiver(self, host: str, kind: socket.SocketKind) -> socket.socket:
        """Bound to a port of this host; a stream's listens."""

        def make() -> socket.socket:
            made = socket.socket(socket.AF_INET, kind)
            made.setsockopt(socket.SOL_SOCKET, FORCE_BUFFER, 64 << 20)
            made.settimeout(WAIT_S)
            made.bind((host, 0))
            if kind == socket.SOCK_STREAM:
                made.listen()
            return made

        return self.do(make)

    def sender(self, kind: socket.SocketKind) -> socket.socket:
        made = self.do(lambda: socket.socket(socket.AF_INET, kind))
        made.settimeout(WAIT_S)
        return made

    def packets(self) -> dict[int, int]:
        """What went through the queue of each neighbour's link since it was made."""
        leaves = json.loads(self.run("tc", "-j", "-s", "qdisc", "show", "dev", self.interface).stdout)
        numbers = {int(leaf["handle"].rstrip(":") or "0", 16): leaf["packets"] for leaf in leaves}
        return {number - 0x10: packets for number, packets in numbers.items() if number >= 0x10}


@contextmanager
def namespace() -> Iterator[int]:
    """The process that holds a network namespace; both end together."""
    holder = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec cat"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"up\n"
        yield holder.pid
    finally:
        holder.communicate(timeout=30)


@contextmanager
def cable() -> Iterator[tuple[Place, Place]]:
    """10.9.0.1 at one end; 10.9.0.2, .3 and .4 at the other, as if they were three machines."""
    with namespace() as one, namespace() as two:
        west, east = Place(one, "west"), Place(two, "east")
        west.run("ip", "link", "add", "west", "type", "veth", "peer", "name", "east", "netns", str(two))
        west.open(1)
        east.open(2, 3, 4)
        yield west, east


def everything(place: Place) -> str:
    """All that is shaped and filtered, as the tools tell it."""
    commands = (
        ("tc", "qdisc"),
        ("tc", "class", "show", "dev", place.interface),
        ("tc", "filter", "show", "dev", place.interface),
        ("nft", "list", "ruleset"),
        ("ip", "-d", "link"),
    )
    return "".join(place.run(*command).stdout for command in commands)
