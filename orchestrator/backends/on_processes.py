"""A run whose nodes are processes of this machine: what `local` and `netns` have in common."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from threadpoolctl import threadpool_limits

from orchestrator.backends.processes import NodeProcesses, Place
from orchestrator.errors import NodeFailed, TooManyNodes, writing
from orchestrator.experiment import Experiment
from orchestrator.network import Control, NetworkObserver
from orchestrator.network.conduct import conduct, make_order, uses_tls
from orchestrator.plan import make_network_setting
from orchestrator.runs import Ending

NODES_PER_CORE = 64


@dataclass(frozen=True)
class Places:
    """Where everybody is."""

    orchestrator: str
    """The address it listens on."""
    nodes: Sequence[Place]
    kept: Sequence[int] = ()
    """Open files that the nodes keep open as long as they live."""


def check_processes(experiment: Experiment, base: Path) -> None:
    """Refuse what cannot be built, and more processes than this machine can turn to."""
    most = NODES_PER_CORE * (os.cpu_count() or 1)
    if experiment.nodes > most:
        raise TooManyNodes(
            f"{experiment.nodes} nodes would be {experiment.nodes} processes, and this machine has {os.cpu_count()} "
            f"cores: use --backend simulate, or at most {most} nodes"
        )
    uses_tls(experiment, is_secured=False)
    make_network_setting(experiment, base)


@dataclass(frozen=True)
class Errand:
    """What is to be run, and where the traces go."""

    backend: str
    experiment: Experiment
    base: Path
    folder: Path
    watcher: NetworkObserver


def run_on_processes(errand: Errand, network: AbstractContextManager[Places]) -> Ending:
    """Run and fill the run folder; no process is left, whatever happens. `network` is there as long as the run."""
    with threadpool_limits(1):
        try:
            return asyncio.run(_run(errand, network))
        except asyncio.CancelledError:  # by a signal, before there was a run
            raise KeyboardInterrupt from None


async def _run(errand: Errand, network: AbstractContextManager[Places]) -> Ending:
    with writing(errand.folder):
        errand.folder.mkdir(parents=True, exist_ok=True)
    with (
        network as places,
        NodeProcesses(errand.folder / "nodes.log", places.kept) as processes,
        _ended_by(signal.SIGTERM),
    ):
        control = Control(places.orchestrator)
        await control.open()
        for number, place in enumerate(places.nodes):
            processes.start(f"node-{number}", control.address, control.token, place)
        watching = asyncio.create_task(processes.watch_start(lambda: _is_under_way(control)))
        conducting = asyncio.create_task(_conduct(control, errand))
        try:
            return await _end_of(control, conducting, watching)
        finally:
            for task in (watching, conducting):
                task.cancel()
            await asyncio.gather(watching, conducting, return_exceptions=True)
            await control.close("the run is over")
            await processes.wait()


async def _conduct(control: Control, errand: Errand) -> Ending:
    order = await asyncio.to_thread(make_order, errand.experiment, errand.base, errand.backend)
    return await conduct(control, order, errand.folder, errand.watcher)


def _is_under_way(control: Control) -> bool:
    return control.run is not None and control.run.phase in ("running", "ending")


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


async def _end_of(control: Control, conducting: "asyncio.Task[Ending]", watching: "asyncio.Task[None]") -> Ending:
    """The end of the run, also after Ctrl-C; an error if a node cannot even start."""
    try:
        await asyncio.wait((conducting, watching), return_when=asyncio.FIRST_COMPLETED)
        if watching.done():
            watching.result()
            await asyncio.wait((conducting,))
    except NodeFailed as error:
        if control.run is not None:
            control.run.fail(str(error))
            await asyncio.wait((conducting,))
        raise
    except asyncio.CancelledError:
        if control.run is None:
            raise
        control.run.cancel()
    return await conducting
