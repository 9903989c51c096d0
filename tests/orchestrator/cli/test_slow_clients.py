"""A flood of connections that say nothing, at every port of a real network of processes with 1,024 descriptors each."""

import json
import resource
import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from orchestrator.backends.processes import NodeProcesses
from tests.command import BOUND_S, begun, only_run, wait_for
from tests.orchestrator.cli.harness import Serve
from tests.orchestrator.harness import summary_of

pytestmark = pytest.mark.usefixtures("token")

DESCRIPTORS = 1024
AGAIN_S = 30.0
"""So soon after a flood every port answers again; seconds, on a machine that may have much else to do."""
EACH = 1200
"""So many connections to each port; more than any process here may have open."""
PORTS = 5
NODES = 4
EXPERIMENT = """
name: flooded
nodes: 4
topology: {kind: complete}
problem: {kind: linear, n: 30, samples: 20, test_samples: 10}
algorithm: {kind: pame, participation: 1.0, support: 0.5}
period: 1
compute: {step: 10ms}
exchange: {patience: 180s}
evaluate: {every: 100}
stop: {iterations: 1000, seconds: 180s}
"""


@pytest.fixture(autouse=True)
def _few_descriptors() -> Iterator[None]:
    """For all processes that the test starts, and for itself until it floods them."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < PORTS * EACH + 500:
        pytest.skip("this machine does not let a test open 6,500 files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, most))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


@contextmanager
def flood(ports: list[int]) -> Iterator[None]:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (PORTS * EACH + 500, most))
    silent = []
    try:
        for port in ports:
            for _ in range(EACH):
                client = socket.socket()
                silent.append(client)
                client.setblocking(False)
                client.connect_ex(("127.0.0.1", port))
        yield
    finally:
        for client in silent:
            client.close()


def ask(url: str) -> str:
    """As Prometheus and a page do: who was pushed out by the crowd behind asks again."""

    def answer() -> str:
        with suppress(OSError), urllib.request.urlopen(url, timeout=20) as found:
            return str(found.read().decode())
        return ""

    return str(wait_for(answer))


def port_of(address: str) -> int:
    return int(address.rsplit(":", 1)[1])


@pytest.mark.timeout(400)
def test_a_run_under_way_does_not_notice_a_flood_of_silent_connections(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "flooded.yaml").write_text(EXPERIMENT)
    service = serve("--page-port", 0)
    listening = service.wait_for("listening")

    def live() -> Any:
        return json.loads(ask(f"{listening['page']}/api/live"))

    with NodeProcesses(tmp_path / "nodes.log") as nodes:
        service.join(nodes, range(NODES))
        wait_for(lambda: len(service.events("member_joined")) == NODES)
        targets = [group["targets"][0] for group in json.loads(ask(f"{listening['page']}/sd/nodes"))]
        metrics = [listening["metrics"], *targets]
        member = service.wait_for("member_joined")["address"]
        ports = [service.address, listening["metrics"], listening["page"], member, targets[0]]

        with begun(tmp_path, "run", "flooded.yaml", "--on", service.address) as run:
            wait_for(lambda: (now := live())["phase"] == "running" and now["run"]["median"] >= 20)
            with flood([port_of(address) for address in ports]):
                for address in metrics:
                    assert "pame_build_info" in ask(f"http://{address}/metrics")
                before = live()["run"]["median"]
                wait_for(lambda: (now := live())["phase"] != "running" or now["run"]["median"] > before)
                for pid in (service.process.pid, *nodes.alive().values()):
                    assert len(list(Path(f"/proc/{pid}/task").iterdir())) < 40
                    assert len(list(Path(f"/proc/{pid}/fd").iterdir())) < DESCRIPTORS
                said = run.communicate(timeout=BOUND_S)
                assert run.returncode == 0, said
            over = time.monotonic()
            for address in metrics:
                assert "pame_build_info" in ask(f"http://{address}/metrics")
            assert time.monotonic() - over < AGAIN_S
        assert len(nodes.alive()) == NODES
    assert service.end() == 0
    summary = summary_of(only_run(tmp_path))
    assert (summary["status"], summary["exact"]) == ("finished", True), summary["network"]
    refused = service.events("http_refused")
    assert 1 <= len(refused) <= 3
    assert refused[-1]["crowded"] > EACH
    assert "Traceback" not in service.log.read_text() + (tmp_path / "nodes.log").read_text()
