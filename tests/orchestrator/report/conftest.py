"""Run folders as a run leaves them: 16 nodes on a random graph of degree 4, 300 iterations of decay."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from orchestrator.results import RunFolder
from pame.observe import Evaluation, Record
from pame.randomness import Key, Purpose, integers, normals
from pame.topology import Topology, build
from pame.topology.kinds import RandomRegular
from tests.orchestrator.report.builders import MakeRun

N, S, MESSAGE_BYTES = 200, 40, 345


@dataclass(frozen=True)
class Plan:
    name: str = "Linear regression, 16 nodes"
    nodes: int = 16
    iterations: int = 300
    seed: int = 7
    rate: float = 0.035
    clock: bool = True
    optimum: float | None = 0.0123
    status: str = "finished"
    metric: str = "test_mse"
    warnings: tuple[str, ...] = ("3 of 4 800 steps took longer than the nominal step time.",)


def noise(plan: Plan, node: int, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return normals(Key(plan.seed, Purpose.LABELS, node), count)


def make_run(folder: Path, plan: Plan) -> Path:
    graph, points = build(RandomRegular(4), plan.nodes, plan.seed), curve(plan)
    with RunFolder(folder) as run:
        run.write_topology(graph, "random-regular")
        for point in points:
            run.evaluated(point)
        for node in range(plan.nodes):
            run.recorded(list(records(plan, node)))
    (folder / "experiment.yaml").write_text(
        f"name: {json.dumps(plan.name)}\nseed: {plan.seed}\ntopology:\n  kind: random-regular\n  degree: 4\n"
        "algorithm:\n  kind: pame\n  nu: 0.2\n  gamma: 1.005\nproblem:\n  kind: linear\n  n: 200\n"
    )
    sent, links = write_links(folder / "links.csv", plan, graph)
    (folder / "summary.json").write_text(json.dumps(summary(plan, points[plan.iterations], sent, links)))
    return folder


def curve(plan: Plan) -> list[Evaluation]:
    """By iteration; then by time, if there is a clock."""
    wobbles = noise(plan, 0, 2 * plan.iterations + 2).tolist()
    sent, ticks = plan.nodes * MESSAGE_BYTES, range(plan.iterations // 2 if plan.clock else 0)
    return [
        *(
            state(plan, "iteration", k, 0.021 * k if plan.clock else None, k * sent // 5, wobbles[k])
            for k in range(plan.iterations + 1)
        ),
        *(state(plan, "time", 1.9 * t, 0.04 * t, t * sent // 3, wobbles[plan.iterations + t]) for t in ticks),
    ]


def state(
    plan: Plan, by: Literal["iteration", "time"], iteration: float, seconds: float | None, sent: int, wobble: float
) -> Evaluation:
    floor = plan.optimum or 0.0123
    gap = 2.5 * math.exp(-plan.rate * iteration) * (1 + 0.06 * wobble) + 1e-7
    consensus = 0.0 if iteration == 0 else 0.8 * math.exp(-0.8 * plan.rate * iteration) * (1 + 0.1 * wobble)
    metrics = {plan.metric: 2 * (floor + gap) * (1 + 0.03 * wobble), "model error": math.sqrt(gap)}
    return Evaluation(by, int(iteration), seconds, sent, floor + gap, consensus, 0.2 + 0.01 * wobble, metrics)


def records(plan: Plan, node: int) -> Iterator[Record]:
    for k, jitter in enumerate(noise(plan, 100 + node, plan.iterations).tolist()):
        sent = int(k % (3 + node % 5) == 0)
        seconds = 0.021 * k if plan.clock else None
        waited = abs(0.004 * jitter) * (1 + node % 4) if plan.clock and sent else None
        coverage, stale = (max(0.0, 0.2 + 0.03 * jitter), abs(jitter)) if sent else (None, None)
        size = sent * MESSAGE_BYTES
        yield Record(node, k, seconds, waited, sent, sent, coverage, 0, 0, sent, size, node % 2, stale)


def write_links(path: Path, plan: Plan, graph: Topology) -> tuple[int, int]:
    """How many messages were sent, and on how many links: on each one was late, and one more lost, so never sent."""
    links = sorted(link for a, b in graph.edges.tolist() for link in ((a, b), (b, a)))
    counts = (12 + integers(Key(plan.seed, Purpose.CANDIDATES), len(links), 9)).tolist()
    rows = ["sender,receiver,messages,bytes,aggregated,late,lost"]
    for (a, b), messages in zip(links, counts, strict=True):
        rows.append(f"{a},{b},{messages},{messages * MESSAGE_BYTES},{messages - 1},1,1")
    path.write_text("\n".join(rows) + "\n")
    return int(sum(counts)), len(links)


def summary(plan: Plan, final: Evaluation, messages: int, links: int) -> dict[str, Any]:
    diverged = plan.status == "diverged"
    floor = math.log2(math.comb(N, S)) + 64 * S
    return {
        "name": plan.name, "status": plan.status,
        "reason": "the objective left the finite numbers" if diverged else "all iterations done",
        "backend": "simulate", "driver": "virtual time" if plan.clock else "lock-step", "seed": plan.seed,
        "nodes": plan.nodes, "n": N, "s": S, "iterations": plan.iterations,
        "seconds": 0.021 * plan.iterations if plan.clock else None, "wall_seconds": 1.234567, "exact": True,
        "algorithm": "PaME", "problem": "linear regression",
        "final": {
            "objective": None if diverged else final.objective,
            "consensus": None if diverged else final.consensus,
            "metrics": {name: None if diverged else value for name, value in final.metrics.items()},
        },
        "optimum": None if plan.optimum is None else {"objective": plan.optimum, "how": "solved in closed form."},
        "metric": plan.metric,
        "bytes": {
            "total": messages * MESSAGE_BYTES, "values": messages * 320, "support": messages * 4, "stars": messages,
            "framing": messages * 20, "late": links * MESSAGE_BYTES, "lost": links * MESSAGE_BYTES,
        },
        "messages": {
            "sent": messages, "aggregated": messages - links, "late": links, "evicted": 0, "lost": links, "starved": 3,
        },
        "message_bits": {"sent": 8.0 * MESSAGE_BYTES, "paper": 63.0 * S + N, "floor": floor, "dense": 64.0 * N},
        "measured": {
            "objective": "The loss over all data, at the mean of the models of all nodes, every iteration.",
            "bytes": "Length of every encoded message plus its gRPC framing, counted by the sender.",
            "seconds": "Virtual time of the simulator, from the step time and the link model of the experiment.",
        },
        "warnings": list(plan.warnings),
    }  # fmt: skip


def make_sweep(folder: Path, values: list[dict[str, Any]], plans: list[Plan]) -> Path:
    """A sweep folder: sweep.json and one run folder per entry."""
    runs = []
    for number, (value, plan) in enumerate(zip(values, plans, strict=True), 1):
        name = f"{number:02d}-run"
        make_run(folder / name, plan)
        runs.append({"folder": name, "values": value, "status": plan.status})
    sweep = {"name": "How many coordinates?", "keys": list(values[0]), "runs": runs}
    (folder / "sweep.json").write_text(json.dumps(sweep))
    return folder


@pytest.fixture
def run_folder(tmp_path: Path) -> MakeRun:
    return lambda **changes: make_run(tmp_path / "run", Plan(**changes))


@pytest.fixture
def words_folder(tmp_path: Path) -> Path:
    """A swept key whose values are not all numbers; fewer iterations, so less time, with every further spare."""
    spares = [0, 1, 2, "all"]
    plans = [Plan(iterations=100 - 20 * place) for place in range(len(spares))]
    return make_sweep(tmp_path / "words", [{"exchange.spare": spare} for spare in spares], plans)


@pytest.fixture
def sweep_folder(tmp_path: Path) -> Path:
    """Four shares, three seeds each; the largest share diverges with one seed."""
    grid = [(share, seed) for share in (0.05, 0.1, 0.2, 0.4) for seed in (1, 2, 3)]
    return make_sweep(
        tmp_path / "sweep",
        [{"algorithm.share": share, "seed": seed} for share, seed in grid],
        [
            Plan(
                seed=seed,
                rate=0.012 + 0.08 * share + 0.002 * seed,
                status="diverged" if (share, seed) == (0.4, 3) else "finished",
            )
            for share, seed in grid
        ],
    )
