"""Run folders as a run leaves them: 16 nodes on a random-looking graph of degree 4, 300 iterations of decay."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pame.randomness import Key, Purpose, integers, normals, permutation

N, S = 200, 40


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
    svg: str | None = None
    metric: str = "test_mse"
    warnings: tuple[str, ...] = ("3 of 4 800 steps took longer than the nominal step time.",)

    def but(self, **changes: Any) -> "Plan":
        return replace(self, **changes)


def noise(plan: Plan, node: int, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return normals(Key(plan.seed, Purpose.LABELS, node), count)


def edges_of(plan: Plan) -> list[tuple[int, int]]:
    """A ring over a shuffled order, and a second one: degree 4 or a little less."""
    pairs = set()
    for ring in range(2):
        order = permutation(Key(plan.seed, Purpose.GRAPH, ring), plan.nodes).tolist()
        pairs |= {tuple(sorted(pair)) for pair in zip(order, order[1:] + order[:1], strict=True)}
    return sorted((int(a), int(b)) for a, b in pairs if a != b)


def make_run(folder: Path, plan: Plan) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    edges = edges_of(plan)
    (folder / "experiment.yaml").write_text(
        f"name: {json.dumps(plan.name)}\nseed: {plan.seed}\ntopology:\n  kind: random_regular\n  degree: 4\n"
        "algorithm:\n  kind: pame\n  nu: 0.2\n  gamma: 1.005\nproblem:\n  kind: linear\n  n: 200\n"
    )
    (folder / "topology.json").write_text(json.dumps(topology(plan, edges)))
    message_bytes = 345
    final = write_curve(folder / "curve.jsonl", plan, message_bytes)
    write_records(folder / "records.csv", plan, message_bytes)
    sent, links = write_links(folder / "links.csv", plan, edges, message_bytes)
    (folder / "summary.json").write_text(json.dumps(summary(plan, final, sent, links, message_bytes)))
    return folder


def topology(plan: Plan, edges: list[tuple[int, int]]) -> dict[str, Any]:
    angles = [2 * math.pi * i / plan.nodes for i in range(plan.nodes)]
    spots = [[0.5 + 0.42 * math.cos(a), 0.5 + 0.42 * math.sin(a)] for a in angles]
    lines = "".join(
        f'<line x1="{400 * spots[a][0]:.1f}" y1="{400 * spots[a][1]:.1f}" x2="{400 * spots[b][0]:.1f}" '
        f'y2="{400 * spots[b][1]:.1f}" stroke="var(--pame-edge, currentColor)" stroke-width="1.5"/>'
        for a, b in edges
    )
    dots = "".join(
        f'<circle cx="{400 * x:.1f}" cy="{400 * y:.1f}" r="9" fill="var(--pame-node, currentColor)"/>' for x, y in spots
    )
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" role="img">{lines}{dots}</svg>'
    degree = np.bincount(np.array(edges).ravel(), minlength=plan.nodes)
    return {
        "nodes": plan.nodes, "edges": edges, "kind": "random_regular", "positions": spots,
        "svg": plan.svg if plan.svg is not None else svg,
        "description": {
            "edges": len(edges), "degree_min": int(degree.min()), "degree_mean": float(degree.mean()),
            "degree_max": int(degree.max()), "diameter": 3, "diameter_exact": True, "spectral_gap": 0.2718281828,
        },
    }  # fmt: skip


def state(plan: Plan, iteration: float, wobble: float) -> dict[str, Any]:
    floor = plan.optimum or 0.0123
    gap = 2.5 * math.exp(-plan.rate * iteration) * (1 + 0.06 * wobble) + 1e-7
    return {
        "objective": floor + gap,
        "consensus": 0.0 if iteration == 0 else 0.8 * math.exp(-0.8 * plan.rate * iteration) * (1 + 0.1 * wobble),
        "coverage": 0.2 + 0.01 * wobble,
        "metrics": {plan.metric: 2 * (floor + gap) * (1 + 0.03 * wobble), "model error": math.sqrt(gap)},
    }


def write_curve(path: Path, plan: Plan, message_bytes: int) -> dict[str, Any]:
    wobbles = noise(plan, 0, 2 * plan.iterations + 2)
    lines = [
        {"by": "iteration", "iteration": k, "seconds": 0.021 * k if plan.clock else None}
        | {"bytes": k * plan.nodes * message_bytes // 5, **state(plan, k, float(wobbles[k]))}
        for k in range(plan.iterations + 1)
    ]
    lines += [
        {
            "by": "time",
            "iteration": int(1.9 * tick),
            "seconds": 0.04 * tick,
            "bytes": tick * plan.nodes * message_bytes // 3,
        }
        | state(plan, 1.9 * tick, float(wobbles[plan.iterations + tick]))
        for tick in range(plan.iterations // 2 if plan.clock else 0)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return lines[plan.iterations]


def write_records(path: Path, plan: Plan, message_bytes: int) -> None:
    rows = ["node,iteration,seconds,waited_s,wanted,received,coverage,starved,late,messages,bytes,lost,staleness"]
    for node in range(plan.nodes):
        period = 3 + node % 5
        jitter = noise(plan, 100 + node, plan.iterations)
        for k in range(plan.iterations):
            is_round = k % period == 0
            seconds = f"{0.021 * k:.4f}" if plan.clock else ""
            waited = f"{abs(0.004 * jitter[k]) * (1 + node % 4):.6f}" if plan.clock and is_round else ""
            coverage = f"{max(0.0, 0.2 + 0.03 * jitter[k]):.4f}" if is_round else ""
            sent = 1 if is_round else 0
            stale = f"{abs(jitter[k]):.4f}" if is_round else ""
            told = [node, k, seconds, waited, sent, sent, coverage, 0, 0, sent, sent * message_bytes, node % 2, stale]
            rows.append(",".join(map(str, told)))
    path.write_text("\n".join(rows) + "\n")


def write_links(path: Path, plan: Plan, edges: list[tuple[int, int]], message_bytes: int) -> tuple[int, int]:
    """How many messages were sent, and on how many links: on each one was late, and one more lost, so never sent."""
    links = sorted(edges + [(b, a) for a, b in edges])
    counts = (12 + integers(Key(plan.seed, Purpose.CANDIDATES), len(links), 9)).tolist()
    rows = ["sender,receiver,messages,bytes,aggregated,late,lost"]
    for (a, b), messages in zip(links, counts, strict=True):
        rows.append(f"{a},{b},{messages},{messages * message_bytes},{messages - 1},1,1")
    path.write_text("\n".join(rows) + "\n")
    return int(sum(counts)), len(links)


def summary(plan: Plan, final: dict[str, Any], messages: int, links: int, message_bytes: int) -> dict[str, Any]:
    diverged = plan.status == "diverged"
    total = messages * message_bytes
    floor = math.log2(math.comb(N, S)) + 64 * S
    return {
        "name": plan.name, "status": plan.status,
        "reason": "the objective left the finite numbers" if diverged else "all iterations done",
        "backend": "simulate", "driver": "virtual time" if plan.clock else "lock-step", "seed": plan.seed,
        "nodes": plan.nodes, "n": N, "s": S, "iterations": plan.iterations,
        "seconds": 0.021 * plan.iterations if plan.clock else None, "wall_seconds": 1.234567, "exact": True,
        "algorithm": "PaME", "problem": "linear regression",
        "final": {
            "objective": None if diverged else final["objective"],
            "consensus": None if diverged else final["consensus"],
            "metrics": {name: None if diverged else value for name, value in final["metrics"].items()},
        },
        "optimum": None if plan.optimum is None else {"objective": plan.optimum, "how": "solved in closed form."},
        "metric": plan.metric,
        "bytes": {
            "total": total, "values": messages * 320, "support": messages * 4, "stars": messages * 1,
            "framing": messages * 20, "late": links * message_bytes,
            "lost": links * message_bytes,
        },
        "messages": {
            "sent": messages, "aggregated": messages - links, "late": links, "evicted": 0, "lost": links, "starved": 3,
        },
        "message_bits": {"sent": 8.0 * message_bytes, "paper": 63.0 * S + N, "floor": floor, "dense": 64.0 * N},
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
def run_folder(tmp_path: Path) -> Callable[..., Path]:
    """Makes a run folder; keywords change the plan."""
    return lambda **changes: make_run(tmp_path / "run", Plan().but(**changes))


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
