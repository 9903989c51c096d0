"""The figures of a run, from what it left: the same code for a prediction and for a measurement.

The yardstick is the share of the way that is left, (f(mean model) - f*) / (f(0) - f*): from 1 at the start to 0.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from orchestrator.campaigns.cell import HowEnded, Look, Measurement, Run
from orchestrator.campaigns.run_left import RunLeft, RunPoint
from orchestrator.campaigns.yardstick import Yardstick, optimum_of, yardstick_of
from orchestrator.number_words import duration, percent, volume
from orchestrator.results.spread import Spread, spread, spread_of_hits
from orchestrator.results.tables import LinkTotals
from pame.byte_account import LinkRows
from pame.fault_effects import CutEffect
from pame.observe import Record
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


@dataclass(frozen=True, kw_only=True)
class StudyRow(HowEnded):
    """One cell, measured. None: not measured; a time to target that is None is a miss."""

    policy: str
    condition: str
    seed: int
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

    def left_on(self, nodes: Iterable[int]) -> float | None:
        """The share of the way that is left on some nodes' own data."""
        chosen = [self.own[node] for node in nodes] if self.own else []
        way = sum(data.start - data.best for data in chosen)
        return sum(data.end - data.best for data in chosen) / way if way > 0 else None


@dataclass(frozen=True)
class StudyFigure:
    heading: str
    of: Callable[[StudyRow], float | None]
    words: Callable[[float | None], str] = percent
    is_hit: bool = False
    """Whether a run without it missed the target."""


TIME = StudyFigure("Time to target", lambda row: row.seconds_to_target, duration, is_hit=True)
BYTES = StudyFigure("Bytes to target", lambda row: row.bytes_to_target, volume, is_hit=True)
PACE = StudyFigure("Pace of the others", lambda row: row.pace, lambda pace: f"{pace:.3g} /s")
WAITING = StudyFigure("Waiting", lambda row: row.waiting)
USED = StudyFigure("Their messages used", lambda row: row.messages_used)
AVERAGED = StudyFigure("Their share of averages", lambda row: row.share_of_averages)
STARVED = StudyFigure("Starved", lambda row: row.starved)
LEFT = StudyFigure("Left at the end", lambda row: row.left)
LEFT_BY_OTHERS = StudyFigure("Left by the others", lambda row: row.left_by_others)
LEFT_ON_THEIRS = StudyFigure("Left on their data", lambda row: row.left_on(row.struck))
IN_A_CONDITION = (BYTES, PACE, WAITING, USED, AVERAGED, STARVED, LEFT, LEFT_BY_OTHERS, LEFT_ON_THEIRS)
OF_A_PAIR = (TIME, BYTES, PACE, WAITING, USED, STARVED, LEFT, LEFT_ON_THEIRS)


class Rows:
    def __init__(self, rows: Sequence[StudyRow]) -> None:
        self._rows = rows

    def of(self, policy: str, condition: str) -> list[StudyRow]:
        """All seeds of a cell, ascending."""
        found = [row for row in self._rows if (row.policy, row.condition) == (policy, condition)]
        return sorted(found, key=lambda row: row.seed)

    def pairs(self, one: tuple[str, str], other: tuple[str, str]) -> list[tuple[StudyRow, StudyRow]]:
        """Two cells, each a policy and a condition, with the same seed."""
        known = {row.seed: row for row in self.of(*other)}
        return [(row, known[row.seed]) for row in self.of(*one) if row.seed in known]

    def figure(self, policy: str, condition: str, figure: StudyFigure) -> Spread | None:
        values = [figure.of(row) for row in self.of(policy, condition)]
        return spread_of_hits(values) if figure.is_hit else spread(values)


@dataclass(frozen=True)
class StudyLook(Look):
    """`target`: the share of the way that may be left."""

    target: float

    def measure(self, left: RunLeft) -> Measurement:
        setting, curve, stick = left.setting, left.curve("time"), yardstick_of(left.setting)
        struck, models = struck_nodes(setting), left.models
        others = [node for node in range(setting.topology.nodes) if node not in struck]
        hit, resolution_s = _hit(curve, stick, self.target)
        messages_used, share_of_averages = _heard(left.links, struck)
        last = curve[-1].objective if curve else None
        figures = {
            "seconds_to_target": hit and hit.seconds,
            "bytes_to_target": hit and hit.bytes,
            "resolution_s": resolution_s,
            "left": None if last is None else stick.left(last),
            "objective": last,
            "messages_used": messages_used,
            "share_of_averages": share_of_averages,
            "struck": struck,
            "left_by_others": None
            if models is None
            else stick.left(setting.problem.objective(models[others].mean(axis=0))),
            "own": [] if models is None else [asdict(own) for own in _own_data(setting, models)],
            **({} if left.records is None else _work(left.records, others, left.seconds)),
        }
        return Measurement(curve, figures)


def row_of(run: Run) -> StudyRow:
    told = {**run.figures, **run.ended()}
    told |= {"struck": tuple(told["struck"]), "own": tuple(OwnData(**own) for own in told["own"])}
    return StudyRow(policy=run.labels["policy"], condition=run.labels["condition"], seed=run.seed, **told)


def struck_nodes(setting: ResolvedRun) -> tuple[int, ...]:
    """The slow nodes; else the quarter of the nodes with the most links that fail; else nobody."""
    nodes = setting.topology.nodes
    if slow := setting.conditions.slow_nodes:
        return tuple(sorted(slow))
    failing = {link for event in setting.plan if isinstance(event.effect, CutEffect) for link in event.effect.links}
    times = Counter(receiver for _, receiver in failing)
    worst = sorted(times, key=lambda node: (-times[node], node))
    return tuple(sorted(worst[: max(1, nodes // 4)]))


def _hit(curve: Sequence[RunPoint], stick: Yardstick, target: float) -> tuple[RunPoint | None, float]:
    """The first point at the target, and how long before it was the one before."""
    before = 0.0
    for point in curve:
        if point.seconds is not None:
            if stick.left(point.objective) <= target:
                return point, point.seconds - before
            before = point.seconds
    return None, 0.0


def _heard(links: LinkRows | LinkTotals | None, struck: tuple[int, ...]) -> tuple[float | None, float | None]:
    """Of what the struck nodes sent, and of all that was averaged."""
    if links is None or not struck:
        return None, None
    theirs = np.isin(links.sender, struck)
    used = float(links.aggregated[theirs].sum())
    return _share(used, float(links.messages[theirs].sum())), _share(used, float(links.aggregated.sum()))


def _work(records: Sequence[Record], others: Sequence[int], seconds: float | None) -> Mapping[str, float | None]:
    """How nodes spent their time: those that are not struck, at which pace; all, waiting and starving."""
    ends: dict[int, float] = {}
    done: dict[int, int] = {}
    for record in records:
        ends[record.node] = max(record.seconds or 0.0, ends.get(record.node, 0.0))
        done[record.node] = max(record.iteration + 1, done.get(record.node, 0))
    pace = median(done.get(node, 0) for node in others) / seconds if seconds and others else None
    return {
        "pace": pace,
        "waiting": _share(sum(record.waited_s or 0.0 for record in records), sum(ends.values())),
        "starved": _share(sum(record.starved for record in records), sum(record.wanted > 0 for record in records)),
    }


def _own_data(setting: ResolvedRun, models: NDArray[np.float64]) -> Iterable[OwnData]:
    mean, best = models.mean(axis=0), optimum_of(setting.problem).model
    local = [setting.problem.local(node) for node in range(setting.topology.nodes)]
    return (OwnData(f.value(setting.start), f.value(mean), f.value(best)) for f in local)


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
