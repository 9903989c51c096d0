"""The backend `local`: an orchestrator in this process and every node a process of its own, on loopback."""

import asyncio
import time
from pathlib import Path

from threadpoolctl import threadpool_limits

from orchestrator.backends.processes import NodeProcesses
from orchestrator.experiment import Experiment
from orchestrator.network import Control, NetworkObserver
from orchestrator.plan import warnings
from orchestrator.report import write_report
from orchestrator.runs import Ending, RunFolder, summarise
from orchestrator.runs.network import network_section

HOST = "127.0.0.1"


def local(experiment: Experiment, base: Path, folder: Path, watcher: NetworkObserver) -> Ending:
    """Run and fill the run folder; no process is left, whatever happens."""
    with threadpool_limits(1):
        ending = asyncio.run(_local(experiment, base, folder, watcher))
        write_report(folder)
    return ending


async def _local(experiment: Experiment, base: Path, folder: Path, watcher: NetworkObserver) -> Ending:
    started = time.perf_counter()
    control = Control(HOST)
    await control.open()
    with RunFolder(folder) as run, NodeProcesses(folder / "nodes.log") as processes:
        run.write_experiment(experiment)
        for number in range(experiment.nodes):
            processes.start(f"node-{number}", control.address, control.token)
        watching = asyncio.create_task(processes.watch_start())
        conducting = asyncio.create_task(control.conduct(experiment, base, run, watcher))
        try:
            ending = await _first_of(conducting, watching)
            network = control.run
            if network is None:
                raise RuntimeError("a run ended that never began")
            setting, ledger = network.setting, network.totals.ledger()
            run.write_topology(setting.topology, experiment.topology.kind)
            run.write_links(ledger.links())
            run.write_models({node: model for node, (_, model) in network.collection.results.items()})
            notes = warnings(experiment, setting, None)
            section = network_section(network, time.perf_counter() - started)
            run.write_summary(summarise(experiment, setting, "local", None, ledger, run.last, ending, notes, section))
        finally:
            watching.cancel()
            conducting.cancel()
            await control.close("the run is over")
            await processes.wait()
    return ending


async def _first_of(conducting: "asyncio.Task[Ending]", watching: "asyncio.Task[None]") -> Ending:
    """The end of the run, unless a node cannot even start."""
    try:
        await asyncio.wait((conducting, watching), return_when=asyncio.FIRST_COMPLETED)
        if watching.done():
            watching.result()
        return await conducting
    except asyncio.CancelledError:  # Ctrl-C: the run ends in order
        conducting.cancel()
        return await conducting
