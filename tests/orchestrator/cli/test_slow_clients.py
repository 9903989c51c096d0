"""A flood of connections that say nothing, at every port of a real network of processes with 1,024 descriptors each."""

import json
import os
import resource
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from orchestrator.backends.processes import NodeProcesses
from tests.command import BOUND_S, PAME, TOKEN, lines_of, wait_for

DESCRIPTORS = 1024
AGAIN_S = 30.0
"""So soon after a flood every port answers again; seconds, on a machine that may have much else to do."""
EACH = 1200
"""So many connections to each port; more than any process here may have open."""
PORTS = 5
MEMBERS = ("a", "b", "c", "d")
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
def _many_descriptors() -> Iterator[None]:
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < PORTS * EACH + 500:
        pytest.skip("this machine does not let a test open 6,500 files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (PORTS * EACH + 500, most))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


def few_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


@contextmanager
def process(log: Path, *command: str) -> Iterator["subprocess.Popen[bytes]"]:
    """With few descriptors; ended at the end."""
    environment = {**os.environ, "PAME_TOKEN": TOKEN, "OPENBLAS_NUM_THREADS": "1"}
    with log.open("wb") as words:
        started = subprocess.Popen(
            command, cwd=log.parent, env=environment, stdout=words, stderr=words, preexec_fn=few_descriptors
        )
    try:
        yield started
    finally:
        started.send_signal(signal.SIGTERM)
        try:
            started.wait(BOUND_S)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


@contextmanager
def flood(ports: list[int]) -> Iterator[None]:
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
def test_a_run_under_way_does_not_notice_a_flood_of_silent_connections(tmp_path: Path) -> None:
    log, file = tmp_path / "serve.log", tmp_path / "flooded.yaml"
    file.write_text(EXPERIMENT)

    def event(name: str) -> list[dict[str, Any]]:
        return [line for line in lines_of(log) if line["event"] == name]

    serve = [PAME, "serve", "--port", "0", "--metrics-port", "0", "--page-port", "0", "--out", str(tmp_path / "runs")]
    with process(log, *serve) as orchestrator, NodeProcesses(tmp_path / "nodes.log") as nodes:
        listening = wait_for(lambda: event("listening"))[0]
        resource.prlimit(nodes._fork_server.pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
        for name in MEMBERS:
            nodes.start(name, listening["address"], TOKEN)
        joined = wait_for(lambda: (found := event("member_joined"))[len(MEMBERS) - 1 :] and found)
        targets = [group["targets"][0] for group in json.loads(ask(f"{listening['page']}/sd/nodes"))]
        metrics = [listening["metrics"], *targets]
        ports = [listening["address"], listening["metrics"], listening["page"], joined[0]["address"], targets[0]]

        def live() -> Any:
            return json.loads(ask(f"{listening['page']}/api/live"))

        with process(tmp_path / "run.log", PAME, "run", str(file), "--on", listening["address"]) as run:
            wait_for(lambda: (now := live())["phase"] == "running" and now["run"]["median"] >= 20)
            with flood([port_of(address) for address in ports]):
                for address in metrics:
                    assert "pame_build_info" in ask(f"http://{address}/metrics")
                before = live()["run"]["median"]
                wait_for(lambda: (now := live())["phase"] != "running" or now["run"]["median"] > before)
                for pid in (orchestrator.pid, *nodes.alive().values()):
                    assert len(list(Path(f"/proc/{pid}/task").iterdir())) < 40
                    assert len(list(Path(f"/proc/{pid}/fd").iterdir())) < DESCRIPTORS
                assert run.wait(BOUND_S) == 0, (tmp_path / "run.log").read_text()
            over = time.monotonic()
            for address in metrics:
                assert "pame_build_info" in ask(f"http://{address}/metrics")
            assert time.monotonic() - over < AGAIN_S
        assert len(nodes.alive()) == len(MEMBERS)
    (summary,) = [json.loads(found.read_text()) for found in (tmp_path / "runs").glob("*/summary.json")]
    assert (summary["status"], summary["exact"]) == ("finished", True), summary["network"]
    refused = event("http_refused")
    assert 1 <= len(refused) <= 3
    assert refused[-1]["crowded"] > EACH
    assert "Traceback" not in log.read_text() + (tmp_path / "nodes.log").read_text()
