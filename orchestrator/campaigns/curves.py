"""The curve of a run as campaigns keep it: by iteration or by time, with the rounds and the bytes of each point."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import isfinite
from typing import Literal

from orchestrator.campaigns.cell import RunPoint
from orchestrator.campaigns.run_left import RunLeft
from pame.algorithms import Who
from pame.observe import Evaluation
from pame.resolved_run import ResolvedRun

By = Literal["iteration", "time"]
SENT, NODES, WORST = "sent", "nodes_objective", "worst_objective"
"""Bytes really sent, where those of the edges that take part count; f at the nodes' own models: mean and largest."""
_OF_NODES, _LOWEST = "nodes_", "lowest_"


def of_nodes(metric: str) -> str:
    """The name of a metric's mean over the nodes' own models."""
    return f"{_OF_NODES}{metric}"


def lowest(metric: str) -> str:
    """The name of the lowest of them."""
    return f"{_LOWEST}{metric}"


def curve_of(left: RunLeft, by: By, taking_part: bool = False) -> tuple[RunPoint, ...]:
    """Points whose f is not finite are left out; `taking_part`: only bytes on edges that take part in a round count."""
    used = _bytes_used(left) if taking_part else None
    before = list(accumulate(used.get(k, 0.0) for k in range(max(used, default=0) + 1))) if used else None
    return tuple(
        run_point(point, left.setting.periods, before)
        for point in left.points
        if point.by == by and isfinite(point.objective)
    )


def decisive(setting: ResolvedRun) -> By:
    """By iteration; by time where complete sets of models lag behind, or never come."""
    return "time" if setting.conditions.keep_nodes_apart else "iteration"


def rounds_before(periods: Sequence[int], iteration: int) -> float:
    """How many rounds a node has had before an iteration, the mean over the nodes; round 0 is one."""
    return sum(-(-iteration // period) for period in periods) / len(periods)


def run_point(point: Evaluation, periods: Sequence[int], before: Sequence[float] | None = None) -> RunPoint:
    """`before`: by iteration, the bytes that count, if these are not all that were sent."""
    iteration, sent, own = point.iteration, float(point.bytes), point.own
    metrics: dict[str, float] = {"consensus": point.consensus, **point.metrics}
    if own is not None:
        metrics |= {NODES: own.objective, WORST: own.worst}
        metrics |= {of_nodes(name): value for name, value in own.metrics.items()}
        metrics |= {lowest(name): value for name, value in own.lowest.items()}
    if before is not None:
        metrics[SENT] = sent
    paid = sent if not before else before[min(iteration, len(before)) - 1] if iteration else 0.0
    known = {name: value for name, value in metrics.items() if isfinite(value)}
    return RunPoint(iteration, rounds_before(periods, iteration), paid, point.seconds, point.objective, known)


def _bytes_used(left: RunLeft) -> Mapping[int, float] | None:
    """By iteration: what went over edges that took part; None: all that is sent does, or nobody knows."""
    selection = left.setting.selection()
    if left.records is None or selection.who not in (Who.BROADCAST, Who.BROADCAST_SHARED):
        return None
    used: dict[int, float] = {}
    for record in left.records:
        if record.messages:
            share = len(selection.active(record.node, record.iteration)) / record.messages
            used[record.iteration] = used.get(record.iteration, 0.0) + share * record.bytes
    return used
