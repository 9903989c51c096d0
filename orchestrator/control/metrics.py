"""The figures of the orchestrator for Prometheus: the run as a whole, and what measuring it costs.

    pame_run_*             the run under way; totals begin at 0 with each run
    pame_orchestrator_*    this process; what it received and spent, since the run began

No name is also a node's (but `pame_build_info`): a sum over all nodes never counts the orchestrator's view twice.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from prometheus_client import Metric

from contract.counters import OutCounters
from contract.ports.metric_families import ProcessCollector, Samples, by_reason, family
from orchestrator.control.run_phase import Phase


def _figure(metric: str, words: str, default: float | None = None) -> Any:
    return field(default=default, metadata={"metric": (metric, words, "")})


def _figures(metric: str, words: str, label: str, default: Callable[[], Mapping[str, int]] = dict) -> Any:
    """By the values of a label."""
    return field(default_factory=default, metadata={"metric": (metric, words, label)})


@dataclass(frozen=True, slots=True)
class OrchestratorFigures:
    """What there is to see now, each field a metric; None: no value yet, and no sample."""

    objective: float | None = _figure("run_objective", "f at the mean model.")
    consensus: float | None = _figure("run_consensus_distance", "Of the models from their mean, root mean square.")
    coverage: float | None = _figure("run_coverage", "Messages of a round that carry a coordinate, on average.")
    evaluated_bytes: int | None = _figure("run_evaluated_bytes", "Bytes of the vectors sent to reach the objective.")
    sent_messages: int = _figure("run_sent_messages_total", "Handed to gRPC by all nodes.", 0)
    dense_bytes: int = _figure("run_dense_bytes_total", "The sent messages as whole models of 64-bit numbers.", 0)
    paper_bytes: float | None = _figure(
        "run_paper_bytes_total", "The sent messages at 63 s + n bits, the paper's formula."
    )
    late: int = _figure("run_late_messages_total", "Came when no round could use them any more.", 0)
    starved: int = _figure("run_starved_rounds_total", "Rounds for which no message came.", 0)
    active_faults: int = _figure("run_active_faults", "Faults in force now.", 0)
    alive_members: int = _figure("orchestrator_alive_members", "Nodes attached now.", 0)
    evaluation_cpu_s: float = _figure("orchestrator_evaluation_cpu_seconds_total", "Spent evaluating models.", 0)
    snapshot_bytes: int = _figure("orchestrator_snapshot_bytes_total", "Bytes of models received.", 0)
    records: int = _figure("orchestrator_records_total", "Records of iterations received.", 0)
    iteration: Mapping[str, int] = _figures("run_iteration", "Where the nodes are.", "position")
    sent_bytes: Mapping[str, int] = _figures(
        "run_sent_bytes_total", "Handed to gRPC by all nodes, by kind.", "kind", lambda: OutCounters().by_kind()
    )
    disturbances: Mapping[str, int] = _figures(
        "run_disturbances_total",
        "Nodes that died, left or came back.",
        "what",
        lambda: dict.fromkeys(("died", "left", "restarted"), 0),
    )
    refused_joins: Mapping[str, int] = _figures(
        "orchestrator_refused_joins_total", "Refused joins, by reason.", "reason"
    )
    refused_reports: Mapping[str, int] = _figures(
        "orchestrator_refused_reports_total", "Nonsense of nodes, by reason.", "reason"
    )
    phase: Phase = Phase.IDLE


class OrchestratorCollector(ProcessCollector[OrchestratorFigures]):
    whose = "orchestrator"

    def metrics(self, now: OrchestratorFigures) -> Iterator[Metric]:
        for each in fields(now):
            if "metric" in each.metadata:
                name, words, label = each.metadata["metric"]
                value = getattr(now, each.name)
                samples: Samples = by_reason(value) if label else {(): value}
                yield family(f"pame_{name}", words, [label] if label else [], samples)
        phases: Samples = {(phase.value,): phase is now.phase for phase in Phase}
        yield family("pame_run_phase", "1 for the phase the run is in.", ["phase"], phases)
