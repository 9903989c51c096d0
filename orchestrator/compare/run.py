"""A run in the simulator: its curve is kept, and nothing is written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from orchestrator.compare.company import company_of
from orchestrator.compare.jobs import Job
from orchestrator.compare.measure import Row, Stick, decisive_curve, marks_of
from orchestrator.experiment import Experiment
from orchestrator.plan import choose_driver, make_setting
from orchestrator.report.points import Point, point_of
from orchestrator.runs import Status
from pame.errors import Diverged
from pame.ledger import Ledger
from pame.observe import Evaluation, Record
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

    def applied(self, rules: StopRules, stick: Stick) -> StopRules:
        """The stop rules of a run that ends so."""
        most = min(rules.iterations, self.iterations or rules.iterations)
        return replace(rules, iterations=most, target=stick.objective(self.left), scale=1)


def simulate_job(job: Job, base: Path, stick: Stick, end: End | None = None) -> Row:
    """Run it to its own end, or to an earlier one."""
    experiment = job.experiment
    notes = _Notes()
    status = Status.FINISHED
    with threadpool_limits(1), np.errstate(over="ignore", invalid="ignore"):
        setting = make_setting(experiment, base)
        if end is not None:
            setting = replace(setting, stop=end.applied(setting.stop, stick))
        try:
            DRIVERS[choose_driver(experiment)](setting, notes, Ledger(experiment.nodes))
        except Diverged:
            status = Status.DIVERGED
    marks = marks_of(notes.points, setting.periods, stick, decisive_curve(setting))
    return Row(job.cell, SIMULATE, status.value, marks, company_of(setting))


class _Notes:
    """Keeps the curves of a run."""

    def __init__(self) -> None:
        self.points: list[Point] = []

    def evaluated(self, evaluation: Evaluation) -> None:
        self.points.append(point_of(evaluation))

    def recorded(self, records: Sequence[Record]) -> None:
        pass
