"""A run folder as typed data; files that a broken-off run never wrote simply read as nothing."""

from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.results.events import Events, read_events
from orchestrator.results.fault_history import Faults, read_faults
from orchestrator.results.files import ReportError, reading
from orchestrator.results.points import read_curve
from orchestrator.results.summary import RunSummary, read_summary
from orchestrator.results.tables import LinkTotals, Records, read_links, read_records
from orchestrator.results.topology_file import TopologyFile, read_topology
from orchestrator.results.without_summary import BROKEN_OFF, CUT_SUMMARY, REASONS, RUNNING, summary_left
from pame.observe import Evaluation

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


def is_run(folder: Path) -> bool:
    return any((folder / name).is_file() for name in RUN_FILES)


def read_run(folder: Path, running: bool = False) -> RunData:
    """All files of a run folder. Without a whole summary.json, the other files say what they can.

    `running` tells a run that is still going on from one that broke off.
    """
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
    if summary is None:
        if not (experiment or topology or curve or records or links or events):
            raise ReportError(f"the run in {folder} ended before anything reached the disk: run the experiment again.")
        status = RUNNING if running else BROKEN_OFF
        reason = CUT_SUMMARY if (folder / "summary.json").is_file() else REASONS[status]
        nodes, last = topology.nodes if topology else None, curve[-1] if curve else None
        summary = summary_left(experiment or "", nodes, last, records, status, reason)
        summary = replace(summary, name=summary.name or folder.name)
    return RunData(summary, curve, experiment, topology, records, links, events, faults)


def _no_run(folder: Path) -> str:
    if not folder.is_dir():
        return f"there is no folder {folder}: give one that a run or a sweep has left (`pame runs` lists them)."
    inside = sorted(path.name for path in folder.iterdir() if path.is_dir() and is_run(path))
    if inside:
        return f"{folder} holds no run itself, but runs are below it: give one of them, as {folder / inside[-1]}."
    return f"{folder} holds no run: give a folder that a run or a sweep has left (`pame runs` lists them)."
