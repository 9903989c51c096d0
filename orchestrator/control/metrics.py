"""The figures of the orchestrator for Prometheus: the run as a whole, and what measuring it costs.

    pame_run_*             the run under way; totals begin at 0 with each run
    pame_orchestrator_*    this process; what it received and spent, since the run began

No name is also a node's (but `pame_build_info`): a sum over all nodes never counts the orchestrator's view twice.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client import Metric

from contract.counters import OutCounters
from contract.ports.metric_families import Build, ProcessCollector, Samples, by_reason, family
from orchestrator.control.run_phase import Phase

__all__ = ["Build", "OrchestratorCollector", "OrchestratorFigures"]


@dataclass(frozen=True, slots=True)
class OrchestratorFigures:
    """What there is to see now; None: no value yet, and no sample."""

    alive_members: int = 0
    phase: Phase = Phase.IDLE
    slowest: int | None = None
    """Iteration of the slowest node."""
    median: int | None = None
    fastest: int | None = None
    objective: float | None = None
    consensus: float | None = None
    coverage: float | None = None
    sent_bytes: Mapping[str, int] = field(default_factory=lambda: OutCounters().by_kind())
    """By kind."""
    sent_messages: int = 0
    dense_bytes: int = 0
    """What the sent messages would take as whole models."""
    paper_bytes: float | None = None
    """What they would take by the paper's formula, if it has one for the algorithm."""
    evaluated_bytes: int | None = None
    """Of the vectors sent to reach `objective`."""
    died: int = 0
    left: int = 0
    restarted: int = 0
    late: int = 0
    starved: int = 0
    active_faults: int = 0
    refused_joins: Mapping[str, int] = field(default_factory=dict)
    """By reason."""
    refused_reports: Mapping[str, int] = field(default_factory=dict)
    """What nodes said that makes no sense, by reason."""
    evaluation_cpu_s: float = 0.0
    snapshot_bytes: int = 0
    """Received."""
    records: int = 0
    """Received."""


_PLAIN: tuple[tuple[str, str, Callable[[OrchestratorFigures], float | None]], ...] = (
    ("run_objective", "f at the mean model.", lambda now: now.objective),
    ("run_consensus_distance", "Of the models from their mean, root mean square.", lambda now: now.consensus),
    ("run_coverage", "Messages of a round that carry a coordinate, on average.", lambda now: now.coverage),
    ("run_evaluated_bytes", "Bytes of the vectors sent to reach the objective.", lambda now: now.evaluated_bytes),
    ("run_sent_messages_total", "Handed to gRPC by all nodes.", lambda now: now.sent_messages),
    ("run_dense_bytes_total", "The sent messages as whole models of 64-bit numbers.", lambda now: now.dense_bytes),
    ("run_paper_bytes_total", "The sent messages at 63 s + n bits, the paper's formula.", lambda now: now.paper_bytes),
    ("run_late_messages_total", "Came when no round could use them any more.", lambda now: now.late),
    ("run_starved_rounds_total", "Rounds for which no message came.", lambda now: now.starved),
    ("run_active_faults", "Faults in force now.", lambda now: now.active_faults),
    ("orchestrator_alive_members", "Nodes attached now.", lambda now: now.alive_members),
    ("orchestrator_evaluation_cpu_seconds_total", "Spent evaluating models.", lambda now: now.evaluation_cpu_s),
    ("orchestrator_snapshot_bytes_total", "Bytes of models received.", lambda now: now.snapshot_bytes),
    ("orchestrator_records_total", "Records of iterations received.", lambda now: now.records),
)


class OrchestratorCollector(ProcessCollector[OrchestratorFigures]):
    whose = "orchestrator"

    def metrics(self, now: OrchestratorFigures) -> Iterator[Metric]:
        for name, documentation, value in _PLAIN:
            yield family(f"pame_{name}", documentation, [], {(): value(now)})
        phases: Samples = {(phase.value,): phase is now.phase for phase in Phase}
        yield family("pame_run_phase", "1 for the phase the run is in.", ["phase"], phases)
        places: Samples = {("slowest",): now.slowest, ("median",): now.median, ("fastest",): now.fastest}
        yield family("pame_run_iteration", "Where the nodes are.", ["position"], places)
        sent: Samples = {(kind,): count for kind, count in now.sent_bytes.items()}
        yield family("pame_run_sent_bytes_total", "Handed to gRPC by all nodes, by kind.", ["kind"], sent)
        disturbances: Samples = {("died",): now.died, ("left",): now.left, ("restarted",): now.restarted}
        yield family("pame_run_disturbances_total", "Nodes that died, left or came back.", ["what"], disturbances)
        refused = by_reason(now.refused_joins)
        yield family("pame_orchestrator_refused_joins_total", "Refused joins, by reason.", ["reason"], refused)
        nonsense = by_reason(now.refused_reports)
        yield family("pame_orchestrator_refused_reports_total", "Nonsense of nodes, by reason.", ["reason"], nonsense)
