"""How well the virtual clock of the simulator tells what real nodes will take: eight experiments, run both ways.

    python -m benchmarks.prediction              about five minutes
    python -m benchmarks.prediction --runs 3     every experiment three times on real nodes; the median counts

Each experiment runs in the virtual-time simulator and on local processes, on the same seed. Two times are compared:
until the median node has done all iterations, and until the curve by time is at a target, the lowest objective that
the simulator has in the first three fifths of its points.

On real nodes the curve by time has a point when the nodes' newest snapshots are so far, in the simulator when the nodes
themselves are: between two snapshots the former lags behind, which shows as a part of the error where nodes are apart.

What the prediction rests on is measured, too: how long an iteration of nominal 20 ms takes, waiting taken off, for
every algorithm, and how long a message takes over a link of 20 ms, before the run and by a clock that both ends share.

All nodes have enough data, and small steps, so that it hardly matters whose messages are averaged: with spare and in
`free` that is a race, which no seed repeats, and a target would else tell of luck rather than of time.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from benchmarks.network import Watcher
from benchmarks.printing import print_goals, table_of, warn_if_busy
from orchestrator.backends.local import on_loopback
from orchestrator.backends.on_processes import RunRequest, run_on_processes
from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import make_network_setting
from orchestrator.results import Ending, Status
from pame.algorithms import SPECS
from pame.byte_account import ByteAccount
from pame.observe import Record
from pame.simulator import run_virtual_time

MEDIAN_ERROR, WORST_ERROR = 0.05, 0.15
STEP_S, STEP_SLACK_S = 0.020, 0.0005
LINK_S, LINK_SLACK_S = 0.020, 0.0005
RUNS = 1
ITERATIONS = 400
TARGET_WITHIN = 0.6
"""Of the points of the simulator's curve by time; the target is the lowest of them."""
FIRST = 5
"""Iterations of a node that are not looked at: links connect."""
PAME = {"kind": "pame", "participation": 0.5, "support": 0.2, "step": {"kind": "fixed", "eta": 0.1}}
BASE: dict[str, Any] = {
    "topology": {"kind": "random-regular", "degree": 4},
    "problem": {"kind": "logistic", "n": 200, "samples": 400},
    "algorithm": PAME,
    "period": "1..3",
    "compute": {"step": "20ms"},
    "verify": {"when": "never"},
    "evaluate": {"every": 5},
    "stop": {"iterations": ITERATIONS},
}
SLOW = {"step": "20ms", "jitter": 0.2, "stragglers": 0.125, "slowdown": 5}
EXPERIMENTS: dict[str, dict[str, Any]] = {
    "PaME, LAN": {"nodes": 8, "links": "lan"},
    "PaME, WAN": {"nodes": 16, "links": "wan"},
    "PaME, 4G": {"nodes": 8, "links": "4g"},
    "D-PSGD, rate-bound": {
        "nodes": 8,
        "algorithm": {"kind": "dpsgd", "eta": 0.1},
        "period": 2,
        "links": {"delay": "5ms", "rate": "300kbit"},
    },
    "straggler, spare 0": {"nodes": 8, "links": "lan", "compute": SLOW},
    "straggler, spare 2": {"nodes": 8, "links": "lan", "compute": SLOW, "exchange": {"spare": 2}},
    "PaME, WAN, free": {"nodes": 16, "links": "wan", "exchange": {"mode": "free"}},
    "CHOCO-SGD, WAN": {"nodes": 16, "algorithm": {"kind": "choco", "eta": 0.1}, "links": "wan"},
}


@dataclass(frozen=True)
class Measured:
    """One run on real nodes."""

    watched: Watcher
    overran: float
    """The share of the iterations."""
    is_cpu_bound: bool
    delays_s: Sequence[float] = ()
    """As measured before the run."""


@dataclass(frozen=True)
class Compared:
    """One experiment both ways."""

    both: Sequence[tuple[float, float]]
    """Seconds until the iterations are done, and to the target, each as predicted and as measured."""
    overran: float
    is_cpu_bound: bool

    @property
    def errors(self) -> list[float]:
        """By how much the measured times are above those predicted."""
        return [measured / predicted - 1.0 for predicted, measured in self.both]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=RUNS, help="of each experiment, on real nodes")
    runs = parser.parse_args().runs
    console = Console(width=120)
    warn_if_busy(console)
    with threadpool_limits(1):
        compared = compare(runs)
        console.print(prediction_table(compared))
        steps = iteration_times()
        console.print(step_table(steps))
        delays = link_delays()
    print_goals(console, reaches(compared, steps, delays))


def experiment_of(**settings: Any) -> Experiment:
    return Experiment.model_validate_json(json.dumps({"name": "prediction", **BASE, **settings}))


def compare(runs: int) -> dict[str, Compared]:
    """All experiments, first simulated, then one after another on the same processes."""
    experiments = {name: experiment_of(**settings) for name, settings in EXPERIMENTS.items()}
    predicted = {name: simulate(experiment) for name, experiment in experiments.items()}
    measured = on_nodes([experiment for experiment in experiments.values() for _ in range(runs)])
    return {
        name: compare_one(predicted[name], measured[place * runs : (place + 1) * runs])
        for place, name in enumerate(experiments)
    }


def simulate(experiment: Experiment) -> Watcher:
    watcher = Watcher()
    run_virtual_time(make_network_setting(experiment, Path()), watcher, ByteAccount(experiment.nodes))
    return watcher


def on_nodes(experiments: Sequence[Experiment]) -> list[Measured]:
    """Runs on local processes that are started once."""
    with TemporaryDirectory() as name:
        folder, measured = Path(name), []

        def ended(errand: RunRequest, ending: Ending) -> None:
            if ending.status is not Status.FINISHED:
                raise RuntimeError(f"a run did not finish: {ending.reason}")
            watcher = errand.watcher
            assert isinstance(watcher, Watcher)
            network = json.loads((errand.folder / "summary.json").read_text(encoding="utf-8"))["network"]
            found = (network["verified"] or {}).get("findings", ())
            delays = [row["measured"] for row in found if row["property"] == "delay"]
            overran, is_bound = network["overran_share"] or 0.0, network["cpu_bound"]
            measured.append(Measured(watcher, overran, is_bound, delays))

        errands = [
            RunRequest("local", experiment, folder, folder / str(number), Watcher())
            for number, experiment in enumerate(experiments)
        ]
        run_on_processes(errands, folder / "nodes.log", on_loopback, ended)
        return measured


def compare_one(predicted: Watcher, measured: Sequence[Measured]) -> Compared:
    """The medians of the measured runs beside the simulated one."""
    by_time = [point.objective for point in predicted.points if point.by == "time"]
    target = min(by_time[: 1 + int(TARGET_WITHIN * (len(by_time) - 1))])
    medians = map(median, zip(*(times(run.watched, target) for run in measured), strict=True))
    return Compared(
        list(zip(times(predicted, target), medians, strict=True)),
        median(run.overran for run in measured),
        any(run.is_cpu_bound for run in measured),
    )


def times(watched: Watcher, target: float) -> tuple[float, float]:
    """When the median node has done all iterations, and when the curve by time first is at the target."""
    done = sorted(record.seconds or 0.0 for record in watched.records if record.iteration == ITERATIONS - 1)
    below = (point.seconds for point in watched.points if point.by == "time" and point.objective <= target)
    return median(done), next(below, None) or float("inf")


def iteration_times() -> dict[str, tuple[float, Measured]]:
    """For every algorithm: how long an iteration takes, without the waiting, in the median of all nodes."""
    settings = {"nodes": 8, "links": "lan", "stop": {"iterations": 100}, "evaluate": {"every": 20}}
    experiments = [experiment_of(**settings, algorithm={"kind": kind}) for kind in SPECS]
    runs = on_nodes(experiments)
    return {kind: (iteration_s(run.watched.records), run) for kind, run in zip(SPECS, runs, strict=True)}


def iteration_s(records: Sequence[Record]) -> float:
    """The median time from one record of a node to its next, without the waiting in between."""
    by_node: defaultdict[int, list[Record]] = defaultdict(list)
    for record in records:
        by_node[record.node].append(record)
    lengths = []
    for own in by_node.values():
        own.sort(key=lambda record: record.iteration)
        for before, after in zip(own[FIRST:], own[FIRST + 1 :], strict=False):
            lengths.append((after.seconds or 0.0) - (before.seconds or 0.0) - (after.waited_s or 0.0))
    return median(lengths)


def link_delays() -> Sequence[float]:
    settings = {"nodes": 8, "links": {"delay": "20ms"}, "verify": {"when": "only"}}
    (run,) = on_nodes([experiment_of(**settings)])
    return run.delays_s


def prediction_table(compared: dict[str, Compared]) -> Table:
    figures = ("nodes", "predicted", "measured", "error", "target", "measured", "error", "overran", "")
    title = "Seconds under the virtual clock and on real nodes"
    result = table_of(title, ("experiment", *figures), words="experiment")
    for name, found in compared.items():
        times_told = [(f"{one:.2f}", f"{other:.2f}", f"{other / one - 1.0:+.1%}") for one, other in found.both]
        result.add_row(
            name,
            str(EXPERIMENTS[name]["nodes"]),
            *chain.from_iterable(times_told),
            f"{found.overran:.1%}",
            "cpu-bound" if found.is_cpu_bound else "",
        )
    result.caption = (
        f"Until the median node has done {ITERATIONS} iterations, and until the curve by time is at a target. A run is "
        "cpu-bound if more than 5 % of its iterations had more work than fits into their nominal time."
    )
    return result


def step_table(steps: dict[str, tuple[float, Measured]]) -> Table:
    title = f"An iteration of nominal {1e3 * STEP_S:g} ms without its waiting, median, 8 nodes on a LAN"
    result = table_of(title, ("algorithm", "ms", "overran"), words="algorithm")
    for kind, (seconds, run) in steps.items():
        result.add_row(kind, f"{1e3 * seconds:.2f}", f"{run.overran:.1%}")
    return result


def reaches(
    compared: dict[str, Compared], steps: dict[str, tuple[float, Measured]], delays: Sequence[float]
) -> list[tuple[str, bool]]:
    """The goals. What is cpu-bound says nothing about time, and is named instead."""
    bound = [name for name, found in compared.items() if found.is_cpu_bound]
    errors = [abs(error) for name, found in compared.items() if name not in bound for error in found.errors]
    middle, worst = (median(errors), max(errors)) if errors else (float("inf"), float("inf"))
    far = max((seconds for seconds, _ in steps.values()), key=lambda seconds: abs(seconds - STEP_S))
    delay = median(delays)
    return [
        (f"no run is cpu-bound: {', '.join(bound) or 'none'}", not bound),
        (f"median error at most {MEDIAN_ERROR:.0%}: {middle:.1%}", middle <= MEDIAN_ERROR),
        (f"worst error at most {WORST_ERROR:.0%}: {worst:.1%}", worst <= WORST_ERROR),
        (
            f"{1e3 * STEP_S:.1f} ± {1e3 * STEP_SLACK_S:g} ms per iteration for every algorithm: {1e3 * far:.2f} is the "
            "farthest",
            abs(far - STEP_S) <= STEP_SLACK_S,
        ),
        (
            f"a link of {1e3 * LINK_S:g} ms within {1e3 * LINK_SLACK_S:g} ms: {1e3 * delay:.2f}, median of "
            f"{len(delays)} links ({1e3 * min(delays):.2f} to {1e3 * max(delays):.2f})",
            abs(delay - LINK_S) <= LINK_SLACK_S,
        ),
    ]


if __name__ == "__main__":
    main()
