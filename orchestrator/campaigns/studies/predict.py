"""A cell in the simulator: the files of a run folder without the page, measured, and forgotten."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from threadpoolctl import threadpool_limits

from orchestrator.campaigns.process_pool import each
from orchestrator.campaigns.studies.grid import StudyCell, experiment_of
from orchestrator.campaigns.studies.measure import StudyRow, measure_folder
from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import make_setting
from orchestrator.results import Ending, RunFolder, Status, summarise
from pame.byte_account import ByteAccount
from pame.errors import Diverged
from pame.resolved_run import ResolvedRun
from pame.simulator import DRIVERS

_DRIVER = "virtual-time"
_HINT = "try --quick"


def predict_all(
    pool: ProcessPoolExecutor, cells: Sequence[StudyCell], path: Path, target: float, ended: Callable[[StudyRow], None]
) -> list[StudyRow]:
    """What the simulator says of some cells, in their order; `ended` is told as they end."""
    jobs = {number: (cell, path, target) for number, cell in enumerate(cells)}
    found = {}
    with closing(each(pool, predict, jobs, _HINT)) as rows:
        for number, row in rows:
            found[number] = row
            ended(row)
    return [found[number] for number in jobs]


def predict(cell: StudyCell, path: Path, target: float) -> StudyRow:
    """What the simulator says of a cell of the study with this base file."""
    experiment = experiment_of(cell, path)
    with threadpool_limits(1), TemporaryDirectory(prefix="pame-study-") as room:
        setting, folder = make_setting(experiment, path.parent), Path(room)
        _simulate(experiment, setting, folder)
        return measure_folder(cell, setting, target, folder)


def _simulate(experiment: Experiment, setting: ResolvedRun, folder: Path) -> None:
    started, ledger = time.perf_counter(), ByteAccount(experiment.nodes)
    with RunFolder(folder) as run:
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                outcome = DRIVERS[_DRIVER](setting, run, ledger)
        except Diverged as error:
            ending = Ending(Status.DIVERGED, str(error), 0, None, time.perf_counter() - started, exact=False)
        else:
            spent = time.perf_counter() - started
            ending = Ending(Status.FINISHED, outcome.reason, outcome.iterations, outcome.seconds, spent, outcome.exact)
            run.write_models(dict(enumerate(outcome.models)))
        run.write_links(ledger.links())
        last, sums = run.last, run.sums
        run.write_summary(summarise(experiment, setting, "simulate", _DRIVER, ledger, last, ending, [], sums))
