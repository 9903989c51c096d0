"""On this machine's kernel, between two namespaces joined by a cable: what is asked for is what packets meet."""

import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest

from node.shaping import ShapingRefused
from node.shaping.apply import apply, clear, read_back
from node.shaping.desired import Desired, Shaped
from node.shaping.read_back import Applied, differences
from pame.links import LinkSpec
from tests.node.shaping.builders import WITHOUT_NETEM, held_as
from tests.node.shaping.harness import WAIT_S, Place, cable, everything

pytestmark = [pytest.mark.requires("root"), pytest.mark.timeout(120)]

PLAIN = LinkSpec()


@pytest.fixture
def ends() -> Iterator[tuple[Place, Place]]:
    with cable() as both:
        yield both


def shape(place: Place, *links: Shaped, before: Desired | None = None) -> tuple[Desired, Applied]:
    """By htb and nft, also where the kernel could do more."""
    desired = Desired(place.interface, links, seed=7)
    return desired, place.do(lambda: apply(desired, WITHOUT_NETEM, before))


def arrived(sock: socket.socket, patience_s: float) -> list[bytes]:
    """Every datagram, until none has come for so long."""
    sock.settimeout(patience_s)
    found = []
    try:
        while True:
            found.append(sock.recv(2048))
    except TimeoutError:
        return found


def test_htb_gives_a_link_its_rate(ends: tuple[Place, Place]) -> None:
    """The best of three: a busy machine makes a link slower, and nothing may make it faster."""
    west, east = ends
    rate = 8e6
    shape(west, Shaped(2, "10.9.0.2", LinkSpec(rate_bps=rate)))
    with east.receiver("10.9.0.2", socket.SOCK_STREAM) as door:
        measured: list[float] = []
        while len(measured) < 3 and not any(abs(found / rate - 1) < 0.15 for found in measured):
            measured.append(_goodput(west, door, 800_000) * 1514 / 1448)
            assert measured[-1] < 1.15 * rate
    assert any(abs(found / rate - 1) < 0.15 for found in measured), measured


def _goodput(west: Place, door: socket.socket, size: int) -> float:
    """Bits per second from the first bytes on, which the burst lets pass at once."""
    with west.sender(socket.SOCK_STREAM) as source:
        source.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * size)
        source.connect(door.getsockname())
        far, _ = door.accept()
        with far:
            far.settimeout(WAIT_S)
            source.sendall(bytes(size))
            count = len(far.recv(65536))
            start, got = time.monotonic(), 0
            while count + got < size:
                got += len(far.recv(65536))
            return 8 * got / (time.monotonic() - start)


def test_a_cut_is_silent_and_heals(ends: tuple[Place, Place]) -> None:
    west, east = ends
    with (
        east.receiver("10.9.0.2", socket.SOCK_DGRAM) as letters,
        east.receiver("10.9.0.2", socket.SOCK_STREAM) as door,
        west.sender(socket.SOCK_DGRAM) as post,
        west.sender(socket.SOCK_STREAM) as stream,
        west.sender(socket.SOCK_STREAM) as caller,
    ):
        stream.connect(door.getsockname())
        far, _ = door.accept()
        whole = [shape(place, Shaped(n, host, PLAIN))[0] for place, n, host in _both(ends)]
        cut = [
            shape(place, Shaped(n, host, PLAIN, cut=True, cut_in=True), before=before)
            for (place, n, host), before in zip(_both(ends), whole, strict=True)
        ]
        for _, applied in cut:
            [held] = applied.links.values()
            assert held_as(held["cut"]) == held_as(held["cut_in"]) == ("nft", 1.0, 1.0)
        with far:
            post.sendto(b"lost", letters.getsockname())
            stream.sendall(b"late")
            caller.settimeout(0.5)
            with pytest.raises(TimeoutError):
                caller.connect(door.getsockname())
            assert arrived(letters, 0.1) == []
            far.setblocking(False)
            with pytest.raises(BlockingIOError):
                far.recv(16)
            for (place, _, _), before, (now, _) in zip(_both(ends), whole, cut, strict=True):
                place.do(partial(apply, before, WITHOUT_NETEM, now))
            far.settimeout(WAIT_S)
            assert far.recv(16) == b"late"
            post.sendto(b"healed", letters.getsockname())
            assert arrived(letters, 1.0) == [b"healed"]


def _both(ends: tuple[Place, Place]) -> list[tuple[Place, int, str]]:
    """Each end with its neighbour."""
    west, east = ends
    return [(west, 2, "10.9.0.2"), (east, 1, "10.9.0.1")]


def test_a_cut_of_one_link_leaves_the_way_back_open(ends: tuple[Place, Place]) -> None:
    west, east = ends
    shape(east, Shaped(1, "10.9.0.1", PLAIN, cut_in=True))
    with east.receiver("10.9.0.2", socket.SOCK_DGRAM) as far, west.receiver("10.9.0.1", socket.SOCK_DGRAM) as near:
        near.sendto(b"there", far.getsockname())
        far.sendto(b"back", near.getsockname())
        assert arrived(near, 0.5) == [b"back"]
        assert arrived(far, 0.1) == []


def test_nft_loses_the_share_of_packets_that_was_asked_for(ends: tuple[Place, Place]) -> None:
    """4000 packets, 20 %: 800 lost, standard deviation 25.3; five of them: a false alarm in 1.7 million runs."""
    west, east = ends
    _, applied = shape(east, Shaped(1, "10.9.0.1", PLAIN, loss_in=0.2))
    assert held_as(applied.links[1]["loss_in"]) == ("nft", 0.2, 0.2)
    with east.receiver("10.9.0.2", socket.SOCK_DGRAM) as far, west.sender(socket.SOCK_DGRAM) as post:
        for _ in range(4000):
            post.sendto(b"x", far.getsockname())
        lost = 4000 - len(arrived(far, 1.0))
    assert abs(lost - 800) < 5 * 25.3


def test_a_change_touches_only_its_link(ends: tuple[Place, Place]) -> None:
    west, east = ends
    one, other = Shaped(2, "10.9.0.2", LinkSpec(rate_bps=1e8)), Shaped(3, "10.9.0.3", LinkSpec(rate_bps=1e8))
    before, _ = shape(west, one, other)
    with (
        east.receiver("10.9.0.2", socket.SOCK_DGRAM) as far_one,
        east.receiver("10.9.0.3", socket.SOCK_DGRAM) as far_other,
        west.sender(socket.SOCK_DGRAM) as post,
    ):
        counts = []
        slower = replace(one, spec=LinkSpec(rate_bps=1e6))
        for change in (None, (slower, other), (other,), (slower, other)):
            if change:
                before, _ = shape(west, *change, before=before)
            for far in (far_one, far_other):
                post.sendto(b"x", far.getsockname())
            assert arrived(far_other, 0.5) == [b"x"]
            counts.append(west.packets())
    assert [count[3] for count in counts] == [1, 2, 3, 4]
    assert [count.get(2) for count in counts] == [1, 2, None, 1]


def test_what_goes_to_nobody_in_particular_is_never_shaped(ends: tuple[Place, Place]) -> None:
    """The link is full for 50 seconds; ARP and a third party (DNS, control) do not notice."""
    west, east = ends
    shape(west, Shaped(2, "10.9.0.2", LinkSpec(rate_bps=8e3)))
    with (
        east.receiver("10.9.0.2", socket.SOCK_DGRAM) as full,
        east.receiver("10.9.0.4", socket.SOCK_DGRAM) as third,
        west.sender(socket.SOCK_DGRAM) as patient,
        west.sender(socket.SOCK_DGRAM) as post,
    ):
        for _ in range(50):
            patient.sendto(bytes(1000), full.getsockname())
        west.run("ip", "neighbour", "flush", "dev", "west")
        for _ in range(50):
            post.sendto(bytes(1000), third.getsockname())
        post.sendto(b"who has 10.9.0.2?", full.getsockname())
        assert len(arrived(third, 2.0)) == 50
        assert len(arrived(full, 0.1)) < 40
    found = west.run("ip", "neighbour", "show", "dev", "west").stdout
    assert "10.9.0.2 lladdr" in found
    assert "10.9.0.4 lladdr" in found
    assert west.packets()[2] < 40


def test_what_is_read_back_is_what_was_asked_for(ends: tuple[Place, Place]) -> None:
    west, _ = ends
    spec = LinkSpec(delay_s=0.05, rate_bps=12_345_678, loss=0.01)
    desired, applied = shape(west, Shaped(2, "10.9.0.2", spec, loss_in=0.125, cut=True), Shaped(3, "10.9.0.3", PLAIN))
    shaped, plain = applied.links.values()
    assert applied.single_packets
    assert shaped["rate"].mechanism == "htb"
    assert shaped["rate"].held == pytest.approx(12_345_678, rel=0.003)
    assert held_as(shaped["delay"]) == ("in-process", 0.05, None)
    assert held_as(shaped["loss"]) == ("nft", 0.01, None)
    assert held_as(shaped["loss_in"]) == ("nft", 0.125, 0.125)
    assert held_as(shaped["cut"]) == ("nft", 1.0, 1.0)
    assert held_as(plain["rate"]) == ("none", float("inf"), float("inf"))
    assert held_as(plain["loss_in"]) == ("none", 0.0, 0.0)
    west.run("tc", "class", "change", "dev", "west", "parent", "1:", "classid", "1:12", "htb", "rate", "1mbit")
    west.run("nft", "flush", "set", "ip", "pame", "cut_out")
    apart = differences(west.do(lambda: read_back(desired, WITHOUT_NETEM)))
    assert [words.split(":")[0] for words in apart] == ["rate of the link with node 2", "cut of the link with node 2"]


def test_clear_leads_back_to_where_it_began_and_may_be_repeated(ends: tuple[Place, Place]) -> None:
    west, _ = ends
    before = everything(west)
    shape(west, Shaped(2, "10.9.0.2", LinkSpec(rate_bps=1e6, loss=0.1), cut=True, loss_in=0.5))
    assert everything(west) != before
    for _ in range(2):
        west.do(lambda: clear("west", WITHOUT_NETEM))
        assert everything(west) == before


def test_a_kernel_that_refuses_is_quoted_in_one_line(ends: tuple[Place, Place]) -> None:
    west, _ = ends
    nowhere = Desired("nowhere", (Shaped(2, "10.9.0.2", PLAIN),), 0)
    with pytest.raises(ShapingRefused) as refused:
        west.do(lambda: apply(nowhere, WITHOUT_NETEM))
    assert str(refused.value) == (
        "nowhere cannot be shaped: tc answers 'qdisc replace dev nowhere root pfifo' with "
        "'Cannot find device \"nowhere\"'; `pame doctor` tells what is missing"
    )
