"""One run of a claim in the simulator: its course is kept, and nothing is written."""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from orchestrator.campaigns.claims.run_curve import CurveMark, RunCurve
from orchestrator.campaigns.compare.measure import Yardstick, rounds_before
from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import choose_driver, make_setting
from orchestrator.results import Status
from pame.byte_account import ByteAccount
from pame.errors import Diverged
from pame.observe import Evaluation, Record
from pame.simulator import DRIVERS

_ERROR = "model_error"


def simulate(run: str, experiment: Experiment, optimum: bool) -> RunCurve:
    """Run it; `optimum`: whether suboptimality is looked at."""
    curve = _Curve()
    status = Status.FINISHED
    with threadpool_limits(1), np.errstate(over="ignore", invalid="ignore"):
        setting = replace(make_setting(experiment, Path()), own_models=False)
        stick = None
        if optimum:
            stick = Yardstick(setting.problem.objective(setting.start), setting.problem.optimum().objective)
        try:
            DRIVERS[choose_driver(experiment)](setting, curve, ByteAccount(experiment.nodes))
        except Diverged:
            status = Status.DIVERGED
    marks = tuple(
        CurveMark(
            iteration=point.iteration,
            rounds=rounds_before(setting.periods, point.iteration),
            bytes=float(point.bytes),
            left=None if stick is None else stick.left(point.objective),
            error=point.metrics[_ERROR],
        )
        for point in curve.points
        if isfinite(point.objective)
    )
    return RunCurve(run, experiment.seed, status.value, marks)


class _Curve:
    """Keeps the curve by iteration."""

    def __init__(self) -> None:
        self.points: list[Evaluation] = []

    def evaluated(self, evaluation: Evaluation) -> None:
        if evaluation.by == "iteration":
            self.points.append(evaluation)

    def recorded(self, records: Sequence[Record]) -> None:
        pass
