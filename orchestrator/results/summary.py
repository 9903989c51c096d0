"""summary.json as one typed value: how a run ended, what it sent, what its network says of itself.

The names of the fields are the keys of the file; `typed_json` writes and reads them. What an older run did not say, or
said in a way that makes no sense, is None or empty.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from orchestrator.experiment.faults import FaultOutcomes
from orchestrator.results.files import read_object, read_object_if_whole
from orchestrator.results.health import Health
from orchestrator.results.network_summary import NetworkSummary
from orchestrator.results.typed_json import from_json
from pame.observe import Own

FILE = "summary.json"


@dataclass(frozen=True)
class FinalFigures:
    objective: float | None = None
    consensus: float | None = None
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    """Of the mean of all models, as `objective`."""
    own: Own | None = None


@dataclass(frozen=True)
class OptimumFigures:
    """f at the optimum, and how that was found."""

    objective: float | None = None
    how: str = ""


@dataclass(frozen=True)
class Fates:
    """Of messages, or of their bytes: what became of some, and how records and links add up."""

    late: float | None = None
    lost: float | None = None
    unreported: float | None = None
    queued: float | None = None
    dropped: float | None = None
    resent: float | None = None
    recorded: float | None = None
    unrecorded: float | None = None
    unknown: float | None = None


@dataclass(frozen=True)
class SentBytes(Fates):
    """Of encoded payloads, by kind."""

    total: float | None = None
    values: float | None = None
    support: float | None = None
    stars: float | None = None
    framing: float | None = None


@dataclass(frozen=True)
class MessageCounts(Fates):
    """Also rounds without any message, waits that took longer than they should, and updates that are missing."""

    sent: float | None = None
    aggregated: float | None = None
    evicted: float | None = 0
    """Runs from before mailboxes had a size do not say it: none."""
    starved: float | None = None
    overtime: float | None = None
    desynchronised: float | None = None


@dataclass(frozen=True)
class MessageBits:
    """The mean message, beside the formulas that it is compared with."""

    sent: float | None = None
    paper: float | None = None
    flagged: float | None = None
    floor: float | None = None
    dense: float | None = None


@dataclass(frozen=True)
class LateEvaluation:
    """Models that were kept on the disk, and judged when the run was over."""

    points: int = 0
    evaluated: int = 0
    missed: int = 0
    """Points for which there was no room on the disk."""
    seconds: float | None = None
    cpu_s: float | None = None
    """Of all processes that judged."""
    bytes: int = 0
    """Of the models."""


@dataclass(frozen=True)
class RunSummary:
    """All that summary.json says."""

    name: str = ""
    status: str = "unknown"
    """A word of `Status`; of a run that left no summary, that it is running, or broke off."""
    reason: str = ""
    backend: str = ""
    driver: str | None = None
    """Of the simulator; None: real nodes."""
    seed: int | None = None
    nodes: int | None = None
    n: int | None = None
    s: int | None = None
    algorithm: str = ""
    step: str | None = None
    problem: str = ""
    iterations: int | None = None
    seconds: float | None = None
    """By the clock of the run, which may be simulated."""
    wall_seconds: float | None = None
    exact: bool | None = None
    health: Health | None = None
    """None: the run did not come so far, or is of a time that knew no health."""
    final: FinalFigures = FinalFigures()
    evaluation: LateEvaluation | None = None
    """None: models were judged as the run went."""
    optimum: OptimumFigures | None = None
    metric: str | None = None
    """The one that is shown first."""
    bytes: SentBytes = SentBytes()
    messages: MessageCounts = MessageCounts(evicted=None)
    message_bits: MessageBits = MessageBits()
    faults: FaultOutcomes | None = None
    network: NetworkSummary | None = None
    """None: none was involved."""
    measured: Mapping[str, str] = field(default_factory=dict)
    """How each figure was measured."""
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()

    @property
    def left_to_judge(self) -> str:
        """Empty, or what is to be done."""
        late = self.evaluation
        if late is None or late.evaluated >= late.points:
            return ""
        return f"{late.evaluated} of {late.points} points are evaluated: `pame report RUN` evaluates the rest"

    @property
    def least(self) -> float | None:
        return None if self.optimum is None else self.optimum.objective

    @property
    def health_word(self) -> str:
        """Empty: nobody knows."""
        return self.health.state.value if self.health else ""

    @property
    def health_reason(self) -> str:
        """Empty if there is none, or nobody knows."""
        return self.health.reason if self.health else ""

    @property
    def is_simulated(self) -> bool:
        """Whether its seconds are not those of a clock on the wall."""
        return self.backend == "simulate"


def read_summary(folder: Path) -> RunSummary | None:
    """Of a run folder; None if a crash came before the end of the file."""
    told = read_object_if_whole(folder / FILE)
    return None if told is None else _read(told, folder)


def require_summary(folder: Path) -> RunSummary:
    """The same of a run that has ended; ReportError if there is none."""
    return _read(read_object(folder / FILE), folder)


def _read(told: Mapping[str, object], folder: Path) -> RunSummary:
    summary = from_json(RunSummary, told) or RunSummary()
    metric = summary.metric or next(iter(summary.final.metrics), None)
    return replace(summary, name=summary.name or folder.name, metric=metric)
