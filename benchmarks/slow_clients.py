"""What a flood of silent connections costs a run: the same run, with and without it, alternating.

    python -m benchmarks.slow_clients             five of each, about three minutes
    python -m benchmarks.slow_clients --runs 2

Orchestrator and nodes have 1,024 descriptors each. The flood opens 1,200 connections to each of five ports (control,
metrics and page of the orchestrator; data and metrics of a node) when the run has begun, says nothing, and holds them
until the run is over. Seconds are those of the run by the orchestrator's clock, from the start to the last iteration.
"""

import argparse
import json
import os
import resource
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from rich.console import Console
from rich.table import Table

from benchmarks.network import company

PAME = str(Path(sys.executable).parent / "pame")
TOKEN = "benchmark"
DESCRIPTORS, EACH, PORTS = 1024, 1200, 5
NODES = 4
GOAL = 1.1
EXPERIMENT = f"""
name: slow-clients
nodes: {NODES}
topology: {{kind: complete}}
problem: {{kind: linear, n: 1000, samples: 100, test_samples: 10}}
algorithm: {{kind: pame, participation: 1.0, support: 0.2, step: {{kind: fixed, eta: 0.01}}}}
period: 1
evaluate: {{every: 500}}
stop: {{iterations: 1500, seconds: 120s}}
"""
_WAIT_S = 120.0
_POLL_S = 0.05

T = TypeVar("T")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=5, help="of each")
    runs = parser.parse_args().runs
    console = Console(width=120)
    if (busy := company()) is not None:
        console.print(f"[yellow]{busy}[/]", highlight=False)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (PORTS * EACH + 500, most))
    quiet, flooded = [], []
    with TemporaryDirectory() as folder, _network(Path(folder)) as ports:
        _run(Path(folder), ports[0], [])  # what is only slow the first time
        for _ in range(runs):
            quiet.append(_run(Path(folder), ports[0], []))
            flooded.append(_run(Path(folder), ports[0], ports))
    table = Table("run", *(str(number) for number in range(1, runs + 1)), "median")
    for name, seconds in (("quiet", quiet), ("flooded", flooded)):
        table.add_row(f"{name}, s", *(f"{each:.2f}" for each in seconds), f"{median(seconds):.2f}")
    console.print(table)
    ratio = median(flooded) / median(quiet)
    word = "[green]reached    [/]" if ratio <= GOAL else "[red]not reached[/]"
    console.print(f"{word} flooded over quiet, at most {GOAL}: {ratio:.3f}", highlight=False)
    return 0


@contextmanager
def _network(folder: Path) -> Iterator[list[int]]:
    """An orchestrator and its nodes; its ports and those of one node, the clients' own first."""
    log = folder / "serve.log"
    with ExitStack() as started:
        serve = ("--port", "0", "--metrics-port", "0", "--page-port", "0", "--out", str(folder / "runs"))
        started.enter_context(_process(log, PAME, "serve", *serve))
        (listening,) = _until(lambda: _events(log, "listening"))
        for number in range(NODES):
            node = ("-m", "node", "--orchestrator", listening["address"], "--member", f"node-{number}")
            started.enter_context(_process(folder / f"node-{number}.log", sys.executable, *node))
        joined = _until(lambda: found if len(found := _events(log, "member_joined")) == NODES else None)
        with urllib.request.urlopen(f"{listening['page']}/sd/nodes", timeout=_WAIT_S) as answer:
            target = json.load(answer)[0]["targets"][0]
        addresses = (
            listening["address"],
            listening["metrics"],
            listening["page"],
            joined[0]["address"],
            target,
        )
        yield [int(address.rsplit(":", 1)[1]) for address in addresses]


def _run(folder: Path, port: int, flooded: list[int]) -> float:
    """One run, with a flood at these ports from its beginning on; its seconds."""
    file = folder / "experiment.yaml"
    file.write_text(EXPERIMENT)
    before = set((folder / "runs").glob("*"))
    with _process(folder / "run.log", PAME, "run", str(file), "--on", f"127.0.0.1:{port}") as run:
        (made,) = _until(lambda: set((folder / "runs").glob("*")) - before)
        _until(lambda: (made / "curve.jsonl").is_file() and (made / "curve.jsonl").stat().st_size)
        with _flood(flooded):
            if run.wait(_WAIT_S) != 0:
                raise RuntimeError((folder / "run.log").read_text())
    return float(json.loads((made / "summary.json").read_text())["seconds"])


@contextmanager
def _flood(ports: list[int]) -> Iterator[None]:
    with ExitStack() as silent:
        for port in ports:
            for _ in range(EACH):
                client = silent.enter_context(socket.socket())
                client.setblocking(False)
                client.connect_ex(("127.0.0.1", port))
        yield


@contextmanager
def _process(log: Path, *command: str) -> Iterator["subprocess.Popen[bytes]"]:
    """With few descriptors; ended at the end."""
    environment = {**os.environ, "PAME_TOKEN": TOKEN, "OPENBLAS_NUM_THREADS": "1"}
    with log.open("wb") as words:
        started = subprocess.Popen(command, env=environment, stdout=words, stderr=words, preexec_fn=_few_descriptors)
    try:
        yield started
    finally:
        started.terminate()
        started.wait(_WAIT_S)


def _few_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


def _events(log: Path, name: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in log.read_text().splitlines(keepends=True) if line.endswith("}\n")]
    return [line for line in lines if line["event"] == name]


def _until(condition: Callable[[], T | None]) -> T:
    deadline = time.monotonic() + _WAIT_S
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {_WAIT_S:g} s in vain")
        time.sleep(_POLL_S)
    return found


if __name__ == "__main__":
    sys.exit(main())
