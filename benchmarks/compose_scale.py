"""How many containers this machine holds: `docker compose up --scale node=N`, from the command to the end of a run.

    python -m benchmarks.compose_scale                    8 and 32 nodes; about two minutes on two cores
    python -m benchmarks.compose_scale --nodes 64 128     the images must have been built: see README

The run is the default experiment of docker-compose.yml, over mutual TLS, with every node that there is. Times are those
of the orchestrator's log, from the moment of the command. Memory is what the engine says of a container at the end of
the run, without file cache; the supervisor is part of it. Each project has a name, ports and volumes of its own and is
removed afterwards.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import docker
from rich.console import Console
from rich.table import Table

from benchmarks.printing import table_of

ROOT = Path(__file__).parent.parent
COUNTS = (8, 32)
_OFFLINE_BASE = "pame-base:offline"
_PATIENCE_S = 900.0
_PORTS = ("PAME_PAGE_PORT", "PAME_CLIENT_PORT", "PAME_PROMETHEUS_PORT", "PAME_GRAFANA_PORT")


@dataclass(frozen=True)
class Measured:
    """One network of containers."""

    seconds: tuple[float, ...]
    """From the command: it listens, all have joined, the run begins, it ends; and how long the run took."""
    status: str
    exact: bool
    node_bytes: tuple[int, ...]
    orchestrator_bytes: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--nodes", type=int, nargs="+", default=COUNTS, metavar="COUNT", help="how many, one by one")
    counts = parser.parse_args().nodes
    engine = docker.from_env()
    console = Console(width=120)
    measured = {count: measure(engine, count) for count in counts}
    console.print(table(measured))
    return 0 if all(found.status == "finished" for found in measured.values()) else 1


def measure(engine: docker.DockerClient, nodes: int) -> Measured:
    with project(engine, nodes) as compose:
        begin = datetime.now(UTC)
        compose("up", "--detach", "--no-build", "--scale", f"node={nodes}", "orchestrator", "node")
        events = _until_ended(compose)
        names = [event["event"] for event in events]
        joined = [event for event in events if event["event"] == "member_joined" and event["alive"] == nodes]
        containers = {service: _containers(engine, compose.name, service) for service in ("node", "orchestrator")}
        ended = events[names.index("run_ended")]
        summary = json.loads(
            compose("exec", "-T", "orchestrator", "sh", "-c", "cat /runs/*/summary.json")  # there is one run
        )
        moments = (events[names.index("listening")], joined[0], events[names.index("run_begins")], ended)
        return Measured(
            seconds=(*(_since(begin, event) for event in moments), float(ended["seconds"] or 0.0)),
            status=str(ended["status"]),
            exact=bool(summary["exact"]),
            node_bytes=tuple(_memory(container) for container in containers["node"]),
            orchestrator_bytes=_memory(containers["orchestrator"][0]),
        )


class Compose:
    """`docker compose` in a project."""

    def __init__(self, name: str, files: list[str], nodes: int) -> None:
        self.name = name
        self._command = ["docker", "compose", "--project-name", name, *files]
        self._environment = {**os.environ, **dict.fromkeys(_PORTS, "0"), "PAME_NODES": str(nodes)}

    def __call__(self, *words: str) -> str:
        done = subprocess.run(
            [*self._command, *words],
            cwd=ROOT,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"docker compose {' '.join(words)} failed:\n{done.stderr[-2000:]}")
        return done.stdout


@contextmanager
def project(engine: docker.DockerClient, nodes: int) -> Iterator[Compose]:
    """A project that is not up yet, and is gone afterwards."""
    tags = {tag for image in engine.images.list() for tag in image.tags}
    files = ["--file=docker-compose.yml"] + ["--file=deploy/compose/offline.yml"] * (_OFFLINE_BASE in tags)
    compose = Compose(f"pame-scale-{uuid.uuid4().hex[:8]}", files, nodes)
    try:
        yield compose
    finally:
        compose("down", "--volumes", "--timeout", "2")


def _until_ended(compose: Compose) -> list[dict[str, Any]]:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        lines = compose("logs", "--no-color", "--no-log-prefix", "orchestrator").splitlines()
        events = [json.loads(line[line.index("{") :]) for line in lines if "{" in line]
        if any(event["event"] == "run_ended" for event in events):
            return events
        time.sleep(1.0)
    raise SystemExit(f"the run had not ended after {_PATIENCE_S:g} s")


def _containers(engine: docker.DockerClient, name: str, service: str) -> list[Any]:
    labels = [f"com.docker.compose.project={name}", f"com.docker.compose.service={service}"]
    return list(engine.containers.list(filters={"label": labels}))


def _memory(container: Any) -> int:
    """As `docker stats` counts: without the file cache that nobody uses."""
    said = container.stats(stream=False)["memory_stats"]
    kinds = said["stats"]
    return int(said["usage"]) - int(kinds.get("inactive_file", kinds.get("total_inactive_file", 0)))


def _since(begin: datetime, event: dict[str, Any]) -> float:
    return (datetime.fromisoformat(event["time"]) - begin).total_seconds()


def table(measured: dict[int, Measured]) -> Table:
    times_of = ("nodes", "listens", "joined", "begins", "ends", "run", "status", "exact")
    sizes_of = ("a node", "largest", "orch.", "all")
    title = "Containers on this machine: seconds since `docker compose up`, and MiB"
    result = table_of(title, (*times_of, *sizes_of))
    for count, found in measured.items():
        everything = sum(found.node_bytes) + found.orchestrator_bytes
        sizes = (fmean(found.node_bytes), max(found.node_bytes), found.orchestrator_bytes, everything)
        result.add_row(
            str(count),
            *(f"{seconds:.1f}" for seconds in found.seconds),
            found.status,
            "yes" if found.exact else "no",
            *(f"{size / 2**20:.0f}" for size in sizes),
        )
    result.caption = (
        "The orchestrator listens; all nodes have joined; the run begins and ends; how long it took by its own clock. "
        "Memory of a node on average, of the largest, of the orchestrator, of all."
    )
    return result


if __name__ == "__main__":
    sys.exit(main())
