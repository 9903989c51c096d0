"""Images per second of the simulator and of real local processes, against plain torch training of the same network.

    pame data prepare fashion-mnist
    python -m benchmarks.vision                    small CNN, 16 nodes, batch 32: about two minutes
    python -m benchmarks.vision --runs 1 --iterations 40
    python -m benchmarks.vision --network resnet20 --iterations 20
                                                   ResNet-20 on CIFAR-10, where a step takes long: compute dominates

The yardstick is plain torch in as many processes as there are cores, at once, with one thread each: forward, backward,
step on batches that are normalised already, with the memory layout of the simulator. All are measured in turns, and the
median of the ratios counts. Evaluation is aside: the simulator is timed between two lengths of a run, a node between
its first record and its last. CPU time per image says what a ratio can be at best, also while others use the machine.
"""

import argparse
import asyncio
import gc
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # it tells of every process that is forked beside its threads

import numpy as np
import torch
from rich.console import Console
from threadpoolctl import threadpool_limits
from torch.nn import functional

from benchmarks.network import cpu_seconds, measure, nodes_on_socket
from benchmarks.printing import print_goals, table_of, warn_if_busy
from orchestrator.backends.nodes_on_cores import nodes_on_cores
from orchestrator.experiment import Experiment
from orchestrator.experiment.load import load_text
from orchestrator.experiment.resolve import make_setting
from pame.byte_account import ByteAccount
from pame.errors import PameError
from pame.observe import Several
from pame.problems.image_classification import ImageClassification
from pame.resolved_run import ResolvedRun
from pame.simulator import run_lock_step
from pame.stopping import StopRules
from pame.vision.models import make

NODES, BATCH = 16, 32
ALGORITHMS = {
    "PaME, rounds every 5 to 10": (
        "algorithm: {kind: pame, participation: 0.5, support: 0.1, step: {kind: fixed, eta: 0.02}}\n"
        "period: {min: 5, max: 10}\n"
    ),
    "D-PSGD, whole models every iteration": "algorithm: {kind: dpsgd, eta: 0.02}\nperiod: 1\n",
}
DATA = {"cnn": "fashion-mnist", "resnet20": "cifar10"}
EXPERIMENT = (
    f"nodes: {NODES}\ntopology: {{kind: random-regular, degree: 4}}\n"
    "evaluate: {every: 1000000, own_models: false}\nstop: {iterations: 1}\n"
)
PLAIN = "plain torch, a process on each core"
SIMULATED, REAL = 0.85, 0.70
"""The goals: shares of the yardstick; of local processes where compute dominates."""


@dataclass(frozen=True)
class Speed:
    rate: float
    """Images per second."""
    cpu_s: float
    """CPU time per image, of all processes."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=5, help="turns; the median counts")
    parser.add_argument("--iterations", type=int, default=100, help="of each run")
    parser.add_argument("--network", choices=("cnn", "resnet20"), default="cnn")
    options = parser.parse_args()
    console = Console(width=120)
    warn_if_busy(console)
    with threadpool_limits(1):
        found = measured(options.network, options.runs, options.iterations)
    title = f"{options.network}, {NODES} nodes, batch {BATCH}, against plain torch on all cores"
    table = table_of(title, ("", "images/s", "of the yardstick", "CPU per image, of plain torch's"), words="")
    plain = found.pop(PLAIN)
    table.add_row(PLAIN, f"{median(each.rate for each in plain):,.0f}", "", "1.00")
    shares: dict[str, float] = {}
    for name, speeds in found.items():
        pairs = list(zip(speeds, plain, strict=True))
        shares[name] = median(speed.rate / alone.rate for speed, alone in pairs)
        cpu = median(speed.cpu_s / alone.cpu_s for speed, alone in pairs)
        table.add_row(name, f"{median(each.rate for each in speeds):,.0f}", f"{shares[name]:.0%}", f"{cpu:.2f}")
    console.print(table)
    goals = [
        (f"{name}: at least {goal:.0%} of plain torch: {share:.0%}", share >= goal)
        for name, share in shares.items()
        for goal in (SIMULATED if name.startswith("simulator") else REAL,)
    ]
    print_goals(console, goals)
    return 0


def measured(network: str, runs: int, iterations: int) -> dict[str, list[Speed]]:
    """All in turns."""
    experiments = {name: experiment_of(network, text) for name, text in ALGORITHMS.items()}
    settings = {name: make_setting(experiment, Path()) for name, experiment in experiments.items()}
    found: dict[str, list[Speed]] = {}
    for _ in range(runs):
        [first, *_] = settings.values()
        found.setdefault(PLAIN, []).append(plain(first, NODES * iterations // 4))
        for name, setting in settings.items():
            found.setdefault(f"simulator: {name}", []).append(simulated(setting, iterations))
        for name, experiment in experiments.items():
            found.setdefault(f"local processes: {name}", []).append(asyncio.run(real(experiment, iterations)))
    return found


def experiment_of(network: str, algorithm: str) -> Experiment:
    problem = (
        f"problem: {{kind: image-classification, data: {DATA[network]}, model: {{kind: {network}}}, batch: {BATCH}, "
        "objective_samples: 16, test_samples: 1}\n"
    )
    (variant,) = load_text(EXPERIMENT + problem + algorithm, Path("benchmark.yaml"))
    return variant.experiment


def plain(setting: ResolvedRun, batches: int) -> Speed:
    """On each core so many batches, all at the same time."""
    context = multiprocessing.get_context("fork")
    cores = len(os.sched_getaffinity(0))
    ready, results = context.Barrier(cores), context.SimpleQueue()

    def one() -> None:
        gc.freeze()
        train = training_loop(setting)
        train(10)
        ready.wait(60.0)
        begin, cpu = time.perf_counter(), time.process_time()
        train(batches)
        results.put((time.perf_counter() - begin, time.process_time() - cpu))

    processes = [context.Process(target=one, daemon=True) for _ in range(cores)]
    for process in processes:
        process.start()
    spent = [results.get() for _ in processes]
    for process in processes:
        process.join()
    images = batches * BATCH
    return Speed(sum(images / seconds for seconds, _ in spent), sum(cpu for _, cpu in spent) / (cores * images))


def training_loop(setting: ResolvedRun) -> Callable[[int], None]:
    """That everybody writes: trains on so many batches."""
    problem = setting.problem
    assert isinstance(problem, ImageClassification)
    torch.set_num_threads(1)
    shard = problem.shards.of(0)
    images, labels = problem.images(shard.features).transpose(0, 2, 3, 1), torch.from_numpy(shard.labels)
    images = np.ascontiguousarray(images)
    module = make(problem.spec.model, problem.facts)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.02)

    def train(count: int) -> None:
        for _ in range(count):
            rows = torch.randint(0, len(labels), (BATCH,))
            batch = torch.from_numpy(images[rows.numpy()].transpose(0, 3, 1, 2))
            optimizer.zero_grad()
            functional.cross_entropy(module(batch), labels[rows]).backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    return train


def simulated(setting: ResolvedRun, iterations: int) -> Speed:
    """Between a run of one iteration and a longer one, so that set-up and evaluation cancel."""

    def spent(count: int) -> tuple[float, float]:
        with nodes_on_cores(setting) as group:
            begin, cpu = time.perf_counter(), _cpu_s()
            run_lock_step(replace(setting, stop=StopRules(count)), Several(), ByteAccount(NODES), group)
            return time.perf_counter() - begin, _cpu_s() - cpu

    spent(1)
    short, long = spent(1), spent(1 + iterations)
    count = NODES * BATCH * iterations
    return Speed(count / max(long[0] - short[0], 1e-9), (long[1] - short[1]) / count)


def _cpu_s() -> float:
    children = [child.pid for child in multiprocessing.active_children() if child.pid is not None]
    return time.process_time() + sum(map(cpu_seconds, children))


async def real(experiment: Experiment, iterations: int) -> Speed:
    """Of the median node, between its first record and its last; CPU time of all nodes from the begin of the run."""
    longer = experiment.model_copy(update={"stop": replace(experiment.stop, iterations=iterations)})
    with TemporaryDirectory() as folder:
        async with nodes_on_socket(Path(folder), NODES, with_torch=True) as (control, alive):
            run = await measure(control, longer, Path(folder) / "run", alive)
    cpu_s = run.between(lambda moment: moment.cpu_s) / (NODES * BATCH * iterations)
    return Speed(run.rounds_per_second() * NODES * BATCH, cpu_s)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PameError as error:  # e.g. data that is not prepared
        sys.exit(f"error: {error}")
