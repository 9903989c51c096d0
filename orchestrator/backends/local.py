"""The backend `local`: an orchestrator in this process and every node a process of its own, on loopback."""

import asyncio
from pathlib import Path

from threadpoolctl import threadpool_limits

from orchestrator.backends.processes import NodeProcesses
from orchestrator.errors import NodeFailed, writing
from orchestrator.experiment import Experiment
from orchestrator.network import Control, NetworkObserver, conduct, make_order
from orchestrator.runs import Ending

HOST = "127.0.0.1"


def local(experiment: Experiment, base: Path, folder: Path, watcher: NetworkObserver) -> Ending:
    """Run and fill the run folder; no process is left, whatever happens."""
    with threadpool_limits(1):
        return asyncio.run(_local(experiment, base, folder, watcher))


async def _local(experiment: Experiment, base: Path, folder: Path, watcher: NetworkObserver) -> Ending:
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    control = Control(HOST)
    await control.open()
    with NodeProcesses(folder / "nodes.log") as processes:
        for number in range(experiment.nodes):
            processes.start(f"node-{number}", control.address, control.token)
        watching = asyncio.create_task(processes.watch_start())
        conducting = asyncio.create_task(_conduct(control, experiment, base, folder, watcher))
        try:
            return await _end_of(control, conducting, watching)
        finally:
            watching.cancel()
            conducting.cancel()
            await control.close("the run is over")
            await processes.wait()


async def _conduct(
    control: Control, experiment: Experiment, base: Path, folder: Path, watcher: NetworkObserver
) -> Ending:
    order = await asyncio.to_thread(make_order, experiment, base, "local")
    return await conduct(control, order, folder, watcher)


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
