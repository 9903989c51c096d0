"""Runs whose nodes are processes of this machine: what `local` and `netns` have in common.

The nodes are started once and stay for all runs; a single run is a network that stands for one.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from threadpoolctl import threadpool_limits

from contract.problem_inputs import needs_torch
from contract.tasks import cancelled
from orchestrator.backends.processes import NodeProcesses, Place
from orchestrator.backends.run_host import RunHost
from orchestrator.backends.torch_memory import check_torch_memory
from orchestrator.control import ControlPlane, NetworkObserver
from orchestrator.control.container_faults import require_docker
from orchestrator.control.recorded_run import conduct, make_order, uses_tls
from orchestrator.control.run_phase import BEFORE_START
from orchestrator.control.state import SeveralOfNetwork
from orchestrator.errors import NodeFailed, TooManyNodes, writing
from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import load_own_module, make_network_setting
from orchestrator.results import Ending, Status
from pame.fault_effects import Plan

NODES_PER_CORE = 64


@dataclass(frozen=True)
class Places:
    orchestrator: str
    """The address it listens on."""
    nodes: Sequence[Place]
    kept: Sequence[int] = ()
    """Open files that the nodes keep open as long as they live."""


OpenPlaces = Callable[[int], AbstractContextManager[Places]]
"""Places for so many nodes, as long as they are needed."""


def check_processes(experiment: Experiment, base: Path) -> Plan:
    """Refuse what cannot be built, and more processes than this machine can turn to; its plan of faults."""
    most = NODES_PER_CORE * (os.cpu_count() or 1)
    if experiment.nodes > most:
        raise TooManyNodes(
            f"{experiment.nodes} nodes would be {experiment.nodes} processes, and this machine has {os.cpu_count()} "
            f"cores: use --backend simulate, or at most {most} nodes"
        )
    uses_tls(experiment, is_secured=False)
    setting = make_network_setting(experiment, base)
    require_docker(setting.plan, in_containers=False)
    check_torch_memory(setting)
    return setting.plan


@dataclass(frozen=True)
class RunRequest:
    """What is to be run, and where the traces go."""

    backend: str
    experiment: Experiment
    base: Path
    folder: Path
    watcher: NetworkObserver
    notes: Sequence[str] = ()
    """What its summary repeats."""
    is_tuned: bool = False
    """Whether its step was chosen by trying."""


Ended = Callable[[RunRequest, Ending], None]
"""Who wants to know how a run ended, as soon as it did."""


class RunOnBackend(Protocol):
    """How a run is begun and brought to its end."""

    def __call__(
        self,
        experiment: Experiment,
        base: Path,
        folder: Path,
        watcher: NetworkObserver,
        notes: Sequence[str] = (),
        host: RunHost | None = None,
    ) -> Ending:
        """Run and fill the run folder. `base`: the folder of the experiment file; `folder`: of the run; `notes`: what
        its summary repeats; `host`: who carries out a run on nodes, if anybody looks."""


def runs_on(backend: str, network: OpenPlaces) -> RunOnBackend:
    """Runs on a network that is made for so many nodes, and for one run only: nothing of it is left."""

    def run(
        experiment: Experiment,
        base: Path,
        folder: Path,
        watcher: NetworkObserver,
        notes: Sequence[str] = (),
        host: RunHost | None = None,
    ) -> Ending:
        request = RunRequest(backend, experiment, base, folder, watcher, notes)
        [ending] = run_on_processes([request], folder / "nodes.log", network, host=host)
        return ending

    return run


def run_on_processes(
    requests: Sequence[RunRequest],
    log: Path,
    network: OpenPlaces,
    ended: Ended = lambda *_: None,
    host: RunHost | None = None,
) -> list[Ending]:
    """Runs in order, on as many nodes as the largest needs, which are started once; after one that is interrupted no
    other begins. Each fills its run folder; no process is left, whatever happens.

    `log`: where the nodes' standard error goes; `host`: who carries them out. A run that cannot even begin is an error,
    and ends it all.
    """
    for request in requests:
        with writing(request.folder):
            request.folder.mkdir(parents=True, exist_ok=True)
    places = network(max(request.experiment.nodes for request in requests))
    with threadpool_limits(1):
        try:
            work = _run_all(requests, log, places, ended, host)
            return asyncio.run(work) if host is None else host.carry_out(work)
        except asyncio.CancelledError:  # by a signal, while there was no run
            raise KeyboardInterrupt from None


async def _run_all(
    requests: Sequence[RunRequest],
    log: Path,
    network: AbstractContextManager[Places],
    ended: Ended,
    host: RunHost | None,
) -> list[Ending]:
    endings: list[Ending] = []
    for request in requests:
        load_own_module(request.experiment, request.base)  # before there are processes, so that they know it, too
    with_torch = any(needs_torch(request.experiment.problem) for request in requests)
    with network as places, NodeProcesses(log, places.kept, with_torch) as processes, _ended_by(signal.SIGTERM):
        control = ControlPlane(places.orchestrator)
        await control.open()
        try:
            for number, place in enumerate(places.nodes):
                processes.start(f"node-{number}", control.address, control.token, place)
            for request in requests:
                endings.append(await _run(control, processes, request, log, host))
                ended(request, endings[-1])
                if endings[-1].status is Status.INTERRUPTED:
                    break
                processes.heal()
        finally:
            await control.close("the run is over")
            await processes.wait()
    return endings


async def _run(
    control: ControlPlane, processes: NodeProcesses, request: RunRequest, log: Path, host: RunHost | None
) -> Ending:
    def is_under_way() -> bool:
        return control.run is not None and control.run.phase not in BEFORE_START

    control.run = None  # the one before is over
    watching = asyncio.create_task(processes.watch_start(is_under_way))
    conducting = asyncio.create_task(_conduct(control, request, log, host))
    try:
        return await _end_of(control, conducting, watching)
    finally:
        await cancelled(watching, conducting)


async def _conduct(control: ControlPlane, request: RunRequest, log: Path, host: RunHost | None) -> Ending:
    order = await asyncio.to_thread(
        make_order, request.experiment, request.base, request.backend, request.notes, request.is_tuned
    )
    if host is None:
        return await conduct(control, order, request.folder, request.watcher, log)
    broadcast = host.begins(request.experiment, order.number, request.folder, request.base, control)
    ending: Ending | None = None
    try:
        watchers = SeveralOfNetwork(request.watcher, broadcast)
        ending = await conduct(control, order, request.folder, watchers, log, host.made)
    finally:
        host.ended(broadcast, ending)
    return ending


@contextmanager
def _ended_by(number: signal.Signals) -> Iterator[None]:
    """This signal ends the run in order, as Ctrl-C does; only a main thread gets signals."""
    task = asyncio.current_task()
    if task is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    former, loop = signal.getsignal(number), asyncio.get_running_loop()
    loop.add_signal_handler(number, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(number)
        signal.signal(number, former)


async def _end_of(control: ControlPlane, conducting: "asyncio.Task[Ending]", watching: "asyncio.Task[None]") -> Ending:
    """The end of the run, also after Ctrl-C; an error if a node cannot even start."""
    try:
        await asyncio.wait((conducting, watching), return_when=asyncio.FIRST_COMPLETED)
        if watching.done():
            watching.result()
            await asyncio.wait((conducting,))
    except NodeFailed as error:
        if control.run is not None:
            control.run.stop(Status.FAILED, str(error))
            await asyncio.wait((conducting,))
        raise
    except asyncio.CancelledError:
        if control.run is None:
            raise
        control.run.cancel()
    return await conducting
