"""Cells on real nodes, one after another on a network that stands: processes of this machine, or wherever a served
orchestrator has its nodes. Every run leaves a run folder; of somebody else's nodes it has what is told: the curve."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Protocol

from contract.rpc import experiments_pb2 as pb
from orchestrator.backends import NETWORKS
from orchestrator.backends.on_processes import RunRequest, run_on_processes
from orchestrator.backends.run_host import RunHost
from orchestrator.campaigns.cell import Cell, Run, Stage
from orchestrator.campaigns.simulate import run_in
from orchestrator.control import NetworkObserver
from orchestrator.control.client import Client, Retelling, health_of
from orchestrator.errors import NotEnoughNodes, Unreachable, writing
from orchestrator.experiment import Experiment, to_yaml
from orchestrator.experiment.named_files import carried
from orchestrator.report import write_report
from orchestrator.results import Ending, RunFolder, Status
from orchestrator.results.summary import FinalFigures, RunSummary, SentBytes
from pame.observe import Evaluation, Several

Observe = Callable[[Cell], NetworkObserver]
"""Who watches the run of a cell."""
Ended = Callable[[str, Run], None]
"""By the key of a cell."""
SERVED = "served"
"""What the backend of somebody else's nodes is called in a row."""


class Nodes(Protocol):
    """Where the stages run that are meant for real nodes."""

    def run(self, stage: Stage, cells: Mapping[str, Cell], folder: Path, observe: Observe, ended: Ended) -> None:
        """Cells of the stage, by their keys; `folder`: that of the campaign. KeyboardInterrupt: not all of them ran."""


@dataclass
class ProcessNodes:
    """Processes of this machine, started once for a stage."""

    backend: str
    host: RunHost | None = None
    """Who carries the runs out, if somebody looks at them."""

    def run(self, stage: Stage, cells: Mapping[str, Cell], folder: Path, observe: Observe, ended: Ended) -> None:
        experiments = _experiments(stage, cells)
        requests = [
            RunRequest(
                self.backend,
                experiments[key],
                cell.base,
                cleared(folder / cell.folder),
                observe(cell),
                cell.notes,
                stage.is_tuned,
            )
            for key, cell in cells.items()
        ]
        keys = {request.folder: key for request, key in zip(requests, cells, strict=True)}

        def over(request: RunRequest, ending: Ending) -> None:
            if ending.status is not Status.INTERRUPTED:
                key = keys[request.folder]
                ended(key, run_in(request.folder, cells[key], self.backend, ending))

        log = requests[0].folder.parent / "nodes.log"
        endings = run_on_processes(requests, log, NETWORKS[self.backend], over, self.host)
        if len(endings) < len(requests) or endings[-1].status is Status.INTERRUPTED:
            raise KeyboardInterrupt


class ServedNodes:
    """The nodes of an orchestrator that somebody serves."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def check(self, nodes: int) -> None:
        """Refuse an orchestrator that is not there, or has too few nodes."""
        here = sum(member.alive for member in self._client.nodes().members)
        if here < nodes:
            raise NotEnoughNodes(f"{nodes} nodes are needed and {here} have joined {self._client.address}: start more")

    def run(self, stage: Stage, cells: Mapping[str, Cell], folder: Path, observe: Observe, ended: Ended) -> None:
        experiments = _experiments(stage, cells)
        for key, cell in cells.items():
            room = cleared(folder / cell.folder)
            ending = self._run(experiments[key], cell, room, observe(cell))
            if ending.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            ended(key, run_in(room, cell, SERVED, ending))

    def _run(self, experiment: Experiment, cell: Cell, room: Path, observer: NetworkObserver) -> Ending:
        accepted = self._client.submit(to_yaml(experiment), carried(experiment, cell.base))
        with RunFolder(room) as files:
            files.write_experiment(experiment, cell.base)
            try:
                told = self._follow(accepted.run, _KeptCurve(files, observer))
            except KeyboardInterrupt:
                self._client.cancel(accepted.run)
                raise
            how = (told.reason, told.iterations, told.seconds, told.seconds, told.exact)
            ending = Ending(Status(told.status), *how, health=health_of(told))
            files.write_summary(_summary(experiment, ending, files.last, cell.notes))
        write_report(room)
        return ending

    def _follow(self, run: int, observer: NetworkObserver) -> pb.Ended:
        retelling = Retelling(observer)
        for event in self._client.watch(run):
            if event.WhichOneof("kind") == "ended":
                return event.ended
            retelling.tell(event)
        raise Unreachable("the orchestrator left before the run ended: look into its run folder")


def _experiments(stage: Stage, cells: Mapping[str, Cell]) -> dict[str, Experiment]:
    """Links that are the same for all are measured before the first run only."""
    found = {key: cell.experiment for key, cell in cells.items()}
    if stage.verify_once:
        for key in list(found)[1:]:
            never = found[key].verify.model_copy(update={"when": "never"})
            found[key] = found[key].model_copy(update={"verify": never})
    return found


def cleared(folder: Path) -> Path:
    """What a run that broke off left goes."""
    with writing(folder):
        if folder.is_dir():
            rmtree(folder)
    return folder


def _summary(experiment: Experiment, ending: Ending, last: Evaluation | None, notes: Sequence[str]) -> RunSummary:
    """As much as is known from afar."""
    return RunSummary(
        name=experiment.name,
        status=ending.status.value,
        reason=ending.reason,
        backend=SERVED,
        seed=experiment.seed,
        nodes=experiment.nodes,
        algorithm=experiment.algorithm.kind,
        iterations=ending.iterations,
        seconds=ending.seconds,
        health=ending.health,
        final=FinalFigures() if last is None else FinalFigures(last.objective, last.consensus, last.metrics, last.own),
        bytes=SentBytes(total=None if last is None else last.bytes),
        notes=notes,
    )


class _KeptCurve(Several):
    """Puts the curve into the run folder, and passes everything on."""

    def __init__(self, files: RunFolder, observer: NetworkObserver) -> None:
        super().__init__(files, observer)
        self.state = observer.state
