"""A run folder as typed data; files that a broken-off run never wrote simply read as nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from orchestrator.results.events import Events, read_events
from orchestrator.results.fault_history import Faults, read_faults
from orchestrator.results.files import ReportError, finite, mapping, numbers, read_object_if_whole, reading
from orchestrator.results.points import read_curve
from orchestrator.results.tables import LinkTotals, Records, read_links, read_records
from orchestrator.results.typed_json import from_json
from orchestrator.results.without_summary import BROKEN_OFF, CUT_SUMMARY, REASONS, RUNNING, facts_left
from pame.observe import Evaluation, Own
from pame.topology import Topology as Graph
from pame.topology.graph import canonical

GRAPH_NODES = 20_000
RUN_FILES = (
    "summary.json", "experiment.yaml", "topology.json", "curve.jsonl", "records.csv", "links.csv", "events.jsonl",
    "plan.jsonl",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Summary:
    """summary.json; a number that is missing or not finite is None."""

    name: str
    status: str
    reason: str
    facts: Mapping[str, Any]
    objective: float | None
    consensus: float | None
    metrics: Mapping[str, float | None]
    own: Own | None
    metric: str | None
    optimum: float | None
    optimum_how: str
    bytes: Mapping[str, float | None]
    messages: Mapping[str, float | None]
    message_bits: Mapping[str, float | None]
    measured: Mapping[str, str]
    warnings: Sequence[str]
    health: str
    """sound, degraded, broken; empty: the run did not come so far, or is of a time that knew no health."""
    health_reason: str
    notes: Sequence[str] = ()

    def number(self, fact: str) -> float | None:
        """A top-level number such as `nodes`, `iterations`, `seconds`."""
        return finite(self.facts.get(fact))

    def word(self, fact: str) -> str:
        """A top-level string such as `algorithm`; empty when there is none."""
        value = self.facts.get(fact)
        return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class TopologyFacts:
    """topology.json, as far as a report shows it."""

    kind: str
    nodes: int
    svg: str
    description: Mapping[str, Any]
    graph: Graph | None = None


@dataclass(frozen=True, slots=True)
class RunData:
    """Everything a report knows of one run."""

    summary: Summary
    curve: tuple[Evaluation, ...]
    experiment: str | None
    topology: TopologyFacts | None
    records: Records | None
    links: LinkTotals | None
    events: Events | None
    faults: Faults | None = None


def is_run(folder: Path) -> bool:
    """Whether a folder holds any file of a run."""
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
        topology = _topology(folder / "topology.json")
        curve = read_curve(folder)
        records = read_records(folder / "records.csv")
        links = read_links(folder / "links.csv")
        events = read_events(folder)
        summary = read_summary(folder)
        faults = read_faults(folder, summary.facts.get("faults") if summary else None)
    if summary is None:
        if not (experiment or topology or curve or records or links or events):
            raise ReportError(f"the run in {folder} ended before anything reached the disk: run the experiment again.")
        status = RUNNING if running else BROKEN_OFF
        reason = CUT_SUMMARY if (folder / "summary.json").is_file() else REASONS[status]
        nodes, last = topology.nodes if topology else None, curve[-1] if curve else None
        summary = _summary(facts_left(experiment or "", nodes, last, records, status, reason), folder.name)
    return RunData(summary, curve, experiment, topology, records, links, events, faults)


def read_summary(folder: Path) -> Summary | None:
    """summary.json of a run folder; None if a crash came before its end."""
    facts = read_object_if_whole(folder / "summary.json")
    return None if facts is None else _summary(facts, folder.name)


def _summary(facts: Mapping[str, Any], folder: str) -> Summary:
    final, optimum, health = (mapping(facts.get(key)) for key in ("final", "optimum", "health"))
    metrics = numbers(final.get("metrics"))
    metric = facts.get("metric")
    return Summary(
        name=str(facts.get("name") or folder),
        status=str(facts.get("status") or "unknown"),
        reason=str(facts.get("reason") or ""),
        facts=facts,
        objective=finite(final.get("objective")),
        consensus=finite(final.get("consensus")),
        metrics=metrics,
        own=from_json(Own, final.get("own")),
        metric=str(metric) if metric is not None else next(iter(metrics), None),
        optimum=finite(optimum.get("objective")),
        optimum_how=str(optimum.get("how") or ""),
        bytes=numbers(facts.get("bytes")),
        messages=_messages(facts.get("messages")),
        message_bits=numbers(facts.get("message_bits")),
        measured={str(key): str(how) for key, how in mapping(facts.get("measured")).items() if how is not None},
        warnings=[str(warning) for warning in facts.get("warnings") or []],
        health=str(health.get("state") or ""),
        health_reason=str(health.get("reason") or ""),
        notes=[str(note) for note in facts.get("notes") or []],
    )


def _no_run(folder: Path) -> str:
    if not folder.is_dir():
        return f"there is no folder {folder}: give one that a run or a sweep has left (`pame runs` lists them)."
    inside = sorted(path.name for path in folder.iterdir() if path.is_dir() and is_run(path))
    if inside:
        return f"{folder} holds no run itself, but runs are below it: give one of them, as {folder / inside[-1]}."
    return f"{folder} holds no run: give a folder that a run or a sweep has left (`pame runs` lists them)."


def _topology(path: Path) -> TopologyFacts | None:
    content = read_object_if_whole(path)
    if content is None:
        return None
    return TopologyFacts(
        kind=str(content.get("kind") or ""),
        nodes=int(finite(content.get("nodes")) or 0),
        svg=str(content.get("svg") or ""),
        description=mapping(content.get("description")),
        graph=_graph(finite(content.get("nodes")), content.get("edges")),
    )


def _graph(nodes: float | None, edges: object) -> Graph | None:
    """The graph itself; None if its nodes and edges do not fit together, or are too many for a report."""
    if nodes is None or not 1 <= nodes <= GRAPH_NODES or nodes != int(nodes) or not isinstance(edges, list):
        return None
    if not all(isinstance(edge, list) and len(edge) == 2 and all(type(end) is int for end in edge) for edge in edges):
        return None
    if not all(0 <= a < nodes and 0 <= b < nodes and a != b for a, b in edges):
        return None
    return Graph(int(nodes), canonical(np.array(edges, np.int64).reshape(-1, 2), int(nodes)))


def _messages(value: object) -> Mapping[str, float | None]:
    """Runs from before mailboxes had a size do not say how many messages were evicted: none."""
    counts = numbers(value)
    return {"evicted": 0.0, **counts} if counts else counts
