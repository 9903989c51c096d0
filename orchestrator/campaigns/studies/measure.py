"""One row of figures from what a run left: the same code for a prediction and for a measurement.

The yardstick is the share of the way that is left, (f(mean model) - f*) / (f(0) - f*): from 1 at the start to 0.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.campaigns.studies.grid import StudyCell
from orchestrator.results.points import read_curve
from orchestrator.results.summary import require_summary
from orchestrator.results.tables import blocks, read_links
from pame.fault_effects import CutEffect
from pame.observe import Evaluation
from pame.resolved_run import ResolvedRun

HOW = {
    "time to target": "seconds until the share of the way that is left, (f(mean model) - f*) / (f(0) - f*), is at or "
    "below the target, on the curve by time (newest model of every node); simulated seconds by the virtual clock, real "
    "ones by the orchestrator's",
    "bytes to target": "encoded payloads of all nodes until then",
    "pace of the others": "iterations per second of the median node that is not struck, over the whole run",
    "waiting": "time that nodes spent waiting at rounds, over the time of all their finished iterations",
    "their messages used": "of the messages that the struck nodes sent, how many were averaged by anybody",
    "their share of averages": "of all messages that were averaged, how many came from the struck nodes",
    "starved": "rounds at which a node needed messages and had none, of all rounds",
    "left at the end": "the share of the way that is left at the last point of the curve by time",
    "left by the others": "the same share at the mean of the final models of the nodes that are not struck",
    "struck nodes": "the slow nodes; with failing links, the worst-linked quarter: the nodes with the most of them",
    "left on their data": "the same share with the mean of f_i over the struck nodes only, at the mean of all nodes' "
    "final models; f* is the value there of the optimum of all data",
}
"""What the columns mean."""


@dataclass(frozen=True)
class OwnData:
    """f_i of one node, at three models."""

    start: float
    end: float
    """At the mean of all nodes' final models."""
    best: float
    """At the optimum of f."""


@dataclass(frozen=True)
class StudyRow:
    """One cell, measured. None: not measured; a time to target that is None is a miss."""

    policy: str
    condition: str
    seed: int
    backend: str
    status: str
    seconds: float | None
    seconds_to_target: float | None
    bytes_to_target: float | None
    left: float | None
    objective: float | None
    pace: float | None = None
    waiting: float | None = None
    messages_used: float | None = None
    share_of_averages: float | None = None
    starved: float | None = None
    struck: tuple[int, ...] = ()
    left_by_others: float | None = None
    own: tuple[OwnData, ...] = ()
    """By node; empty if the final models are not known."""
    cpu_bound: bool = False
    health: str = ""
    """Of a run on nodes; empty: nobody knows."""
    health_reason: str = ""
    resolution_s: float = 0.0
    """How long before the hit the curve was last looked at."""

    @property
    def rounding(self) -> float:
        """The variance that the curve's resolution gives to the logarithm of the time to the target."""
        return (self.resolution_s / self.seconds_to_target) ** 2 / 12 if self.seconds_to_target else 0.0

    @property
    def ran(self) -> bool:
        """Whether there was a run at all: one that failed missed nothing."""
        return self.status in ("finished", "diverged")

    @property
    def held_s(self) -> float | None:
        """The time to the target of a run that did not diverge later; None: it missed."""
        return self.seconds_to_target if self.status == "finished" else None

    @property
    def tells_of_time(self) -> bool:
        """Whether it ran on a machine that kept up."""
        return self.ran and not self.cpu_bound

    def left_on(self, nodes: Iterable[int]) -> float | None:
        """The share of the way that is left on some nodes' own data."""
        chosen = [self.own[node] for node in nodes] if self.own else []
        way = sum(data.start - data.best for data in chosen)
        return sum(data.end - data.best for data in chosen) / way if way > 0 else None

    def plain(self) -> dict[str, Any]:
        """For a line of JSON."""
        return asdict(self)


@dataclass(frozen=True)
class StudyYardstick:
    """f at the start and at the optimum, and the share of the way that may be left."""

    start: float
    best: float
    target: float

    def left(self, objective: float) -> float:
        """Of the way from the start to the optimum."""
        return (objective - self.best) / (self.start - self.best)

    def hit(self, points: Sequence[Evaluation]) -> tuple[Evaluation, float] | None:
        """The first point of the curve by time at the target, and how long before it was the one before."""
        before = 0.0
        for point in points:
            if point.by == "time" and isfinite(point.objective) and point.seconds is not None:
                if self.left(point.objective) <= self.target:
                    return point, point.seconds - before
                before = point.seconds
        return None


def yardstick(setting: ResolvedRun, target: float) -> StudyYardstick:
    """Of a run."""
    return StudyYardstick(setting.problem.objective(setting.start), setting.problem.optimum().objective, target)


def measure_folder(cell: StudyCell, setting: ResolvedRun, target: float, folder: Path) -> StudyRow:
    """From a run folder."""
    summary = require_summary(folder)
    network = summary.network
    struck = struck_nodes(setting)
    messages_used, share_of_averages = _heard(folder, struck)
    work = _work(folder)
    models = _models(folder, setting, network.results if network else None)
    others = [node for node in range(setting.topology.nodes) if node not in struck]
    stick = yardstick(setting, target)
    return _row(
        cell,
        stick,
        read_curve(folder),
        backend=summary.backend,
        status=summary.status,
        seconds=summary.seconds,
        pace=_pace(work, others, summary.seconds),
        waiting=_share(work.waited_s, work.took_s),
        messages_used=messages_used,
        share_of_averages=share_of_averages,
        starved=_share(work.starved, work.rounds),
        struck=struck,
        left_by_others=None if models is None else stick.left(setting.problem.objective(models[others].mean(axis=0))),
        own=() if models is None else _own_data(setting, models),
        cpu_bound=network is not None and network.cpu_bound,
        health=summary.health_word,
        health_reason=summary.health_reason,
    )


def measure_points(
    cell: StudyCell, setting: ResolvedRun, target: float, points: Sequence[Evaluation], **told: Any
) -> StudyRow:
    """From the curve alone, of a run whose folder is somewhere else; `told`: fields of the row."""
    return _row(cell, yardstick(setting, target), points, struck=struck_nodes(setting), **told)


def struck_nodes(setting: ResolvedRun) -> tuple[int, ...]:
    """The slow nodes; else the quarter of the nodes with the most links that fail; else nobody."""
    nodes = setting.topology.nodes
    if slow := setting.conditions.slow_nodes:
        return tuple(sorted(slow))
    failing = {link for event in setting.plan if isinstance(event.effect, CutEffect) for link in event.effect.links}
    times = Counter(receiver for _, receiver in failing)
    worst = sorted(times, key=lambda node: (-times[node], node))
    return tuple(sorted(worst[: max(1, nodes // 4)]))


def _row(cell: StudyCell, stick: StudyYardstick, points: Sequence[Evaluation], **figures: Any) -> StudyRow:
    hit, resolution_s = stick.hit(points) or (None, 0.0)
    last = next((p.objective for p in reversed(points) if p.by == "time" and isfinite(p.objective)), None)
    return StudyRow(
        policy=cell.policy.key,
        condition=cell.condition.key,
        seed=cell.seed,
        seconds_to_target=hit.seconds if hit else None,
        bytes_to_target=hit.bytes if hit else None,
        resolution_s=resolution_s,
        left=None if last is None else stick.left(last),
        objective=last,
        **figures,
    )


def _heard(folder: Path, struck: tuple[int, ...]) -> tuple[float | None, float | None]:
    """Of what the struck nodes sent, and of all that was averaged."""
    links = read_links(folder / "links.csv")
    if links is None or not struck:
        return None, None
    theirs = np.isin(links.sender, struck)
    used = float(links.aggregated[theirs].sum())
    return _share(used, float(links.messages[theirs].sum())), _share(used, float(links.aggregated.sum()))


@dataclass(frozen=True)
class _NodeWork:
    """records.csv in sums; `done` are iterations by node."""

    waited_s: float
    took_s: float
    starved: float
    rounds: float
    done: Mapping[int, int]


def _work(folder: Path) -> _NodeWork:
    waited = starved = rounds = 0.0
    ends: dict[int, float] = {}
    done: dict[int, int] = {}
    for block in blocks(folder / "records.csv", ("node", "iteration", "seconds", "waited_s", "wanted", "starved")):
        waited += float(np.nansum(block["waited_s"]))
        starved += float(np.nansum(block["starved"]))
        rounds += float((block["wanted"] > 0).sum())
        for node in np.unique(block["node"]).astype(int).tolist():
            its = block["node"] == node
            ends[node] = max(float(block["seconds"][its].max()), ends.get(node, 0.0))
            done[node] = max(int(block["iteration"][its].max()) + 1, done.get(node, 0))
    return _NodeWork(waited, sum(ends.values()), starved, rounds, done)


def _pace(work: _NodeWork, nodes: Sequence[int], seconds: float | None) -> float | None:
    return median(work.done.get(node, 0) for node in nodes) / seconds if seconds and nodes else None


def _models(folder: Path, setting: ResolvedRun, results: Mapping[str, Any] | None) -> NDArray[np.float64] | None:
    """The final ones; None if there are none, or a node of a network left none."""
    path = folder / "models.npy"
    if not path.is_file() or (results is not None and len(results) < setting.topology.nodes):
        return None
    models: NDArray[np.float64] = np.load(path, allow_pickle=False)
    return models


def _own_data(setting: ResolvedRun, models: NDArray[np.float64]) -> tuple[OwnData, ...]:
    mean, best = models.mean(axis=0), setting.problem.optimum().model
    local = [setting.problem.local(node) for node in range(setting.topology.nodes)]
    return tuple(OwnData(f.value(setting.start), f.value(mean), f.value(best)) for f in local)


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
