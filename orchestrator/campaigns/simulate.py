"""A cell in the simulator, in whatever process: looked at and forgotten, or with a run folder of its own."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from orchestrator.backends import BACKENDS
from orchestrator.campaigns.cell import SIMULATE, Cell, Run
from orchestrator.campaigns.process_pool import told_to_end
from orchestrator.campaigns.run_left import RunLeft
from orchestrator.campaigns.yardstick import draw_problem
from orchestrator.control import NetworkState
from orchestrator.errors import RunFailed
from orchestrator.experiment.resolve import choose_driver, make_setting
from orchestrator.results import Ending, Status
from orchestrator.results.health import State
from orchestrator.results.round_counts import RoundCounts
from orchestrator.results.simulated_health import simulated_health
from orchestrator.results.summary import require_summary
from pame.byte_account import ByteAccount
from pame.errors import Diverged
from pame.observe import Evaluation, Record, RunOutcome, Several


def simulate(cell: Cell, folder: Path | None = None) -> Run:
    if folder is not None:
        return _simulate_into(cell, folder)
    experiment, look, kept = cell.experiment, cell.look, _WatchedRun()
    driver, status = choose_driver(experiment), Status.FINISHED
    outcome: RunOutcome | None = None
    with threadpool_limits(1), np.errstate(over="ignore", invalid="ignore"):
        setting = look.prepared(make_setting(experiment, cell.base, draw_problem), driver)
        account, rounds = ByteAccount(experiment.nodes), RoundCounts(setting)
        try:
            outcome = look.drive(driver, setting, Several(kept, rounds), account)
        except Diverged:
            status = Status.DIVERGED
        health = simulated_health(setting, rounds, account) if look.exchanges else None
        seconds, models = (None, None) if outcome is None else (outcome.seconds, outcome.models)
        left = RunLeft(setting, kept.points, seconds, kept.records, account.links(), models)
        measured = look.measure(left)
    return Run(
        cell=cell,
        status=status.value,
        seconds=seconds,
        health="" if health is None else health.state.value,
        health_reason="" if health is None else health.reason,
        figures=measured.figures,
        curve=measured.curve,
    )


def _simulate_into(cell: Cell, folder: Path) -> Run:
    """With a run folder: told to end, it ends as Ctrl-C ends a single run, and no other begins."""
    _stop_if_told()
    ending = BACKENDS[SIMULATE].run(cell.experiment, cell.base, folder, _Stopping(), cell.notes)
    is_broken = ending.health is not None and ending.health.state is State.BROKEN
    if ending.status is Status.FAILED and not is_broken:  # by a mistake in what it runs, which the others run, too
        raise RunFailed(f"{ending.reason}; the sweep ends with it, and what there is, is in {folder.parent}")
    return run_in(folder, cell, SIMULATE, ending)


def run_in(folder: Path, cell: Cell, backend: str, ending: Ending) -> Run:
    """By the run folder that it left."""
    summary = require_summary(folder)
    measured = cell.look.measure_folder(folder, cell.experiment, backend, cell.base)
    happened = {} if ending.faults is None else {"faults": ending.faults.sentence}
    return Run(
        cell=cell,
        backend=backend,
        status=ending.status.value,
        reason=ending.reason,
        seconds=summary.seconds,
        cpu_bound=summary.network is not None and summary.network.cpu_bound,
        health=summary.health_word,
        health_reason=summary.health_reason,
        figures={**measured.figures, **happened},
        curve=measured.curve,
    )


def _stop_if_told() -> None:
    if told_to_end():
        raise KeyboardInterrupt


class _WatchedRun:
    def __init__(self) -> None:
        self.points: list[Evaluation] = []
        self.records: list[Record] = []

    def evaluated(self, evaluation: Evaluation) -> None:
        self.points.append(evaluation)

    def recorded(self, records: Sequence[Record]) -> None:
        self.records += records


class _Stopping:
    """Watches for the end only: the parent reads the run folder. Records come at least once per iteration."""

    def evaluated(self, evaluation: Evaluation) -> None:
        pass

    def recorded(self, records: Sequence[Record]) -> None:
        _stop_if_told()

    def state(self, state: NetworkState) -> None:
        _stop_if_told()
