"""Rounds per second, wire bytes and memory of eight real nodes, against the same rounds without any network.

    python -m benchmarks.rounds              dense, 10 % and 1 %, three runs each, about a minute
    python -m benchmarks.rounds --profile    where a node's time goes at 1 %

Eight processes in a ring, logistic regression with n = 10,000 (float64) and 16 samples per node, one step and one
exchange per round: each node sends to both neighbours and waits for both. Dense is D-PSGD, 10 % and 1 % are PaME with
participation 1. It all runs in a network namespace of its own, control plane and snapshots on a Unix socket, so that
the loopback counter has the exchange and nothing else: vectors, protobuf, gRPC, HTTP/2, TCP and IP, acknowledgements,
connecting included. Packets are loopback's, of up to 64 KiB; an Ethernet would cut dense messages into 1,500 bytes.

The bound: the lock-step simulator drives the same algorithm objects in one process per core; their rates are added.
"""

import argparse
import asyncio
import os
import pstats
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from benchmarks.network import Measured, Memory, Moment, measure, nodes_on_socket
from benchmarks.printing import print_goals, table_of, warn_if_busy
from orchestrator.experiment import Experiment
from orchestrator.experiment.model import Evaluate, Period
from orchestrator.experiment.resolve import make_network_setting
from pame.algorithms import AlgorithmSpec, DpsgdSpec, FixedStep, PameSpec
from pame.byte_account import ByteAccount
from pame.observe import Several
from pame.problems import LogisticSpec
from pame.simulator import run_lock_step
from pame.stopping import StopRules
from pame.topology.kinds import Ring

NODES, N, SAMPLES = 8, 10_000, 16
ROUNDS = 300
RUNS = 3
STEP = FixedStep(eta=0.002)
CASES: dict[str, AlgorithmSpec] = {
    "dense": DpsgdSpec(eta=0.002),
    "10 %": PameSpec(participation=1.0, support=0.1, step=STEP),
    "1 %": PameSpec(participation=1.0, support=0.01, step=STEP),
}
CORES = len(os.sched_getaffinity(0))
INSIDE = "--inside"
WIRE_BYTES, RATE, MEMORY = 18_536, 25.0, 103.0
"""To be reached at 1 %: bytes per round, rounds per second, MiB per node (a quarter of 412)."""
SHOWN_FUNCTIONS = 30
PROFILED_NODE = """
import cProfile, sys, time
from node.__main__ import main
profile, file = cProfile.Profile(time.thread_time), sys.argv.pop(1)
profile.runcall(main)
profile.dump_stats(file)
"""
REFERENCE = (
    "Reference points, measured elsewhere on this kind of machine: DecentralizePy (ZeroMQ) does 27 to 51 rounds/s "
    "dense and 16 to 19 at 1 %, with 18,536 wire bytes per round at 1 % and 412 MiB per node."
)


@dataclass(frozen=True)
class Figures:
    """One case: its runs, and the bound, rounds per second and CPU seconds of a round."""

    runs: list[Measured]
    bound_rate: float
    bound_cpu_s: float

    def middle(self, read: Callable[[Measured], float]) -> float:
        return median(read(run) for run in self.runs)

    def per_round(self, read: Callable[[Moment], float]) -> float:
        """Of all nodes together."""
        return self.middle(lambda run: run.between(read)) / ROUNDS

    @property
    def rate(self) -> float:
        return self.middle(Measured.rounds_per_second)

    @property
    def wire_bytes(self) -> float:
        return self.per_round(lambda moment: moment.wire_bytes)

    def mebibytes(self, read: Callable[[Memory], float]) -> float:
        """Of a node on average."""
        return self.middle(lambda run: fmean(map(read, run.memory))) / 2**20


def experiment_of(case: str, rounds: int = ROUNDS) -> Experiment:
    """One exchange per step; models are judged at the beginning and the end only."""
    return Experiment(
        name="rounds",
        nodes=NODES,
        topology=Ring(),
        problem=LogisticSpec(n=N, samples=SAMPLES, test_samples=SAMPLES),
        algorithm=CASES[case],
        period=Period(min=1, max=1),
        evaluate=Evaluate(every=rounds),
        stop=StopRules(iterations=rounds),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--profile", action="store_true", help="where the time of one node goes, at 1 %%")
    parser.add_argument("--runs", type=int, default=RUNS, help="of each case")
    parser.add_argument(INSIDE, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.inside:
        return _go_inside(sys.argv[1:])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    console = Console(width=120)
    warn_if_busy(console)
    with threadpool_limits(1):
        if options.profile:
            asyncio.run(profile("1 %")).sort_stats("tottime").print_stats(SHOWN_FUNCTIONS)
            return 0
        figures = {case: figures_of(case, options.runs) for case in CASES}
    console.print(table(figures), REFERENCE, highlight=False)
    print_goals(console, reaches(figures["1 %"]))
    return 0


def _go_inside(arguments: list[str]) -> int:
    """The same command in a network namespace of its own."""
    again = [sys.executable, "-m", "benchmarks.rounds", INSIDE, *arguments]
    for unshare in (["unshare", "--net"], ["unshare", "--net", "--map-root-user"]):
        try:
            allowed = subprocess.run([*unshare, "ip", "link", "set", "lo", "up"], capture_output=True, check=False)
        except FileNotFoundError:
            break
        if not allowed.returncode:
            return subprocess.run([*unshare, *again], check=False).returncode
    print("no private network namespace here: this needs unshare (util-linux), ip (iproute2) and the right to use them")
    return 2


def figures_of(case: str, runs: int) -> Figures:
    bound_rate, bound_cpu_s = bound(case)
    return Figures(asyncio.run(on_nodes(case, runs)), bound_rate, bound_cpu_s)


async def on_nodes(case: str, runs: int) -> list[Measured]:
    """Several runs, one after the other, on the same eight processes."""
    with TemporaryDirectory() as folder:
        base = Path(folder)
        async with nodes_on_socket(base, NODES) as (control, alive):
            experiment = experiment_of(case)
            return [await measure(control, experiment, base / str(run), alive) for run in range(runs)]


def bound(case: str) -> tuple[float, float]:
    """Rounds per second of all cores together, and CPU seconds of a round, in the simulator."""
    with ProcessPoolExecutor(CORES, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(_simulate, [case] * CORES))
    return sum(rate for rate, _ in found), fmean(cpu_s for _, cpu_s in found)


def _simulate(case: str) -> tuple[float, float]:
    """Between two lengths, so that set-up and the evaluations cancel."""

    def spent(rounds: int) -> tuple[float, float]:
        setting = make_network_setting(experiment_of(case, rounds), Path())
        wall, cpu = time.perf_counter(), time.process_time()
        run_lock_step(setting, Several(), ByteAccount(NODES))
        return time.perf_counter() - wall, time.process_time() - cpu

    with threadpool_limits(1):
        short, long = spent(1), spent(1 + ROUNDS)
    return ROUNDS / (long[0] - short[0]), (long[1] - short[1]) / ROUNDS


def table(figures: dict[str, Figures]) -> Table:
    title = f"{NODES} nodes in a ring, n = {N:,}, {SAMPLES} samples per node, {ROUNDS} rounds, {CORES} cores"
    headings = ("", "rounds/s", "bound", "ratio", "wire bytes", "packets", "CPU ms", "bound", "ratio", "RSS", "private")
    result = table_of(title, headings)
    for case, f in figures.items():
        cpu_s = f.per_round(lambda moment: moment.cpu_s)
        result.add_row(
            case,
            f"{f.rate:.0f}",
            f"{f.bound_rate:.0f}",
            f"{f.rate / f.bound_rate:.2f}",
            f"{f.wire_bytes:,.0f}",
            f"{f.per_round(lambda moment: moment.wire_packets):.1f}",
            f"{1e3 * cpu_s:.1f}",
            f"{1e3 * f.bound_cpu_s:.1f}",
            f"{cpu_s / f.bound_cpu_s:.1f}",
            f"{f.mebibytes(lambda node: node.resident):.0f} MiB",
            f"{f.mebibytes(lambda node: node.private):.0f} MiB",
        )
    result.caption = (
        f"Wire bytes, packets and CPU time per round of all nodes ({2 * NODES} messages); memory per node, private: "
        "not shared with other nodes. Bound: the same rounds in the lock-step simulator, all cores together."
    )
    return result


def reaches(f: Figures) -> list[tuple[str, bool]]:
    resident = f.mebibytes(lambda node: node.resident)
    return [
        (f"fewer than {WIRE_BYTES:,} wire bytes per round at 1 %: {f.wire_bytes:,.0f}", f.wire_bytes < WIRE_BYTES),
        (f"at most {MEMORY:g} MiB per node, a quarter of 412: {resident:.0f}", resident <= MEMORY),
        (f"at least {RATE:g} rounds/s at 1 %: {f.rate:.0f}", f.rate >= RATE),
    ]


async def profile(case: str) -> pstats.Stats:
    """One node under cProfile, which about doubles its CPU time, among seven that are not."""
    with TemporaryDirectory() as folder:
        base = Path(folder)
        watched = [sys.executable, "-c", PROFILED_NODE, str(base / "profile"), "--member", f"node-{NODES - 1}"]
        async with nodes_on_socket(base, NODES - 1) as (control, alive):
            node = subprocess.Popen([*watched, "--orchestrator", control.address, "--token", control.token])
            await measure(control, experiment_of(case), base / "run", alive)
        await asyncio.to_thread(node.wait, 10)
        return pstats.Stats(str(base / "profile"))


if __name__ == "__main__":
    sys.exit(main())
