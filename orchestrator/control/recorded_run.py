"""A run and its folder: what every orchestrator does around a run, whoever started the nodes.

before   experiment.yaml, topology.json, class_counts.json    a crash leaves them
after    links, connections, models, summary, report
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from orchestrator.control.container_faults import container_faults, require_docker
from orchestrator.control.run_figures import state_of
from orchestrator.control.run_phase import Phase
from orchestrator.control.run_state import NetworkRunState
from orchestrator.control.server import ControlPlane
from orchestrator.control.state import NetworkObserver
from orchestrator.control.summary import absurd_warnings, network_summary
from orchestrator.errors import NoTls
from orchestrator.evaluation import KeptModels, evaluate_after_run, model_store
from orchestrator.experiment import Experiment
from orchestrator.experiment.named_files import Files
from orchestrator.experiment.resolve import is_judged_after, make_network_setting, warnings
from orchestrator.report import write_report
from orchestrator.results import Ending, RunFolder, Status, begin_provenance, end_provenance, summarise
from orchestrator.results.summary import LateEvaluation
from pame.errors import PameError
from pame.observe import Evaluation
from pame.resolved_run import ResolvedRun

SERVED = "serve"
"""The backend of an orchestrator that nodes join from wherever they are, containers among them."""


def new_number() -> int:
    """Of a run; never 0, and nobody's guess."""
    return secrets.randbits(63) | 1


@dataclass(frozen=True)
class RunOrder:
    """A run to be: all that is decided before it begins."""

    number: int
    experiment: Experiment
    files: Files
    """Where those are that it names."""
    setting: ResolvedRun
    backend: str
    notes: Sequence[str] = ()
    """What its summary repeats."""
    is_tuned: bool = False
    """Whether its step was chosen by trying."""


def make_order(
    experiment: Experiment, files: Files, backend: str, notes: Sequence[str] = (), is_tuned: bool = False
) -> RunOrder:
    """Resolve an experiment; `files`: where those are that it names. Takes a while: data is drawn."""
    setting = make_network_setting(experiment, files)
    require_docker(setting.plan, in_containers=backend == SERVED)
    if not is_judged_after(experiment):
        setting.problem.objective(setting.start)  # draws all data and the test set now, not when the first point is due
        setting.problem.metrics(setting.start)
    return RunOrder(new_number(), experiment, files, setting, backend, notes, is_tuned)


def uses_tls(experiment: Experiment, is_secured: bool) -> bool:
    """Whether neighbours talk over TLS on a network that has it, or not."""
    asked = experiment.security.tls
    if asked and not is_secured:
        raise NoTls(
            "security.tls: there is no TLS on this network: use `docker compose` or `pame serve --security DIR`, or "
            "leave security out"
        )
    return is_secured if asked is None else asked


async def conduct(
    control: ControlPlane,
    order: RunOrder,
    folder: Path,
    watcher: NetworkObserver,
    log: Path | None = None,
    made: Callable[[NetworkRunState], None] = lambda _: None,
) -> Ending:
    """From gathering to the report. A run that cannot even begin is reported too, before its error is raised.

    `log`: where the nodes' standard error goes, if they were started here; `made`: is told of the run before it begins.
    """
    started = time.perf_counter()
    error: PameError | None = None
    with RunFolder(folder) as files, ExitStack() as open_files:
        setting, store = model_store(folder, order.experiment, order.setting)
        if store is not None:
            open_files.enter_context(store)
        provenance = await asyncio.to_thread(begin_provenance, folder)
        files.write_experiment(order.experiment, order.files)
        files.write_class_counts(order.setting.problem)
        files.write_plan(order.setting.plan)
        drawing = asyncio.create_task(
            asyncio.to_thread(files.write_topology, order.setting.topology, order.experiment.topology.kind)
        )
        tls = uses_tls(order.experiment, control.is_secured)
        run = NetworkRunState(order.number, order.experiment, setting, files, control.members, watcher, tls, log)
        made(run)
        try:
            async with container_faults(run):
                ending = await control.go(run)
        except PameError as caught:
            error, spent = caught, time.perf_counter() - started
            ending = Ending(Status.FAILED, str(caught), 0, None, spent, exact=False)
        await drawing
        await asyncio.to_thread(_write_results, run, order, files, ending, started, store)
        if store is not None:
            ending = await _judge_kept(run, files, ending, watcher)
    end_provenance(folder, provenance)
    await asyncio.to_thread(write_report, folder)
    if error is not None:
        raise error
    return ending


async def _judge_kept(run: NetworkRunState, files: RunFolder, ending: Ending, watcher: NetworkObserver) -> Ending:
    """In a thread; watchers hear of it in the loop."""
    loop = asyncio.get_running_loop()

    def tell(point: Evaluation) -> None:
        files.evaluated(point)
        loop.call_soon_threadsafe(watcher.evaluated, point)

    def progress(done: int, of: int) -> None:
        run.judged = done, of
        loop.call_soon_threadsafe(lambda: watcher.state(state_of(run)))

    def judge() -> Ending:
        return evaluate_after_run(files.path, ending, tell, progress, lambda: run.is_judging_stopped)

    try:
        return await asyncio.to_thread(judge)
    finally:
        if run.phase is Phase.EVALUATING:
            run.enter(Phase.IDLE)


def _write_results(
    run: NetworkRunState, order: RunOrder, files: RunFolder, ending: Ending, started: float, store: KeptModels | None
) -> None:
    experiment, setting, account = order.experiment, order.setting, run.totals.account()
    files.write_links(account.links())
    files.write_connections(run.totals.sockets())
    files.write_models({node: model for node, (_, model) in run.collection.results.items()})
    notes = warnings(experiment, setting, None, order.is_tuned)
    if ending.seconds is not None and (missing := sorted(set(range(experiment.nodes)) - set(run.collection.results))):
        notes.append(f"no result came from nodes {missing}: they had died, or were too slow to answer at the end")
    notes += absurd_warnings(run)
    notes += run.refused.warnings()
    if run.other_builds:
        notes.append(
            f"nodes {sorted(run.other_builds)} have another build of torch, or another processor, than the "
            "orchestrator: their gradients may differ in the last bits"
        )
    network = network_summary(run, time.perf_counter() - started, ending.seconds)
    last, sums = files.last, files.sums
    kept = None if store is None else LateEvaluation(store.points, missed=store.missed)
    told = (account, last, ending, notes, sums, network, order.notes, kept)
    files.write_summary(summarise(experiment, setting, order.backend, None, *told))
