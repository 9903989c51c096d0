"""The backend `simulate`: the experiment in one process, by one of the simulator's drivers."""

import multiprocessing
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from contract.unexpected_errors import in_one_line
from orchestrator.backends.nodes_on_cores import nodes_on_cores
from orchestrator.backends.reached_iterations import Reached
from orchestrator.backends.run_host import RunHost
from orchestrator.control import NetworkObserver
from orchestrator.control.state import judging
from orchestrator.evaluation import KeptModels, evaluate_after_run, model_store
from orchestrator.experiment import Experiment
from orchestrator.experiment.faults.happened import in_simulator
from orchestrator.experiment.resolve import choose_driver, make_setting, warnings
from orchestrator.report import write_report
from orchestrator.results import Ending, RunFolder, Status, begin_provenance, end_provenance, summarise
from orchestrator.results.health import State
from orchestrator.results.round_counts import RoundCounts
from orchestrator.results.simulated_health import simulated_health
from orchestrator.results.summary import LateEvaluation
from pame.byte_account import ByteAccount
from pame.errors import Diverged, MessageRefused, PameError
from pame.observe import Observer, RunOutcome, Several
from pame.problems.image_classification import ImageClassification
from pame.resolved_run import ResolvedRun
from pame.simulator import DRIVERS, check, run_lock_step


def simulate(
    experiment: Experiment,
    base: Path,
    folder: Path,
    watcher: NetworkObserver,
    notes: Sequence[str] = (),
    host: RunHost | None = None,
) -> Ending:
    """Run and fill the run folder. A diverged, interrupted or failed run leaves one too, with what there is."""
    if host is None:
        return _simulate(experiment, base, folder, notes, watcher)
    return host.simulate(experiment, base, folder, watcher, partial(_simulate, experiment, base, folder, notes))


def _simulate(
    experiment: Experiment, base: Path, folder: Path, notes: Sequence[str], watcher: NetworkObserver
) -> Ending:
    started = time.perf_counter()
    with threadpool_limits(1):
        driver = choose_driver(experiment)
        setting = make_setting(experiment, base)
        check(driver, setting)
        doubts = warnings(experiment, setting, driver)
        account = ByteAccount(experiment.nodes)
        with RunFolder(folder) as run, ExitStack() as open_files:
            setting, store = model_store(folder, experiment, setting)
            if store is not None:
                open_files.enter_context(store)
            provenance = begin_provenance(folder)
            run.write_experiment(experiment, base)
            run.write_topology(setting.topology, experiment.topology.kind)
            run.write_class_counts(setting.problem)
            run.write_plan(setting.plan)
            reached = Reached(experiment.nodes)
            ending = _drive(driver, setting, run, Several(watcher, reached), account, started, store)
            if setting.plan:
                ending = replace(ending, faults=in_simulator(setting.plan, reached.at_end(ending.seconds, setting)))
            run.write_links(account.links())
            told = (account, run.last, ending, doubts, run.sums)
            kept = None if store is None else LateEvaluation(store.points, missed=store.missed)
            run.write_summary(summarise(experiment, setting, "simulate", driver, *told, notes=notes, evaluation=kept))
            if store is not None:
                ending = _judge_kept(run, ending, watcher)
        end_provenance(folder, provenance)
        write_report(folder)
    return ending


def check_simulate(experiment: Experiment, base: Path) -> None:
    """Refuse what its driver cannot do, and what cannot be built."""
    check(choose_driver(experiment), make_setting(experiment, base))


def _run(driver: str, setting: ResolvedRun, observer: Observer, account: ByteAccount) -> RunOutcome:
    """Steps of networks take long: nodes are spread over all cores where they step together.

    A process of a pool has one core, for others run beside it.
    """
    has_all_cores = multiprocessing.parent_process() is None
    if driver == "lock-step" and has_all_cores and isinstance(setting.problem, ImageClassification):
        with nodes_on_cores(setting) as group:
            return run_lock_step(setting, observer, account, group)
    return DRIVERS[driver](setting, observer, account)


def _judge_kept(run: RunFolder, ending: Ending, watcher: NetworkObserver) -> Ending:
    def progress(done: int, of: int) -> None:
        watcher.state(judging(ending, done, of))

    return evaluate_after_run(run.path, ending, Several(run, watcher).evaluated, progress)


def _drive(
    driver: str,
    setting: ResolvedRun,
    run: RunFolder,
    watcher: Observer,
    account: ByteAccount,
    started: float,
    store: KeptModels | None,
) -> Ending:
    rounds, unheard, is_failed = RoundCounts(setting), "", False
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # a diverging run ends with Diverged, not with warnings
            outcome = _run(driver, setting, Several(run, watcher, rounds), account)
    except Diverged as error:
        status, reason = Status.DIVERGED, str(error)
    except KeyboardInterrupt:
        status, reason = Status.INTERRUPTED, "stopped by the user"
    except MessageRefused as error:
        status, reason = Status.FAILED, str(error)
        unheard = reason
    except PameError:
        raise
    except Exception as error:  # of a plugin, or of ours
        status, reason = Status.FAILED, f"{in_one_line(error)}; look at {run.write_error(error)}"
        is_failed = True
    else:
        spent, health = time.perf_counter() - started, simulated_health(setting, rounds, account)
        status, reason = Status.FINISHED, outcome.reason
        if health.state is State.BROKEN:
            status, reason = Status.FAILED, health.reason
        return Ending(status, reason, outcome.iterations, outcome.seconds, spent, outcome.exact, health)
    last = store.last if store else run.last
    iterations, seconds = (last.iteration, last.seconds) if last else (0, None)
    spent, health = time.perf_counter() - started, simulated_health(setting, rounds, account, unheard, is_failed)
    return Ending(status, reason, iterations, seconds, spent, exact=False, health=health)
