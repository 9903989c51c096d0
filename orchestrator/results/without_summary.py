"""What a run without a whole summary.json still tells: the facts of a summary, as far as the other files hold them."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from orchestrator.results.files import finite, mapping, read_yaml
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


def facts_left(
    experiment: str, nodes: int | None, last: Evaluation | None, records: Records | None, status: str, reason: str
) -> Mapping[str, Any]:
    """Facts under the keys of summary.json; what the files do not tell has no key, or None.

    `experiment` is the text of experiment.yaml, `nodes` their number in topology.json, `last` the end of the curve.
    """
    settings = read_yaml(experiment)
    algorithm, problem = mapping(settings.get("algorithm")), mapping(settings.get("problem"))
    seconds = _furthest(last.seconds if last else None, records.seconds if records else None)
    return {
        "name": settings.get("name"),
        "status": status,
        "reason": reason,
        "seed": settings.get("seed"),
        "nodes": finite(settings.get("nodes")) or nodes or (records.done.size if records else None),
        "n": finite(problem.get("n")),
        "algorithm": algorithm.get("kind"),
        "problem": problem.get("kind"),
        "iterations": _furthest(last.iteration if last else None, records.typical_done if records else None),
        "seconds": seconds,
        "final": _final(last) if last else {},
        "bytes": {"total": records.bytes if records else last.bytes if last else None},
        "messages": _messages(records),
        "message_bits": {"sent": 8 * records.bytes / records.messages if records and records.messages else None},
        "measured": _measured(last, records, seconds),
    }


def _final(last: Evaluation) -> Mapping[str, Any]:
    own = None if last.own is None else asdict(last.own)
    return {"objective": last.objective, "consensus": last.consensus, "metrics": last.metrics, "own": own}


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


def _messages(records: Records | None) -> Mapping[str, float | None]:
    """Only the links.csv of a run's end counts the other fates, evictions among them."""
    if records is None:
        return {}
    counted = {"sent": records.messages, "late": float(records.late.sum()), "starved": float(records.starved.sum())}
    return {"evicted": None, **counted}
