"""What a flood of slow clients costs a run: the same run, with and without it, alternating.

    python -m benchmarks.slow_clients             five of each, about five minutes
    python -m benchmarks.slow_clients --runs 2

Orchestrator and nodes have 1,024 descriptors each. The flood opens 1,200 connections to each of five ports (control,
metrics and page of the orchestrator; data and metrics of a node) when the run has begun and says nothing until it is
over. `silent`: who is thrown out stays away. `returning`: it comes back within a second; what the flood itself costs on
the same cores is in the figure, so its own CPU time stands beside it. Seconds are those of the run, from the start to
the last iteration, by the orchestrator's clock.
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
from enum import Enum
from pathlib import Path
from select import POLLERR, POLLHUP, POLLRDHUP, poll
from statistics import median
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any, TypeVar

from rich.console import Console
from rich.table import Table

from benchmarks.printing import print_goals, warn_if_busy

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


class Flood(Enum):
    NONE = "quiet"
    SILENT = "silent"
    RETURNING = "returning"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=5, help="of each")
    runs = parser.parse_args().runs
    console = Console(width=120)
    warn_if_busy(console)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (PORTS * EACH + 500, most))
    seconds: dict[Flood, list[float]] = {flood: [] for flood in Flood}
    spent: dict[Flood, list[float]] = {flood: [] for flood in Flood}
    with TemporaryDirectory() as folder, _network(Path(folder)) as ports:
        _run(Path(folder), ports, Flood.NONE)  # what is only slow the first time
        for _ in range(runs):
            for flood in Flood:
                before = time.process_time()
                seconds[flood].append(_run(Path(folder), ports, flood))
                spent[flood].append(time.process_time() - before)
    table = Table("run", *(str(number) for number in range(1, runs + 1)), "median", "CPU of the flood")
    for flood in Flood:
        cells = [f"{each:.2f}" for each in seconds[flood]]
        table.add_row(f"{flood.value}, s", *cells, f"{median(seconds[flood]):.2f}", f"{median(spent[flood]):.2f} s")
    console.print(table)
    ratios = {flood: median(seconds[flood]) / median(seconds[Flood.NONE]) for flood in (Flood.SILENT, Flood.RETURNING)}
    goals = [(f"{flood.value} over quiet, at most {GOAL}: {r:.3f}", r <= GOAL) for flood, r in ratios.items()]
    print_goals(console, goals)


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
        addresses = (*(listening[name] for name in ("address", "metrics", "page")), joined[0]["address"], target)
        yield [int(address.rsplit(":", 1)[1]) for address in addresses]


def _run(folder: Path, ports: list[int], flood: Flood) -> float:
    """One run, with a flood at these ports from its beginning on; its seconds."""
    file = folder / "experiment.yaml"
    file.write_text(EXPERIMENT)
    before = set((folder / "runs").glob("*"))
    with _process(folder / "run.log", PAME, "run", str(file), "--on", f"127.0.0.1:{ports[0]}") as run:
        (made,) = _until(lambda: set((folder / "runs").glob("*")) - before)
        _until(lambda: (made / "curve.jsonl").is_file() and (made / "curve.jsonl").stat().st_size)
        with _flood([] if flood is Flood.NONE else ports, flood is Flood.RETURNING):
            if run.wait(_WAIT_S) != 0:
                raise RuntimeError((folder / "run.log").read_text())
    return float(json.loads((made / "summary.json").read_text())["seconds"])


@contextmanager
def _flood(ports: list[int], returning: bool) -> Iterator[None]:
    silent = {client.fileno(): (client, port) for port in ports for client in (_client(port) for _ in range(EACH))}
    over = Event()
    keeping = Thread(target=_come_back, args=(silent, over))
    if returning:
        keeping.start()
    yield
    over.set()
    if returning:
        keeping.join()
    for client, _ in silent.values():
        client.close()


def _client(port: int) -> socket.socket:
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex(("127.0.0.1", port))
    return client


def _come_back(silent: dict[int, tuple[socket.socket, int]], over: Event) -> None:
    """Once a second, whoever was thrown out."""
    watched = poll()
    for descriptor in silent:
        watched.register(descriptor, POLLRDHUP)
    while not over.wait(1.0):
        for descriptor, what in watched.poll(0):
            if what & (POLLRDHUP | POLLHUP | POLLERR):
                watched.unregister(descriptor)
                gone, port = silent.pop(descriptor)
                gone.close()
                client = _client(port)
                silent[client.fileno()] = client, port
                watched.register(client.fileno(), POLLRDHUP)


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
    main()
