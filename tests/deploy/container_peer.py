"""What a container does in a test of shaping: `python -c THIS shape 10.0.0.2 '{"rate_bps": 1e6}'`, and so on.

Runs in the node image; a test gives the text of this file to the container's Python.
"""

import json
import signal
import socket
import sys
import time

from node.shaping import Kernel
from node.shaping.apply import apply, clear, interface_to
from node.shaping.desired import Desired, Shaped
from pame.links import LinkSpec

HTB_AND_NFT = Kernel(net_admin=True, tc=True, htb=True, nft=True, reasons=(("netem", "not wanted here"),))
FORCE_BUFFER = 33  # SO_RCVBUFFORCE
LONGEST_S = 100
SETTLED_S = 0.3


def shape(peer: str, wishes: str) -> None:
    """Apply what is wanted of the links with a peer; prints what does it, and what the kernel says that it holds."""
    wanted = json.loads(wishes)
    spec = LinkSpec(rate_bps=wanted.pop("rate_bps", float("inf")))
    links = apply(Desired(interface_to(peer), (Shaped(2, peer, spec, **wanted),), seed=7), HTB_AND_NFT).links
    held = {name: links[2][name] for name in ("rate", "cut", "cut_in", "loss_in")}
    print(json.dumps({name: (each.mechanism, each.held) for name, each in held.items() if each.mechanism != "none"}))


def heal(peer: str) -> None:
    clear(interface_to(peer), HTB_AND_NFT)


def count() -> None:
    """Say the port, wait for a line, then print how many datagrams have come."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as letters:
        letters.setsockopt(socket.SOL_SOCKET, FORCE_BUFFER, 64 << 20)
        letters.bind(("", 0))
        print(letters.getsockname()[1], flush=True)
        sys.stdin.readline()
        letters.settimeout(SETTLED_S)
        found = 0
        try:
            while letters.recv(64):
                found += 1
        except TimeoutError:
            print(found)


def post(host: str, port: str, number: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as letters:
        for _ in range(int(number)):
            letters.sendto(b"x", (host, int(port)))


def receive(size: str) -> None:
    """Say the port, take so many bytes of a stream, and print the bits per second after its first ones."""
    with socket.socket() as door:
        door.bind(("", 0))
        door.listen()
        print(door.getsockname()[1], flush=True)
        far, _ = door.accept()
        with far:
            first = len(far.recv(65536))  # the burst lets these pass at once
            began, got = time.monotonic(), 0
            while first + got < int(size) and (piece := far.recv(65536)):
                got += len(piece)
            print(8 * got / (time.monotonic() - began))


def stream(host: str, port: str, size: str) -> None:
    """Connect within a second, or say that nobody answers; then send so many bytes."""
    with socket.socket() as source:
        source.settimeout(1)
        try:
            source.connect((host, int(port)))
        except TimeoutError:
            print("nobody answers")
            return
        source.settimeout(LONGEST_S)
        source.sendall(bytes(int(size)))
        print("sent")


if __name__ == "__main__":
    signal.alarm(LONGEST_S)
    {each.__name__: each for each in (shape, heal, count, post, receive, stream)}[sys.argv[1]](*sys.argv[2:])
