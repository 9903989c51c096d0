"""Cables between private network namespaces."""

import ctypes
import os
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

_CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)

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
        for place, hosts in ((west, (1,)), (east, (2, 3, 4))):
            place.run("sysctl", "-qw", f"net.ipv6.conf.{place.interface}.disable_ipv6=1")
            for host in hosts:
                place.run("ip", "address", "add", f"10.9.0.{host}/24", "dev", place.interface)
            place.run("ip", "link", "set", place.interface, "up")
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
