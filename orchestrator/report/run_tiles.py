"""The key figures of a run, each beside what it is to be compared with: the start, whole models, the nominal time."""

from collections.abc import Mapping

from orchestrator.number_words import (
    count,
    duration,
    is_share,
    metric_title,
    number,
    of_metric,
    reach_of_metric,
    volume,
)
from orchestrator.report.progress import NO_CLOCK
from orchestrator.results.files import finite, mapping
from orchestrator.results.read import BROKEN_OFF, RUNNING, RunData, step_seconds
from orchestrator.results.summary import LateEvaluation, RunSummary
from pame.observe import Evaluation

Tile = tuple[str, str, str]


def run_tiles(run: RunData, settings: Mapping[str, object]) -> list[Tile]:
    """What, the figure, and what stands below it; an accuracy comes first where nobody knows the optimum."""
    summary, start = run.summary, start_of(run)
    objective, metric = [_objective(summary, start)], _metric(summary, start)
    own_objective, own_metric = _own_objective(summary), _own_metric(summary)
    if is_share(summary.metric or "") and summary.least is None:
        first = [*metric, *own_metric, *objective, *own_objective]
    else:
        first = [*objective, *own_objective, *metric, *own_metric]
    return [
        *first,
        ("Consensus distance", number(summary.final.consensus), _widest(run)),
        ("Iterations", number(summary.iterations), _asked(summary, mapping(settings.get("stop")))),
        _transmitted(summary),
        _time(summary, mapping(settings.get("compute"))),
        *_evaluation(summary.evaluation),
    ]


def start_of(run: RunData) -> Evaluation | None:
    """The models before the first step, as they were judged."""
    return next((point for point in run.curve if point.iteration == 0), None)


def _ended(summary: RunSummary) -> bool:
    return summary.status not in (BROKEN_OFF, RUNNING)


def _joined(*words: str) -> str:
    return "; ".join(filter(None, words))


def _objective(summary: RunSummary, start: Evaluation | None) -> Tile:
    least, before = summary.least, "" if start is None else f"{number(finite(start.objective))} at the start"
    best = "" if least is None else f"f* = {number(least)}"
    return (
        f"{'Final' if _ended(summary) else 'Last'} f(mean model)",
        number(summary.final.objective),
        _joined(before, best),
    )


def _metric(summary: RunSummary, start: Evaluation | None) -> list[Tile]:
    name = summary.metric
    if not name:
        return []
    before = finite(start.metrics.get(name)) if start else None
    began = "" if before is None else f"{of_metric(name, before)} at the start"
    return [(metric_title(name), of_metric(name, summary.final.metrics.get(name)), _joined("mean model", began))]


def _own_objective(summary: RunSummary) -> list[Tile]:
    """What the nodes themselves have, where it was judged."""
    own = summary.final.own
    if own is None:
        return []
    return [
        ("f at the nodes' own models", number(finite(own.objective)), f"mean; worst node {number(finite(own.worst))}")
    ]


def _own_metric(summary: RunSummary) -> list[Tile]:
    own, metric = summary.final.own, summary.metric or ""
    mean, low, high = (finite(of.get(metric)) for of in (own.metrics, own.lowest, own.highest)) if own else (None,) * 3
    if mean is None:
        return []
    reach = f"mean of their own models; {reach_of_metric(metric, low, high)}"
    return [(f"{metric_title(metric)} of the nodes", of_metric(metric, mean), reach)]


def _widest(run: RunData) -> str:
    """The nodes' models are alike at the start: what is to be compared with is when they were farthest apart."""
    known = [point for point in run.curve if finite(point.consensus) is not None]
    if not known:
        return "of the models to their mean"
    widest = max(known, key=lambda point: point.consensus)
    return f"largest {number(widest.consensus)}, at iteration {number(widest.iteration)}"


def _asked(summary: RunSummary, stop: Mapping[str, object]) -> str:
    asked = finite(stop.get("iterations"))
    nodes = "" if summary.nodes is None else count(summary.nodes, "node")
    return _joined("" if asked is None else f"of at most {number(asked)}", nodes)


def _transmitted(summary: RunSummary) -> Tile:
    """Payload, whole models in as many messages, and what it was on the wire where there was one."""
    total, messages, dense = summary.bytes.total, summary.messages.sent, summary.message_bits.dense
    wire = summary.network.wire if summary.network else None
    on_wire = wire.model.get("total") if wire else None
    if total is None:
        return "Transmitted", volume(total), ""
    whole = "" if messages is None or dense is None else f"whole models: {volume(messages * dense / 8)}"
    return (
        "Transmitted",
        volume(total),
        _joined("payload", whole, "" if on_wire is None else f"{volume(on_wire)} on the wire"),
    )


def _time(summary: RunSummary, compute: Mapping[str, object]) -> Tile:
    seconds, wall, iterations = summary.seconds, summary.wall_seconds, summary.iterations
    below = [
        NO_CLOCK if seconds is None and iterations is not None else "",
        "by the run's own clock" if seconds is not None and not _ended(summary) else "",
        _nominal(iterations, compute) if seconds is not None else "",
        f"computed in {duration(wall)}" if wall is not None else "",
    ]
    return "Simulated time" if summary.is_simulated else "Time", duration(seconds), _joined(*below)


def _nominal(iterations: int | None, compute: Mapping[str, object]) -> str:
    """What the steps alone take, if nobody waits."""
    step = step_seconds(compute)
    return f"the steps alone: {duration(iterations * step)}" if iterations and step else ""


def _evaluation(late: LateEvaluation | None) -> list[Tile]:
    """What judging took, where it was done after the run."""
    if late is None:
        return []
    below = f"{count(late.evaluated, 'point')}; {duration(late.cpu_s)} of CPU, {volume(late.bytes)} of models"
    return [("Evaluated after the run", duration(late.seconds), below)]
