"""On this machine's kernel, between two containers of the node image: what is asked for is what packets meet."""

import json
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.harness import docker

pytestmark = [pytest.mark.requires("docker"), pytest.mark.xdist_group("containers"), pytest.mark.timeout(200)]

PEER = (Path(__file__).parent / "container_peer.py").read_text()
HARDENED = ("--cap-drop=ALL", "--cap-add=NET_ADMIN", "--read-only", "--security-opt=no-new-privileges")
WAIT_S = 40
PAYLOAD = 1448 / 1514
"""Of a full Ethernet frame, with TCP's time stamps."""


@dataclass(frozen=True)
class Place:
    id: str
    address: str

    def do(self, *words: object) -> str:
        """What container_peer.py prints there."""
        return docker("exec", self.id, "python", "-c", PEER, *map(str, words), seconds=WAIT_S).stdout

    def shape(self, peer: "Place", **wishes: float) -> dict[str, Any]:
        """What the kernel there then holds, and by which mechanism."""
        held: dict[str, Any] = json.loads(self.do("shape", peer.address, json.dumps(wishes)))
        return held

    @contextmanager
    def listening(self, *words: object) -> Iterator["Listener"]:
        """Something that names its port first and prints its result in the end."""
        command = ["docker", "exec", "--interactive", self.id, "python", "-c", PEER, *map(str, words)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield Listener(process, int(process.stdout.readline()))
            finally:
                process.kill()


@dataclass(frozen=True)
class Listener:
    process: "subprocess.Popen[str]"
    port: int

    def result(self) -> float:
        return float(self.process.communicate("enough\n", timeout=WAIT_S)[0])


@pytest.fixture(scope="module")
def places() -> Iterator[tuple[Place, Place]]:
    """Two containers on a network of their own, with the rights of a node and no more."""
    name = f"pame-test-{uuid.uuid4().hex[:8]}"
    docker("network", "create", "--internal", name)
    ids: list[str] = []
    try:
        for _ in range(2):
            run = docker(
                "run", "--detach", "--rm", "--network", name, *HARDENED, "--entrypoint=sleep", "pame-node", "300"
            )
            ids.append(run.stdout.strip())
        entries = json.loads(docker("inspect", *ids).stdout)
        west, east = (Place(e["Id"], e["NetworkSettings"]["Networks"][name]["IPAddress"]) for e in entries)
        yield west, east
    finally:
        if ids:
            docker("rm", "--force", *ids)
        docker("network", "rm", name)


@pytest.fixture
def ends(places: tuple[Place, Place]) -> Iterator[tuple[Place, Place]]:
    """The same, unshaped before and after."""
    west, east = places
    try:
        yield west, east
    finally:
        west.do("heal", east.address)
        east.do("heal", west.address)


def test_htb_gives_a_link_between_containers_its_rate(ends: tuple[Place, Place]) -> None:
    """The best of three: a busy machine makes a link slower, and nothing may make it faster."""
    west, east = ends
    rate, size = 10e6, 2_000_000
    mechanism, kernel = west.shape(east, rate_bps=rate)["rate"]
    assert (mechanism, kernel) == ("htb", pytest.approx(rate, rel=0.003))
    measured: list[float] = []
    while len(measured) < 3 and not any(abs(found / rate - 1) < 0.15 for found in measured):
        with east.listening("receive", size) as far:
            assert west.do("stream", east.address, far.port, size) == "sent\n"
            measured.append(far.result() / PAYLOAD)
        assert measured[-1] < 1.15 * rate
    assert any(abs(found / rate - 1) < 0.15 for found in measured), measured


def test_nothing_gets_through_a_cut_between_containers_until_it_heals(ends: tuple[Place, Place]) -> None:
    west, east = ends
    with east.listening("count") as letters, east.listening("receive", 1000) as door:
        for here, there in ((west, east), (east, west)):
            assert here.shape(there, cut=True, cut_in=True) == {"cut": ["nft", 1.0], "cut_in": ["nft", 1.0]}
        west.do("post", east.address, letters.port, 100)
        assert west.do("stream", east.address, door.port, 1000) == "nobody answers\n"
        west.do("heal", east.address)
        east.do("heal", west.address)
        west.do("post", east.address, letters.port, 17)
        assert west.do("stream", east.address, door.port, 1000) == "sent\n"
        assert letters.result() == 17


def test_nft_loses_a_share_of_the_packets_between_containers(ends: tuple[Place, Place]) -> None:
    """4000 packets, 10 %: 400 lost, standard deviation 19; five of them: a false alarm in 1.7 million runs."""
    west, east = ends
    assert east.shape(west, loss_in=0.1) == {"loss_in": ["nft", 0.1]}
    with east.listening("count") as letters:
        west.do("post", east.address, letters.port, 4000)
        lost = 4000 - letters.result()
    assert abs(lost - 400) < 5 * 19
