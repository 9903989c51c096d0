"""A run folder as typed data; files that a broken-off run never wrote simply read as nothing.

Without a whole summary.json, the other files say what they can.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.experiment.units import DURATION
from orchestrator.results.class_counts import ClassCounts, read_class_counts
from orchestrator.results.events import Events, read_events
from orchestrator.results.fault_history import Faults, read_faults
from orchestrator.results.files import ReportError, finite, largest, mapping, read_yaml, reading, whole
from orchestrator.results.points import read_curve
from orchestrator.results.summary import FinalFigures, MessageBits, MessageCounts, RunSummary, SentBytes, read_summary
from orchestrator.results.tables import LinkTotals, Records, read_links, read_records
from orchestrator.results.topology_file import TopologyFile, read_topology
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

RUN_FILES = (
    "summary.json", "experiment.yaml", "topology.json", "curve.jsonl", "records.csv", "links.csv", "events.jsonl",
    "plan.jsonl",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunData:
    summary: RunSummary
    curve: tuple[Evaluation, ...]
    experiment: str | None
    topology: TopologyFile | None
    records: Records | None
    links: LinkTotals | None
    events: Events | None
    faults: Faults | None = None
    class_counts: ClassCounts | None = None


def step_seconds(compute: Mapping[str, object]) -> float | None:
    """The nominal time of a step, by the section `compute` of the experiment that a folder holds."""
    try:
        return DURATION.parse(str(compute.get("step")))
    except ValueError:
        return None


def is_run(folder: Path) -> bool:
    return any((folder / name).is_file() for name in RUN_FILES)


def read_run(folder: Path, running: bool = False) -> RunData:
    """All files of a run folder; `running` tells a run that is still going on from one that broke off."""
    with reading(folder):
        if not is_run(folder):
            raise ReportError(_no_run(folder))
        file = folder / "experiment.yaml"
        experiment = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else None
        topology = read_topology(folder)
        curve = read_curve(folder)
        records = read_records(folder / "records.csv")
        links = read_links(folder / "links.csv")
        events = read_events(folder)
        summary = read_summary(folder)
        faults = read_faults(folder, summary.faults if summary else None)
        class_counts = read_class_counts(folder)
    if summary is None:
        if not (experiment or topology or curve or records or links or events):
            raise ReportError(f"the run in {folder} ended before anything reached the disk: run the experiment again.")
        status = RUNNING if running else BROKEN_OFF
        reason = CUT_SUMMARY if (folder / "summary.json").is_file() else REASONS[status]
        nodes, last = topology.nodes if topology else None, curve[-1] if curve else None
        summary = summary_left(experiment or "", nodes, last, records, status, reason)
        summary = replace(summary, name=summary.name or folder.name)
    return RunData(summary, curve, experiment, topology, records, links, events, faults, class_counts)


def _no_run(folder: Path) -> str:
    if not folder.is_dir():
        return f"there is no folder {folder}: give one that a run or a sweep has left (`pame runs` lists them)."
    inside = sorted(path.name for path in folder.iterdir() if path.is_dir() and is_run(path))
    if inside:
        return f"{folder} holds no run itself, but runs are below it: give one of them, as {folder / inside[-1]}."
    return f"{folder} holds no run: give a folder that a run or a sweep has left (`pame runs` lists them)."


def summary_left(
    experiment: str, nodes: int | None, last: Evaluation | None, records: Records | None, status: str, reason: str
) -> RunSummary:
    """What the other files tell; `experiment` is the text of experiment.yaml, `nodes` their number in topology.json,
    `last` the end of the curve."""
    settings = read_yaml(experiment)
    algorithm, problem = mapping(settings.get("algorithm")), mapping(settings.get("problem"))
    seconds = largest([last.seconds if last else None, records.seconds if records else None])
    iterations = largest([last.iteration if last else None, records.typical_done if records else None])
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


def _messages(records: Records | None) -> MessageCounts:
    """Only the links.csv of a run's end counts the other fates, evictions among them."""
    if records is None:
        return MessageCounts(evicted=None)
    late, starved = float(records.late.sum()), float(records.starved.sum())
    return MessageCounts(sent=records.messages, late=late, starved=starved, evicted=None)
