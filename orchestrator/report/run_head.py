"""The top of a run's report: what became of it in a few words, what is wrong with it, and its chief figures."""

from orchestrator.number_words import (
    count,
    duration,
    is_share,
    metric_title,
    number,
    of_metric,
    percent,
    reach_of_metric,
    volume,
)
from orchestrator.report import page
from orchestrator.report.network import cpu_bound, no_tls
from orchestrator.report.progress import NO_CLOCK
from orchestrator.report.transmission import transmitted
from orchestrator.results.files import finite
from orchestrator.results.read import BROKEN_OFF, RUNNING
from orchestrator.results.summary import LateEvaluation, RunSummary

STATUS_LOOKS = {"finished": "good", "diverged": "bad", "failed": "bad", "interrupted": "bad", BROKEN_OFF: "bad"}
HEALTH_LOOKS = {"sound": "good", "degraded": "bad", "broken": "bad"}
BECAME = {
    "interrupted": "This run was interrupted",
    "diverged": "This run diverged",
    "failed": "This run failed",
    BROKEN_OFF: "This run broke off",
    RUNNING: "This run is going on",
}


def run_head(summary: RunSummary) -> str:
    exact, health, untrue = summary.exact, summary.health_word, summary.faults.sentence if summary.faults else ""
    chips = [
        (summary.status, STATUS_LOOKS.get(summary.status, "")),
        (health, HEALTH_LOOKS.get(health, "")),
        ("exact" if exact else "not exact" if exact is not None else "", "good" if exact else ""),
        (summary.algorithm, ""),
        (f"step: {summary.step}" if summary.step else "", ""),
        (summary.problem, ""),
        (" · ".join(word for word in (summary.backend, summary.driver) if word), ""),
        (f"seed {summary.seed}" if summary.seed is not None else "", ""),
    ]
    parts = [page.heading(summary.name, chips)]
    if summary.reason and summary.status != "finished":
        became = BECAME.get(summary.status, f"This run ended as “{summary.status}”")
        look = "" if summary.status == RUNNING else "bad"
        parts.append(page.callout([f"{became}: {summary.reason}"], look=look))
    if summary.health_reason and summary.health_reason != summary.reason:
        parts.append(page.callout([f"This run is {health}: {summary.health_reason}."], look="bad"))
    if untrue:
        parts.append(page.callout([untrue], look="bad"))
    parts.append(page.tiles(_tiles(summary)))
    troubles = filter(None, (cpu_bound(summary.network), no_tls(summary.network)))
    parts += [page.callout([trouble], look="bad") for trouble in troubles]
    if summary.left_to_judge:
        parts.append(page.callout([f"Not evaluated yet: {summary.left_to_judge}."], look="bad"))
    if others := [warning for warning in summary.warnings if warning != untrue]:
        parts.append(page.callout(others, "Warnings"))
    if summary.notes:
        parts.append(page.callout(summary.notes, "Settings of the file, with another kind by --set", look="plain"))
    return "".join(parts)


def _tiles(summary: RunSummary) -> list[tuple[str, str, str]]:
    final, least, metric = summary.final, summary.least, summary.metric
    gap = final.objective - least if final.objective is not None and least is not None else None
    sent, dense = summary.message_bits.sent, summary.message_bits.dense
    seconds, wall, iterations = summary.seconds, summary.wall_seconds, summary.iterations
    ended = summary.status not in (BROKEN_OFF, RUNNING)
    below = [
        NO_CLOCK if seconds is None and iterations is not None else "",
        "by the run's own clock" if seconds is not None and not ended else "",
        f"computed in {duration(wall)}" if wall is not None else "",
    ]
    gained = f"f − f* = {number(gap)}" if gap is not None else ""
    name, judged = metric or "", metric_title(metric) if metric else "Metric"
    objective = (f"{'Final' if ended else 'Last'} f(mean model)", number(final.objective), gained)
    reached = (judged, of_metric(name, final.metrics.get(name)), "at the mean model")
    own_objective, own_metric = _own_objective(summary), _own_metric(summary)
    if is_share(name) and least is None:
        first = [reached, *own_metric, objective, *own_objective]
    else:
        first = [objective, reached, *own_objective, *own_metric]
    return [
        *first,
        ("Consensus distance", number(final.consensus), "of the models to their mean"),
        ("Iterations", number(iterations), count(summary.nodes, "node") if summary.nodes else ""),
        transmitted(summary),
        (
            "Bits per message", number(None if sent is None else round(sent, 1)),
            f"{percent(sent / dense)} of a dense message" if sent is not None and dense else "",
        ),
        (
            "Simulated time" if summary.is_simulated else "Time", duration(seconds),
            "; ".join(filter(None, below)),
        ),
        *_evaluation_tile(summary.evaluation),
        ("Model size n", number(summary.n), f"s = {number(summary.s)} revealed" if summary.s is not None else ""),
    ]  # fmt: skip


def _evaluation_tile(late: LateEvaluation | None) -> list[tuple[str, str, str]]:
    """What judging took, where it was done after the run."""
    if late is None:
        return []
    below = f"{count(late.evaluated, 'point')}; {duration(late.cpu_s)} of CPU, {volume(late.bytes)} of models"
    return [("Evaluated after the run", duration(late.seconds), below)]


def _own_objective(summary: RunSummary) -> list[tuple[str, str, str]]:
    """What the nodes themselves have, where it was judged."""
    own = summary.final.own
    if own is None:
        return []
    worst = f"mean; worst node {number(finite(own.worst))}"
    return [("f at the nodes' own models", number(finite(own.objective)), worst)]


def _own_metric(summary: RunSummary) -> list[tuple[str, str, str]]:
    own, metric = summary.final.own, summary.metric or ""
    mean, low, high = (finite(of.get(metric)) for of in (own.metrics, own.lowest, own.highest)) if own else (None,) * 3
    if mean is None:
        return []
    ends = f"mean of their own models; {reach_of_metric(metric, low, high)}"
    return [(f"{metric_title(metric)} of the nodes", of_metric(metric, mean), ends)]
