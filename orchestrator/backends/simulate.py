"""The backend `simulate`: the experiment in one process, by one of the simulator's drivers."""

import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from orchestrator.experiment import Experiment
from orchestrator.plan import choose_driver, make_setting, warnings
from orchestrator.report import write_report
from orchestrator.runs import Ending, RunFolder, Status, summarise
from pame.errors import Diverged
from pame.ledger import Ledger
from pame.observe import Observer, Several
from pame.setting import Setting
from pame.simulator import DRIVERS, check


def simulate(experiment: Experiment, base: Path, folder: Path, watcher: Observer) -> Ending:
    """Run and fill the run folder. A diverged or interrupted run leaves one too, with what there is."""
    started = time.perf_counter()
    with threadpool_limits(1):
        driver = choose_driver(experiment)
        setting = make_setting(experiment, base)
        check(driver, setting)
        notes = warnings(experiment, setting, driver)
        ledger = Ledger(experiment.nodes)
        with RunFolder(folder) as run:
            run.write_experiment(experiment)
            run.write_topology(setting.topology, experiment.topology.kind)
            run.write_plan(setting.plan)
            ending = _drive(driver, setting, run, watcher, ledger, started)
            run.write_links(ledger.links())
            run.write_summary(summarise(experiment, setting, "simulate", driver, ledger, run.last, ending, notes))
        write_report(folder)
    return ending


def check_simulate(experiment: Experiment, base: Path) -> None:
    """Refuse what its driver cannot do, and what cannot be built."""
    check(choose_driver(experiment), make_setting(experiment, base))


def _drive(driver: str, setting: Setting, run: RunFolder, watcher: Observer, ledger: Ledger, started: float) -> Ending:
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # a diverging run ends with Diverged, not with warnings
            outcome = DRIVERS[driver](setting, Several(run, watcher), ledger)
    except Diverged as error:
        status, reason = Status.DIVERGED, str(error)
    except KeyboardInterrupt:
        status, reason = Status.INTERRUPTED, "stopped by the user"
    else:
        spent = time.perf_counter() - started
        return Ending(Status.FINISHED, outcome.reason, outcome.iterations, outcome.seconds, spent, outcome.exact)
    last = run.last
    iterations, seconds = (last.iteration, last.seconds) if last else (0, None)
    return Ending(status, reason, iterations, seconds, time.perf_counter() - started, exact=False)
