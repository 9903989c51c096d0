"""A run folder as typed data; files that a broken-off run never wrote simply read as nothing."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.report.tables import Links, Records, read_links, read_records
from pame.errors import PameError


class ReportError(PameError):
    """A folder is not what it should be, so there is nothing to report."""


@dataclass(frozen=True, slots=True)
class Point:
    """One line of curve.jsonl: the state of the whole network at an iteration or at a second."""

    by: str
    iteration: float | None
    seconds: float | None
    bytes: float | None
    objective: float | None
    consensus: float | None
    coverage: float | None
    metrics: Mapping[str, float | None]


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
    metric: str | None
    optimum: float | None
    optimum_how: str
    bytes: Mapping[str, float | None]
    messages: Mapping[str, float | None]
    message_bits: Mapping[str, float | None]
    measured: Mapping[str, str]
    warnings: Sequence[str]

    def number(self, fact: str) -> float | None:
        """A top-level number such as `nodes`, `iterations`, `seconds`."""
        return finite(self.facts.get(fact))

    def word(self, fact: str) -> str:
        """A top-level string such as `algorithm`; empty when there is none."""
        value = self.facts.get(fact)
        return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Topology:
    """topology.json, as far as a report shows it."""

    kind: str
    nodes: int
    svg: str
    description: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """Everything a report knows of one run."""

    summary: Summary
    curve: tuple[Point, ...]
    experiment: str | None
    topology: Topology | None
    records: Records | None
    links: Links | None


def read_run(folder: Path) -> Run:
    """All files of a run folder; only summary.json must be there."""
    experiment = folder / "experiment.yaml"
    return Run(
        summary=read_summary(folder),
        curve=read_curve(folder),
        experiment=experiment.read_text(encoding="utf-8", errors="replace") if experiment.is_file() else None,
        topology=_topology(folder / "topology.json"),
        records=read_records(folder / "records.csv"),
        links=read_links(folder / "links.csv"),
    )


def read_summary(folder: Path) -> Summary:
    """summary.json of a run folder."""
    facts = read_object(folder / "summary.json")
    final, optimum = _mapping(facts.get("final")), _mapping(facts.get("optimum"))
    metrics = _numbers(final.get("metrics"))
    metric = facts.get("metric")
    return Summary(
        name=str(facts.get("name") or folder.name),
        status=str(facts.get("status") or "unknown"),
        reason=str(facts.get("reason") or ""),
        facts=facts,
        objective=finite(final.get("objective")),
        consensus=finite(final.get("consensus")),
        metrics=metrics,
        metric=str(metric) if metric is not None else next(iter(metrics), None),
        optimum=finite(optimum.get("objective")),
        optimum_how=str(optimum.get("how") or ""),
        bytes=_numbers(facts.get("bytes")),
        messages=_messages(facts.get("messages")),
        message_bits=_numbers(facts.get("message_bits")),
        measured={str(key): str(how) for key, how in _mapping(facts.get("measured")).items() if how is not None},
        warnings=[str(warning) for warning in facts.get("warnings") or []],
    )


def read_curve(folder: Path) -> tuple[Point, ...]:
    """curve.jsonl of a run folder; a last line cut short by an interruption is left out."""
    path = folder / "curve.jsonl"
    if not path.is_file():
        return ()
    points = []
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                points.append(_point(_mapping(json.loads(line))))
            except ValueError:
                continue
    return tuple(points)


def read_object(path: Path) -> Mapping[str, Any]:
    """A JSON file that holds an object, or a sentence why it cannot be read."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ReportError(f"{path} does not exist: give the folder that a run or a sweep has left.") from None
    except ValueError as error:
        raise ReportError(f"{path} is not valid JSON ({error}): run the experiment again.") from None
    if not isinstance(content, dict):
        raise ReportError(f"{path} must hold a JSON object: run the experiment again.")
    return content


def finite(value: object) -> float | None:
    """A number if it is one and finite, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def _topology(path: Path) -> Topology | None:
    if not path.is_file():
        return None
    content = read_object(path)
    return Topology(
        kind=str(content.get("kind") or ""),
        nodes=int(finite(content.get("nodes")) or 0),
        svg=str(content.get("svg") or ""),
        description=_mapping(content.get("description")),
    )


def _point(line: Mapping[str, Any]) -> Point:
    return Point(
        by=str(line.get("by") or "iteration"),
        iteration=finite(line.get("iteration")),
        seconds=finite(line.get("seconds")),
        bytes=finite(line.get("bytes")),
        objective=finite(line.get("objective")),
        consensus=finite(line.get("consensus")),
        coverage=finite(line.get("coverage")),
        metrics=_numbers(line.get("metrics")),
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _messages(value: object) -> Mapping[str, float | None]:
    """Runs from before mailboxes had a size do not say how many messages were evicted: none."""
    numbers = _numbers(value)
    return {"evicted": 0.0, **numbers} if numbers else numbers


def _numbers(value: object) -> Mapping[str, float | None]:
    return {str(key): finite(entry) for key, entry in _mapping(value).items()}
