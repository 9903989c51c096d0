"""Proof: what the nodes count, plus the framing model, is what the interface counters say.

Whole runs of two nodes in private network namespaces: on one loopback, or at the two ends of an Ethernet cable (veth).
The control plane goes over a Unix socket, so that only the data plane is on the interfaces.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from orchestrator.control import ControlPlane, NetworkRunState
from orchestrator.control.recorded_run import new_number
from orchestrator.control.summary import network_summary
from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import make_network_setting
from orchestrator.results import Ending, RunFolder, Status
from orchestrator.results.typed_json import to_json
from pame.framing import ETHERNET, LOOPBACK, Interface
from tests.harness import Watcher
from tests.node.shaping.harness import namespace
from tests.orchestrator.backends.harness import Relay, all_together

ROOT = Path(__file__).parents[3]
LARGE = 8 * 1024
PAME = {"kind": "pame", "participation": 1.0, "support": 0.2, "step": {"kind": "fixed", "eta": 1e-5}}
DENSE = {"kind": "dpsgd", "eta": 1e-7}
SIZES = {
    "300 B": (PAME, 180, 150),
    "8 KiB": (DENSE, 1024, 100),
    "80 KiB": (DENSE, 10 * 1024, 60),
    "1 MiB": (DENSE, 128 * 1024, 20),
}
"""Algorithm, n, iterations."""

pytestmark = [pytest.mark.requires("root"), pytest.mark.timeout(120)]


@dataclass(frozen=True)
class Seat:
    """Where a node runs: a namespace, held by a process; its address; the interface its data goes over."""

    holder: int
    host: str
    interface: str

    def sent(self) -> int:
        """Bytes that left over the interface so far, by /proc/net/dev."""
        for line in Path(f"/proc/{self.holder}/net/dev").read_text().splitlines():
            name, _, counters = line.partition(":")
            if name.strip() == self.interface:
                return int(counters.split()[8])
        raise AssertionError(f"no interface {self.interface}")


@contextmanager
def loopback() -> Iterator[list[Seat]]:
    with namespace() as holder:
        yield [Seat(holder, "127.0.0.1", "lo")] * 2


@contextmanager
def cable() -> Iterator[list[Seat]]:
    """Packets of at most 1500 bytes: without segmentation offload, counters see what a wire would carry."""
    with namespace() as one, namespace() as two:
        _do(f"nsenter --target {one} --net ip link add west type veth peer name east netns {two}")
        for holder, interface, host in ((one, "west", "10.9.0.1"), (two, "east", "10.9.0.2")):
            for command in (
                f"sysctl -qw net.ipv6.conf.{interface}.disable_ipv6=1",
                f"ip address add {host}/24 dev {interface}",
                f"ip link set {interface} gso_max_segs 1 up",
            ):
                _do(f"nsenter --target {holder} --net {command}")
        yield [Seat(one, "10.9.0.1", "west"), Seat(two, "10.9.0.2", "east")]


PLACES = {"local": (loopback, LOOPBACK), "netns": (cable, ETHERNET)}


@pytest.mark.parametrize("backend", PLACES)
def test_application_bytes_and_the_framing_model_add_up_to_the_interface_counters(tmp_path: Path, backend: str) -> None:
    open_places, interface = PLACES[backend]
    with open_places() as seats:
        runs = asyncio.run(_runs(seats, tmp_path))
    apart = [
        words for size, (wire, counted) in runs.items() for words in _disagreements(size, wire, counted, interface)
    ]
    assert apart == []


def _disagreements(size: str, wire: dict[str, Any], counted: int, interface: Interface) -> list[str]:
    """Where the model, `ss` and the interface counters are further apart than they may be."""
    model, sockets, messages = wire["model"], wire["sockets"], wire["messages"]
    assert wire["interface"] == interface.name
    assert messages == 2 * SIZES[size][2]
    assert sockets["connections"] == wire["connections"] == 2
    messages = sum(model[kind] for kind in ("values", "support", "stars", "framing", "protobuf"))
    again = sockets["retransmitted_bytes"] + sockets["retransmitted"] * interface.header
    ratios = {
        "model to interface": ((model["total"] + again) / counted, 0.03 if messages / messages >= LARGE else 0.10),
        "ss to model, payload": (wire["ratios"]["stream"], 0.02),
        "ss to interface": (wire["counted"] / counted, 0.03),
    }
    return [f"{size}: {what} {ratio:.4f}" for what, (ratio, bound) in ratios.items() if abs(ratio - 1) > bound]


async def _runs(seats: list[Seat], folder: Path) -> dict[str, tuple[dict[str, Any], int]]:
    """One run per size with a node on each seat: the byte account as in summary.json, and what the interfaces say."""
    control, relay = ControlPlane("127.0.0.1"), Relay()
    await control.open()
    entrance = await relay.open(control.address, folder / "control")
    nodes = [_start(number, seat, entrance, control.token) for number, seat in enumerate(seats)]
    found = {}
    try:
        for size in SIZES:
            experiment, before = _experiment(size), sum(seat.sent() for seat in set(seats))
            setting = make_network_setting(experiment, folder)
            with RunFolder(folder / size) as files:
                run = NetworkRunState(new_number(), experiment, setting, files, control.members, Watcher())
                ending = await _while_alive(nodes, asyncio.create_task(control.go(run)))
            assert ending.status is Status.FINISHED, ending.reason
            wire = to_json(network_summary(run, 1.0, ending.seconds).wire)
            found[size] = wire, sum(seat.sent() for seat in set(seats)) - before
    finally:
        await control.close("no more runs")
        for node in nodes:
            await asyncio.to_thread(_end, node)
        await relay.close()
    assert [node.returncode for node in nodes] == [0, 0]
    return found


async def _while_alive(nodes: "list[subprocess.Popen[bytes]]", going: "asyncio.Task[Ending]") -> Ending:
    """A node that cannot start should fail the test at once."""
    while not going.done():
        assert [node.poll() for node in nodes] == [None, None]
        await asyncio.wait((going,), timeout=0.2)
    return going.result()


def _end(node: "subprocess.Popen[bytes]") -> None:
    try:
        node.wait(20)
    except subprocess.TimeoutExpired:
        node.kill()
        node.wait()


def _experiment(size: str) -> Experiment:
    algorithm, n, iterations = SIZES[size]
    problem = {"kind": "linear", "n": n, "samples": 4, "test_samples": 4}
    return all_together(2, problem=problem, algorithm=algorithm, period=1, stop={"iterations": iterations})


def _start(number: int, seat: Seat, entrance: str, token: str) -> "subprocess.Popen[bytes]":
    command = (
        f"nsenter --target {seat.holder} --net {sys.executable} -m node --orchestrator {entrance} --token {token} "
        f"--member node-{number} --host {seat.host}"
    )
    return subprocess.Popen(command.split(), cwd=ROOT)


def _do(command: str) -> None:
    subprocess.run(command.split(), check=True, capture_output=True)
