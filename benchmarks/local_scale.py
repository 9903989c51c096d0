"""How many nodes this machine holds: start-up time, memory and CPU time of local processes.

    python -m benchmarks.local_scale                    8, 16 and 32 nodes, and one started by hand; about a minute
    python -m benchmarks.local_scale --nodes 64

The experiment is experiments/quickstart.yaml with another number of nodes. Nodes come from a fork server: a process
that imports everything once and is then forked, so that nodes share the pages of their libraries. The row `by hand` is
`python -m node`, as in a container: it imports everything itself. RSS counts shared pages in full, PSS each node's
share of them, private none of them.
"""

import argparse
import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import perf_counter

from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from benchmarks.network import Measured, Memory, SocketControl, look, measure, memory, nodes_on_socket
from benchmarks.printing import print_goals, table_of, warn_if_busy
from orchestrator.experiment import Experiment, load
from pame.errors import PameError

COUNTS = (8, 16, 32)
HANDS = 3
"""Nodes by hand, one after the other; the median counts."""
EXPERIMENT = Path(__file__).parent.parent / "experiments" / "quickstart.yaml"
READY_S, RESIDENT = 1.0, 100
"""What a node is meant to need: about a second, under 100 MiB."""
_JOIN_S = 60.0


@dataclass(frozen=True)
class Alone:
    """A node started by hand, when it has joined."""

    joined_s: float
    cpu_s: float
    memory: Memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--nodes", type=int, nargs="+", default=COUNTS, metavar="COUNT", help="how many, one by one")
    counts = parser.parse_args().nodes
    console = Console(width=120)
    warn_if_busy(console)
    with threadpool_limits(1):
        alone = sorted((asyncio.run(by_hand()) for _ in range(HANDS)), key=lambda found: found.joined_s)[HANDS // 2]
        measured = {count: asyncio.run(together(count)) for count in counts}
    console.print(table(alone, measured))
    own = alone.memory.resident / 2**20
    most = max(node.resident for run in measured.values() for node in run.memory) / 2**20
    goals = (
        (f"a node by hand joins within {READY_S:g} s: {alone.joined_s:.2f}", alone.joined_s <= READY_S),
        (f"by hand under {RESIDENT} MiB: {own:.0f}", own < RESIDENT),
        (f"every node of every run under {RESIDENT} MiB: at most {most:.0f}", most < RESIDENT),
    )
    print_goals(console, goals)


def experiment_of(nodes: int) -> Experiment:
    (variant,) = load(EXPERIMENT)
    return variant.experiment.model_copy(update={"nodes": nodes})


async def together(nodes: int) -> Measured:
    """A whole run of nodes from a fork server; `begin` is before it starts."""
    with TemporaryDirectory() as folder:
        base, begin = Path(folder), look(())
        async with nodes_on_socket(base, nodes) as (control, alive):
            measured = await measure(control, experiment_of(nodes), base / "run", alive)
    measured.moments["begin"] = begin
    return measured


async def by_hand() -> Alone:
    """One node, from the start of its process until it has joined."""
    with TemporaryDirectory() as folder:
        control = SocketControl(Path(folder) / "control")
        await control.open()
        begin = perf_counter()
        with _process("--orchestrator", control.address, "--token", control.token) as node:
            if not await control.members.gather(1, _JOIN_S):
                raise RuntimeError("the node did not join")
            alone = Alone(perf_counter() - begin, look([node.pid]).cpu_s, memory(node.pid))
            await control.close("the benchmark is over")
    return alone


@contextmanager
def _process(*arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    node = subprocess.Popen([sys.executable, "-m", "node", *arguments])
    try:
        yield node
        node.wait(10)
    finally:
        node.kill()
        node.wait()


def table(alone: Alone, measured: dict[int, Measured]) -> Table:
    """A row for the node by hand, then one for each number of nodes."""
    headings = ("nodes", "all joined", "ready", "run", "CPU s", "CPU of run", "RSS", "PSS", "private", "all, PSS")
    result = table_of(f"Nodes on this machine, {EXPERIMENT.name}: seconds, and MiB per node (mean)", headings)
    result.add_row("by hand", f"{alone.joined_s:.2f}", "", "", f"{alone.cpu_s:.2f}", "", *_memory([alone.memory]), "")
    for count, run in measured.items():
        joined, ready, begin = (run.moments[name].at for name in ("preparing", "running", "begin"))
        result.add_row(
            str(count),
            f"{joined - begin:.2f}",
            f"{ready - begin:.2f}",
            f"{run.between(lambda moment: moment.at):.2f}",
            f"{run.moments['ending'].cpu_s:.2f}",
            f"{run.between(lambda moment: moment.cpu_s):.2f}",
            *_memory(run.memory),
            f"{sum(node.proportional for node in run.memory) / 2**20:.0f}",
        )
    result.caption = (
        "From the start of the first process: all joined, all ready (data drawn, links open); then the run. CPU time "
        "of all nodes, from their start to the end of the run, and of the run alone."
    )
    return result


def _memory(nodes: list[Memory]) -> list[str]:
    reads: tuple[Callable[[Memory], int], ...] = (lambda m: m.resident, lambda m: m.proportional, lambda m: m.private)
    return [f"{fmean(read(node) for node in nodes) / 2**20:.1f}" for read in reads]


if __name__ == "__main__":
    try:
        main()
    except PameError as error:  # e.g. fewer nodes than the quickstart's graph can have
        sys.exit(f"error: {error}")
