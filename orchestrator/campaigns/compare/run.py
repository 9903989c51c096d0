"""A run in the simulator: its curve is kept, and nothing is written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from threadpoolctl import threadpool_limits

from orchestrator.campaigns.compare.grid import CompareCell
from orchestrator.campaigns.compare.jobs import CompareJob
from orchestrator.campaigns.compare.measure import CompareRow, Of, Yardstick, bytes_used, decisive_curve, marks_of
from orchestrator.campaigns.compare.mixing_partners import MixingPartners, company_of
from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import choose_driver, make_setting
from orchestrator.results import Status
from orchestrator.results.round_counts import RoundCounts
from orchestrator.results.simulated_health import simulated_health
from pame.algorithms import FixedStep
from pame.baselines import Baseline, run_baseline
from pame.byte_account import ByteAccount
from pame.errors import Diverged
from pame.observe import Evaluation, Record, Several
from pame.resolved_run import Fine, ResolvedRun
from pame.rules import Compute
from pame.simulator import DRIVERS
from pame.stopping import StopRules

SIMULATE = "simulate"


def measure_stick(experiment: Experiment, base: Path) -> Yardstick:
    """f(0) and f* of an experiment's problem and seed; `base`: the folder of the file."""
    with threadpool_limits(1):
        setting = make_setting(experiment, base)
        return Yardstick(setting.problem.objective(setting.start), setting.problem.optimum().objective)


@dataclass(frozen=True)
class End:
    """When a tuning run has told what it can: at a relative suboptimality, or after so many iterations."""

    left: float
    iterations: int | None = None
    of_nodes: bool = True

    def applied(self, rules: StopRules, stick: Yardstick) -> StopRules:
        """The stop rules of a run that ends so."""
        most = min(rules.last_iteration, self.iterations or rules.last_iteration)
        return replace(rules, iterations=most, target=stick.objective(self.left), objective="mean")


@dataclass(frozen=True)
class RunLook:
    """What a run is looked at for."""

    stick: Yardstick
    targets: tuple[float, ...]
    of: Of
    end: End | None = None

    def applied(self, setting: ResolvedRun, by: Literal["iteration", "time"]) -> ResolvedRun:
        """With points at every iteration around the targets, and the end of a tuning run."""
        fine = Fine(tuple(map(self.stick.objective, self.targets)), by)
        stop = setting.stop if self.end is None else self.end.applied(setting.stop, self.stick)
        of_nodes = self.end is not None and self.end.of_nodes
        return replace(setting, stop=stop, fine=fine, target_of_nodes=of_nodes)


def simulate_job(job: CompareJob, base: Path, look: RunLook) -> CompareRow:
    """Run it to its own end, or to an earlier one."""
    experiment = job.experiment
    notes = _CurveNotes()
    status = Status.FINISHED
    with threadpool_limits(1), np.errstate(over="ignore", invalid="ignore"):
        setting = make_setting(experiment, base)
        driver = choose_driver(experiment)
        setting = look.applied(setting, decisive_curve(setting) if driver == "virtual-time" else "iteration")
        ledger, rounds = ByteAccount(experiment.nodes), RoundCounts(setting)
        try:
            DRIVERS[driver](setting, Several(notes, rounds), ledger)
        except Diverged:
            status = Status.DIVERGED
    health = simulated_health(setting, rounds, ledger)
    marks = marks_of(notes.points, setting, look.stick, look.of, bytes_used(notes.records, setting))
    company = company_of(setting)
    return CompareRow(
        job.cell, SIMULATE, status.value, marks, company, health=health.state.value, health_reason=health.reason
    )


def simulate_baseline(
    kind: Baseline, cell: CompareCell, experiment: Experiment, base: Path, look: RunLook
) -> CompareRow:
    """The same for what needs no exchange: no rounds, no bytes, and no clock."""
    notes, status = _CurveNotes(), Status.FINISHED
    with threadpool_limits(1), np.errstate(over="ignore", invalid="ignore"):
        setting = look.applied(replace(make_setting(experiment, base), plan=(), compute=Compute()), "iteration")
        chosen = dict(cell.values)
        step = FixedStep(eta=float(chosen["eta"] or 0.0), gamma=float(chosen["gamma"] or 1.0))
        try:
            run_baseline(kind, setting, step, notes)
        except Diverged:
            status = Status.DIVERGED
    marks = marks_of(notes.points, setting, look.stick, look.of)
    return CompareRow(
        cell, SIMULATE, status.value, tuple(replace(mark, rounds=0.0) for mark in marks), MixingPartners(0.0, 1.0, 0.0)
    )


class _CurveNotes:
    """Keeps the curves and the records of a run."""

    def __init__(self) -> None:
        self.points: list[Evaluation] = []
        self.records: list[Record] = []

    def evaluated(self, evaluation: Evaluation) -> None:
        self.points.append(evaluation)

    def recorded(self, records: Sequence[Record]) -> None:
        self.records += [record for record in records if record.messages]
