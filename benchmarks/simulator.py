"""How many node-iterations per second the simulator does, against the per-node-object loop, and what limits it.

    python -m benchmarks.simulator            m = 100, 1,000 and 10,000 nodes, n = 100, 50 samples per node

Each size runs in a process of its own, both drivers in the same one. The bound: a full local batch reads a node's
samples once from memory (its second use finds them in the cache), so reading all data once is the least an iteration
can cost.
"""

import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from timeit import repeat
from typing import cast

import numpy as np
from rich.console import Console
from threadpoolctl import threadpool_limits

from benchmarks.printing import table_of
from pame import problems, topology
from pame.algorithms import FixedStep, PameSpec
from pame.byte_account import ByteAccount
from pame.observe import Observer, RunOutcome, Several
from pame.problems import LinearSpec, StackedProblem
from pame.resolved_run import ResolvedRun
from pame.sampling import period
from pame.simulator import run_lock_step, run_vectorised
from pame.stopping import StopRules
from pame.topology.kinds import RandomRegular

N, SAMPLES, DEGREE, SEED = 100, 50, 10, 1
SIZES = (100, 1000, 10_000)
VECTORISED_STEPS = 500_000
OBJECT_STEPS = 20_000
CYCLE = 21
"""Iterations at the least, so that rounds of every period 3..7 are among them."""
Driver = Callable[[ResolvedRun, Observer, ByteAccount], RunOutcome]


@dataclass(frozen=True)
class Measured:
    """One size: node-iterations per second of both drivers, time of a pass over the data, memory."""

    m: int
    vectorised: float
    objects: float
    gradient_share: float
    read_share: float
    data_bytes: int
    peak_bytes: int


def setting_of(m: int) -> ResolvedRun:
    """PaME on linear regression, random regular graph of degree 10, periods 3..7."""
    return ResolvedRun(
        seed=SEED,
        topology=topology.build(RandomRegular(degree=DEGREE), m, SEED),
        problem=problems.build(LinearSpec(n=N, samples=SAMPLES, test_samples=1), m, SEED),
        algorithm=PameSpec(participation=0.2, support=0.2, step=FixedStep(eta=0.05, gamma=1.001)),
        periods=tuple(period(SEED, node, 3, 7) for node in range(m)),
        stop=StopRules(1),
        evaluate_every=1_000_000,
    )


def measure(m: int) -> Measured:
    """Both drivers at one size, and the parts of an iteration on their own."""
    with threadpool_limits(1):
        setting = setting_of(m)
        stacked = cast(StackedProblem, setting.problem).stacked()
        models = np.ones((m, N))
        stacked.gradient(models, 0)
        gradient_s = _best(lambda: stacked.gradient(models, 0))
        vectorised = _rate(run_vectorised, setting, max(CYCLE, VECTORISED_STEPS // m))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        data = np.ones(m * SAMPLES * N)
        read_s = _best(data.sum)
        objects = _rate(run_lock_step, setting, max(CYCLE, OBJECT_STEPS // m))
    iteration_s = m / vectorised
    return Measured(m, vectorised, objects, gradient_s / iteration_s, read_s / iteration_s, data.nbytes, peak)


def _rate(driver: Driver, setting: ResolvedRun, iterations: int) -> float:
    """Node-iterations per second between two lengths, so that set-up and the two evaluations cancel."""

    def seconds(count: int) -> float:
        start = time.perf_counter()
        driver(replace(setting, stop=StopRules(count)), Several(), ByteAccount(setting.topology.nodes))
        return time.perf_counter() - start

    short = seconds(1)
    return setting.topology.nodes * iterations / max(seconds(1 + iterations) - short, 1e-9)


def _best(action: Callable[[], object]) -> float:
    return min(repeat(action, number=1))


def main() -> None:
    console = Console(width=110)
    headings = ("nodes", "vectorised", "objects", "ratio", "gradients", "data read once", "peak memory", "per node")
    title = f"PaME, linear regression, n = {N}, {SAMPLES} samples per node, degree {DEGREE}, one core"
    table = table_of(title, headings)
    context = multiprocessing.get_context("spawn")
    results = []
    for m in SIZES:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            results.append(pool.submit(measure, m).result())
    for got in results:
        table.add_row(
            f"{got.m:,}",
            f"{got.vectorised:,.0f}/s",
            f"{got.objects:,.0f}/s",
            f"{got.vectorised / got.objects:.1f}x",
            f"{got.gradient_share:.0%}",
            f"{got.read_share:.0%}",
            f"{got.peak_bytes / 2**20:,.0f} MiB",
            f"{got.peak_bytes / got.m / 1024:,.0f} KiB",
        )
    console.print(table)
    most = results[-1]
    console.print(
        f"Node-iterations per second; share of an iteration spent in gradients, and what one pass over the data would "
        f"take. The limit at {most.m:,} nodes is memory: data of {most.data_bytes / most.m / 1024:.0f} KiB per node "
        f"of {most.peak_bytes / most.m / 1024:.0f} KiB at the peak, so 24 GiB hold about "
        f"{24 * 2**30 * most.m / most.peak_bytes:,.0f} such nodes."
    )


if __name__ == "__main__":
    main()
