"""The summary of a run without a whole summary.json, as far as the other files hold it."""

from collections.abc import Mapping

from orchestrator.results.files import finite, mapping, read_yaml, whole
from orchestrator.results.summary import FinalFigures, MessageBits, MessageCounts, RunSummary, SentBytes
from orchestrator.results.tables import Records
from pame.observe import Evaluation

BROKEN_OFF = "broken off"
RUNNING = "running"
REASONS = {
    BROKEN_OFF: "the orchestrator ended before the run did; this report is made of what had reached the disk",
    RUNNING: "it has not ended yet; this report is made of what had reached the disk so far",
}
CUT_SUMMARY = "summary.json was cut short while it was written; this report is made of the other files"

_LAST_LINE = "the last line of curve.jsonl; the run left no description of how it was measured"
_ROWS = "added up over the rows of records.csv that had reached the disk"


def summary_left(
    experiment: str, nodes: int | None, last: Evaluation | None, records: Records | None, status: str, reason: str
) -> RunSummary:
    """What the other files tell; `experiment` is the text of experiment.yaml, `nodes` their number in topology.json,
    `last` the end of the curve."""
    settings = read_yaml(experiment)
    algorithm, problem = mapping(settings.get("algorithm")), mapping(settings.get("problem"))
    seconds = _furthest(last.seconds if last else None, records.seconds if records else None)
    iterations = _furthest(last.iteration if last else None, records.typical_done if records else None)
    return RunSummary(
        name=str(settings.get("name") or ""),
        status=status,
        reason=reason,
        seed=whole(settings.get("seed")),
        nodes=whole(settings.get("nodes")) or nodes or (records.done.size if records else None),
        n=whole(problem.get("n")),
        algorithm=str(algorithm.get("kind") or ""),
        problem=str(problem.get("kind") or ""),
        iterations=whole(iterations),
        seconds=seconds,
        final=_final(last) if last else FinalFigures(),
        metric=next(iter(last.metrics), None) if last else None,
        bytes=SentBytes(total=records.bytes if records else last.bytes if last else None),
        messages=_messages(records),
        message_bits=MessageBits(sent=8 * records.bytes / records.messages if records and records.messages else None),
        measured=_measured(last, records, seconds),
    )


def _final(last: Evaluation) -> FinalFigures:
    metrics = {name: finite(value) for name, value in last.metrics.items()}
    return FinalFigures(finite(last.objective), finite(last.consensus), metrics, last.own)


def _measured(last: Evaluation | None, records: Records | None, seconds: float | None) -> Mapping[str, str]:
    """How the figures above came about; those that are not there have no entry."""
    how = {}
    if last or records:
        how["iterations"] = "the last line of curve.jsonl or, if it is further, the median of the nodes in records.csv"
    if last:
        how |= dict.fromkeys(("objective", "consensus", *last.metrics), _LAST_LINE)
        how["bytes"] = "the last line of curve.jsonl"
    if records:
        how |= dict.fromkeys(("bytes", "messages"), _ROWS)
    if seconds is not None:
        how["seconds"] = "the clock of the run, simulated or real, as in curve.jsonl and records.csv"
    return how


def _furthest(*reached: float | None) -> float | None:
    return max((value for value in reached if value is not None), default=None)


def _messages(records: Records | None) -> MessageCounts:
    """Only the links.csv of a run's end counts the other fates, evictions among them."""
    if records is None:
        return MessageCounts(evicted=None)
    late, starved = float(records.late.sum()), float(records.starved.sum())
    return MessageCounts(sent=records.messages, late=late, starved=starved, evicted=None)
