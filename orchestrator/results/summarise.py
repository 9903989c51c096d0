"""Sums up a run that is over: how it ended, what it sent, and how each figure was measured."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum

from orchestrator.experiment import Experiment
from orchestrator.experiment.faults import FaultOutcomes
from orchestrator.results.health import Health
from orchestrator.results.network_summary import NetworkSummary
from orchestrator.results.record_balance import Recorded, balance
from orchestrator.results.summary import (
    FinalFigures,
    LateEvaluation,
    MessageBits,
    MessageCounts,
    OptimumFigures,
    RunSummary,
    SentBytes,
)
from pame import theory
from pame.algorithms import PameSpec
from pame.byte_account import ByteAccount, Fate
from pame.evaluate import OWN_AT_MOST
from pame.observe import Evaluation
from pame.problems import Problem
from pame.problems.image_classification import ImageClassification
from pame.resolved_run import ResolvedRun

_WINDOWS_TOLD = 1000
_OPTIMUM_UP_TO = 50_000_000
"""Numbers in the data of all nodes; beyond that the optimum takes longer than many runs."""


_APART = (Fate.LOST, Fate.UNREPORTED, Fate.QUEUED, Fate.DROPPED, Fate.RESENT)
_ADDS_UP = (
    "records and curves come from the links' own count: recorded + unrecorded (after a node's last record: cut off, or "
    "of nodes that died) = sent + unknown (on their way at the last record of a node that died, or whose link broke); "
    "queued (never handed over by the end) is apart"
)
_AFTER = "models were kept on the disk during the run, and judged when it was over: judging took nothing from the nodes"
_METRICS = {
    "test_mse": "mean squared prediction error of the mean of all nodes' models on a test set no node has seen",
    "test_accuracy": "share of right predictions of the mean of all nodes' models on a test set no node has seen",
    "test_loss": "mean cross-entropy of the mean of all nodes' models on a test set no node has seen",
    "model_error": "squared distance of the mean of all nodes' models from the model that generated the data",
}


class Status(Enum):
    FINISHED = "finished"
    DIVERGED = "diverged"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True)
class Ending:
    """What is only known when a run is over."""

    status: Status
    reason: str
    iterations: int
    seconds: float | None
    wall_seconds: float
    exact: bool
    health: Health | None = None
    """None: it did not come so far that it has any."""
    faults: FaultOutcomes | None = None
    """What became of the planned faults; None: none were planned, or the run never began."""


def summarise(
    experiment: Experiment,
    setting: ResolvedRun,
    backend: str,
    driver: str | None,
    account: ByteAccount,
    last: Evaluation | None,
    ending: Ending,
    warnings: list[str],
    recorded: Recorded,
    network: NetworkSummary | None = None,
    notes: Sequence[str] = (),
    evaluation: LateEvaluation | None = None,
) -> RunSummary:
    """What summary.json is to say. `recorded`: sums of records.csv; `notes`: what it repeats; `evaluation`: what is
    kept, to be judged next."""
    n, faults = setting.problem.n, ending.faults
    s = setting.algorithm.support_size(n) if isinstance(setting.algorithm, PameSpec) else None
    optimum, why_not = _optimum(setting)
    metrics = _metric_names(setting, last)
    sent, links = account.messages(Fate.SENT), account.links()
    return RunSummary(
        name=experiment.name,
        status=ending.status.value,
        reason=ending.reason,
        backend=backend,
        driver=driver,
        seed=experiment.seed,
        nodes=experiment.nodes,
        n=n,
        s=s,
        algorithm=experiment.algorithm.kind,
        step=experiment.algorithm.step.words if isinstance(experiment.algorithm, PameSpec) else None,
        problem=experiment.problem.kind,
        iterations=ending.iterations,
        seconds=ending.seconds,
        wall_seconds=ending.wall_seconds,
        exact=ending.exact,
        health=ending.health,
        final=FinalFigures(last.objective, last.consensus, last.metrics, last.own) if last else FinalFigures(),
        evaluation=evaluation,
        optimum=optimum,
        metric=setting.problem.metric,
        bytes=SentBytes(
            total=account.bytes(Fate.SENT),
            **asdict(account.kinds),
            **{fate.value: account.bytes(fate) for fate in (Fate.LATE, *_APART)},
            **balance(links.sender, links.bytes, recorded.bytes),
        ),
        messages=MessageCounts(
            sent=sent,
            **{fate.value: account.messages(fate) for fate in (Fate.AGGREGATED, Fate.LATE, Fate.EVICTED, *_APART)},
            **balance(links.sender, links.messages, recorded.messages),
            starved=account.starved,
            overtime=account.overtime,
            desynchronised=account.desynchronised,
        ),
        message_bits=MessageBits(
            sent=8.0 * account.bytes(Fate.SENT) / sent if sent else None,
            paper=theory.paper_bits(n, s) if s else None,
            flagged=theory.flagged_bits(n, s) if s else None,
            floor=theory.entropy_floor_bits(n, s) if s else None,
            dense=theory.dense_bits(n),
        ),
        faults=None if faults is None else replace(faults, windows=faults.windows[:_WINDOWS_TOLD]),
        network=network,
        measured=_measured(driver, why_not, setting.problem, metrics, is_late=evaluation is not None),
        warnings=[*([faults.sentence] if faults and faults.sentence else []), *warnings, *_missed(evaluation)],
        notes=notes,
    )


def _metric_names(setting: ResolvedRun, last: Evaluation | None) -> Iterable[str]:
    if last is not None:
        return last.metrics
    problem = setting.problem
    return problem.metric_names if isinstance(problem, ImageClassification) else problem.metrics(setting.start)


def _missed(evaluation: LateEvaluation | None) -> list[str]:
    if evaluation is None or not evaluation.missed:
        return []
    return [f"the disk had no room for the models of {evaluation.missed} points, which the curves lack"]


def _optimum(setting: ResolvedRun) -> tuple[OptimumFigures | None, str]:
    samples = setting.problem.local(0).samples
    numbers = setting.problem.nodes * samples * setting.problem.n
    if isinstance(setting.problem, ImageClassification):
        return None, "not known: nobody can compute the best network"
    if numbers > _OPTIMUM_UP_TO:
        return None, f"not measured: the data has {numbers:.2g} numbers, more than {_OPTIMUM_UP_TO:.0e}"
    optimum = setting.problem.optimum()
    if optimum is None:
        return None, "not known: the problem has none that anybody can compute"
    return OptimumFigures(optimum.objective, optimum.how), f"solved on all nodes' data: {optimum.how}"


def _measured(
    driver: str | None, optimum: str, problem: Problem, metrics: Iterable[str], is_late: bool
) -> dict[str, str]:
    samples, part, tested = "all their samples", "", ""
    if isinstance(problem, ImageClassification):
        sizes = problem.judged_samples
        samples = f"{sizes.objective} of their training samples in all, the same ones throughout, evenly over the nodes"
        part = f"; their metrics on {sizes.own_test} of the {sizes.test} test samples, the same ones throughout"
        tested = (
            f": all {sizes.test} samples" if sizes.mean_test == sizes.test else f": {sizes.mean_test} of {sizes.test}"
        )
    return {
        **({"evaluation": _AFTER} if is_late else {}),
        "objective": f"f at the mean of all nodes' models; f is the mean of the nodes' objectives on {samples}",
        "nodes' own models": "the same f and metrics at the model of every node by itself: their mean, the worst, the "
        f"lowest and highest; of more than {OWN_AT_MOST} nodes, {OWN_AT_MOST} evenly spread ones{part}",
        "optimum": optimum,
        "consensus": "root mean square distance of the nodes' models from their mean",
        **{name: _METRICS.get(name, f"{name} of the mean of all nodes' models") + tested for name in metrics},
        "coverage": "mean number of received messages that carry a coordinate, over the rounds since the last point",
        **(_simulated(driver) if driver else _REAL),
    }


def _simulated(driver: str) -> dict[str, str]:
    clock = (
        "simulated: compute and link times of the experiment under a virtual clock; no network was involved, and no "
        "packet lost"
    )
    return {
        "bytes": "exact size of every encoded payload (flags, support, stars, values); protobuf, gRPC and TCP/IP not "
        "included; lost messages are dropped before sending and not counted as sent; queued: held by a cut until "
        f"the end; {_ADDS_UP}",
        "seconds": clock if driver == "virtual-time" else f"not measured: the {driver} driver has no clock",
        "participation": "messages averaged by anybody, by their sender",
        "messages": "counted by the simulator at sender and receiver",
        "waiting": "from the begin of a round until it has what it needs or patience runs out; same clock as seconds",
        "wall clock": "time the simulation took on this machine",
    }


_REAL = {
    "bytes": "exact size of every encoded payload (flags, support, stars, values) that a node handed to gRPC for the "
    "first time, counted by the node; handed over again after a broken connection: resent, apart; sent by a node that "
    "was killed before it said so: unreported, counted by the receivers, part of the total; protobuf, gRPC and TCP/IP "
    "not included; lost messages are dropped before sending and not counted as sent, nor are those dropped from a full "
    f"queue; {_ADDS_UP}",
    "bytes on the wire": "by a stated model of protobuf, gRPC, HTTP/2 and TCP/IP (pame/framing.py) from the nodes' own "
    "counts of messages, receipts and connections, which a test compares with interface counters; beside it what `ss` "
    "says of the data connections, each counted at the end that opened it, before it is closed",
    "seconds": "real time since the start of the run, by the orchestrator's clock; records by each node's own",
    "participation": "messages averaged by anybody, by their sender",
    "messages": "counted by every node at its links",
    "waiting": "from the begin of a round until it has what it needs or patience runs out, by the node's clock",
    "wall clock": "time from the start of the node processes to the end of the run",
}
