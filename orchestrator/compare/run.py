"""A run in the simulator: its curve is kept, and nothing is written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from threadpoolctl import threadpool_limits

from orchestrator.compare.company import Company, company_of
from orchestrator.compare.grid import Cell
from orchestrator.compare.jobs import Job
from orchestrator.compare.measure import Of, Row, Stick, bytes_used, decisive_curve, marks_of
from orchestrator.experiment import Experiment
from orchestrator.plan import choose_driver, make_setting
from orchestrator.report.points import Point, point_of
from orchestrator.runs import Status
from orchestrator.runs.round_counts import RoundCounts
from orchestrator.runs.simulated_health import simulated_health
from pame.algorithms import FixedStep
from pame.baselines import Baseline, run_baseline
from pame.errors import Diverged
from pame.ledger import Ledger
from pame.observe import Evaluation, Record, Several
from pame.setting import Compute, Fine, Setting
from pame.simulator import DRIVERS
from pame.stopping import StopRules

SIMULATE = "simulate"


def measure_stick(experiment: Experiment, base: Path) -> Stick:
    """f(0) and f* of an experiment's problem and seed; `base`: the folder of the file."""
    with threadpool_limits(1):
        setting = make_setting(experiment, base)
        return Stick(setting.problem.objective(setting.start), setting.problem.optimum().objective)


@dataclass(frozen=True)
class End:
    """When a tuning run has told what it can: at a relative suboptimality, or after so many iterations."""

    left: float
    iterations: int | None = None
    of_nodes: bool = True

    def applied(self, rules: StopRules, stick: Stick) -> StopRules:
        """The stop rules of a run that ends so."""
        most = min(rules.iterations, self.iterations or rules.iterations)
        return replace(rules, iterations=most, target=stick.objective(self.left), scale=1, of_nodes=self.of_nodes)


@dataclass(frozen=True)
class Look:
    """What a run is looked at for."""

    stick: Stick
    targets: tuple[float, ...]
    of: Of
    end: End | None = None

    def applied(self, setting: Setting, by: Literal["iteration", "time"]) -> Setting:
        """With points at every iteration around the targets, and the end of a tuning run."""
        fine = Fine(tuple(map(self.stick.objective, self.targets)), by)
        stop = setting.stop if self.end is None else self.end.applied(setting.stop, self.stick)
        return replace(setting, stop=stop, fine=fine)


def simulate_job(job: Job, base: Path, look: Look) -> Row:
    """Run it to its own end, or to an earlier one."""
    experiment = job.experiment
    notes = _Notes()
    status = Status.FINISHED
    with threadpool_limits(1), np.errstate(over="ignore", invalid="ignore"):
        setting = make_setting(experiment, base)
        driver = choose_driver(experiment)
        setting = look.applied(setting, decisive_curve(setting) if driver == "virtual-time" else "iteration")
        ledger, rounds = Ledger(experiment.nodes), RoundCounts(setting)
        try:
            DRIVERS[driver](setting, Several(notes, rounds), ledger)
        except Diverged:
            status = Status.DIVERGED
    health = simulated_health(setting, rounds, ledger)
    marks = marks_of(notes.points, setting, look.stick, look.of, bytes_used(notes.records, setting))
    company = company_of(setting)
    return Row(job.cell, SIMULATE, status.value, marks, company, health=health.state.value, health_reason=health.reason)


def simulate_baseline(kind: Baseline, cell: Cell, experiment: Experiment, base: Path, look: Look) -> Row:
    """The same for what needs no exchange: no rounds, no bytes, and no clock."""
    notes, status = _Notes(), Status.FINISHED
    with threadpool_limits(1), np.errstate(over="ignore", invalid="ignore"):
        setting = look.applied(replace(make_setting(experiment, base), plan=(), compute=Compute()), "iteration")
        chosen = dict(cell.values)
        step = FixedStep(eta=float(chosen["eta"] or 0.0), gamma=float(chosen["gamma"] or 1.0))
        try:
            run_baseline(kind, setting, step, notes)
        except Diverged:
            status = Status.DIVERGED
    marks = marks_of(notes.points, setting, look.stick, look.of)
    return Row(cell, SIMULATE, status.value, tuple(replace(mark, rounds=0.0) for mark in marks), Company(0.0, 1.0, 0.0))


class _Notes:
    """Keeps the curves and the records of a run."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.records: list[Record] = []

    def evaluated(self, evaluation: Evaluation) -> None:
        self.points.append(point_of(evaluation))

    def recorded(self, records: Sequence[Record]) -> None:
        self.records += [record for record in records if record.messages]
