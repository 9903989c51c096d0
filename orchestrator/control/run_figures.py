"""A look at a run from outside: for whoever watches it, and for Prometheus."""

from statistics import median

from orchestrator.control.metrics import OrchestratorFigures
from orchestrator.control.run_phase import Phase
from orchestrator.control.run_state import NetworkRunState
from orchestrator.control.state import NetworkState
from orchestrator.experiment.faults import active
from pame import theory
from pame.algorithms import PameSpec


def state_of(run: NetworkRunState) -> NetworkState:
    places, gathering = run.collection.iterations, run.phase is Phase.GATHERING
    return NetworkState(
        phase=run.phase,
        nodes=len(places),
        ready=0 if gathering else len(run.nodes.ready),
        alive=len(run.members.alive()) if gathering else len(run.indices.alive()),
        slowest=min(places),
        median=int(median(places)),
        fastest=max(places),
        bytes=run.collection.bytes,
        late=run.collection.late,
        starved=run.collection.starved,
        seconds=run.seconds() if run.took is None else run.took,
        health=run.health,
        judged=run.judged[0],
        to_judge=run.judged[1],
    )


def figures_of(run: NetworkRunState) -> OrchestratorFigures:
    state, last, collection = state_of(run), run.folder.last, run.collection
    sent, disturbed = run.totals.out(), run.disturbances
    n, algorithm = run.setting.problem.n, run.setting.algorithm
    paper = theory.paper_bits(n, algorithm.support_size(n)) / 8 if isinstance(algorithm, PameSpec) else None
    return OrchestratorFigures(
        alive_members=len(run.members.alive()),
        phase=run.phase,
        iteration={"slowest": state.slowest, "median": state.median, "fastest": state.fastest},
        objective=last.objective if last else None,
        consensus=last.consensus if last else None,
        coverage=last.coverage if last else None,
        sent_bytes=sent.by_kind(),
        sent_messages=sent.sent,
        dense_bytes=sent.sent * theory.dense_bits(n) // 8,
        paper_bytes=None if paper is None else sent.sent * paper,
        evaluated_bytes=last.bytes if last else None,
        disturbances={"died": disturbed.deaths, "left": disturbed.departures, "restarted": disturbed.restarts},
        late=collection.late,
        starved=collection.starved,
        refused_joins=dict(run.members.refused),
        refused_reports=run.refused.by_reason(),
        evaluation_cpu_s=collection.cpu_s,
        snapshot_bytes=collection.snapshot_bytes,
        records=collection.records,
        active_faults=_active_faults(run, state.median) if run.phase is Phase.RUNNING else 0,
    )


def _active_faults(run: NetworkRunState, median_iteration: int) -> int:
    """Nodes that the experiment makes slow, and events of the plan in whose window the run is, or a node as it told."""
    now, whole = run.seconds(), [event for event in run.plan if event.window.lasts_s is None]
    planned = active(whole, now), active(whole, median_iteration, "iterations")
    return len(run.slow_nodes) + sum(map(len, planned)) + run.fired.active(run.plan, now)
