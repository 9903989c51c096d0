"""The chosen cells on real nodes, one after another on a network that stands: processes of this machine, or wherever a
served orchestrator has its nodes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from contract.rpc import experiments_pb2 as pb
from orchestrator.backends.on_processes import RunRequest
from orchestrator.backends.standing_network import run_standing
from orchestrator.campaigns.studies.grid import StudyCell, experiment_of
from orchestrator.campaigns.studies.measure import StudyRow, measure_folder, measure_points
from orchestrator.control import NetworkObserver, NetworkState
from orchestrator.control.client import Client, Retelling
from orchestrator.errors import NotEnoughNodes, Unreachable, writing
from orchestrator.experiment import Experiment, to_yaml
from orchestrator.experiment.named_files import carried
from orchestrator.experiment.resolve import make_network_setting
from orchestrator.results import Ending, Status
from pame.observe import Evaluation, Record

_VERIFIED_ALREADY = "verify.when=never"
SERVED = "served"
"""What the backend of somebody else's nodes is called in a row."""


@dataclass(frozen=True)
class Task:
    """A cell that is to run for real."""

    cell: StudyCell
    experiment: Experiment


@dataclass(frozen=True)
class StudyStage:
    """Who wants to know what goes on."""

    begins: Callable[[StudyCell], NetworkObserver]
    ended: Callable[[StudyRow], None]


def make_tasks(cells: Sequence[StudyCell], path: Path) -> list[Task]:
    """The links are measured before the first run only: they are the same for all."""
    first, *others = cells
    return [
        Task(first, experiment_of(first, path)),
        *(Task(cell, experiment_of(cell, path, _VERIFIED_ALREADY)) for cell in others),
    ]


def run_on_backend(
    backend: str, tasks: Sequence[Task], base: Path, folder: Path, target: float, stage: StudyStage
) -> bool:
    """On processes of this machine; the run folders go below `folder`. Whether all of them ran."""
    errands, cells = [], {}
    for number, task in enumerate(tasks, 1):
        place = folder / f"{number:02d}-{task.cell.name}"
        cells[place] = task.cell
        errands.append(
            RunRequest(backend, task.experiment, base, place, _StudyRunWatcher(stage, task.cell), is_tuned=True)
        )

    def ended(errand: RunRequest, ending: Ending) -> None:
        if ending.status is not Status.INTERRUPTED:
            setting = make_network_setting(errand.experiment, base)
            stage.ended(measure_folder(cells[errand.folder], setting, target, errand.folder))

    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    endings = run_standing(backend, errands, folder / "nodes.log", ended)
    return len(endings) == len(errands) and endings[-1].status is not Status.INTERRUPTED


def check_served(client: Client, nodes: int) -> None:
    """Refuse an orchestrator that is not there, or has too few nodes."""
    here = sum(member.alive for member in client.nodes().members)
    if here < nodes:
        raise NotEnoughNodes(f"the study needs {nodes} nodes and {here} have joined {client.address}: start more")


def run_on_served(client: Client, tasks: Sequence[Task], base: Path, target: float, stage: StudyStage) -> bool:
    """On the nodes of a served orchestrator; what it tells of a run is its curve. Whether all of them ran."""
    for task in tasks:
        accepted = client.submit(to_yaml(task.experiment), carried(task.experiment, base))
        notes = _StudyNotes(stage.begins(task.cell))
        try:
            ended = _follow(client, accepted.run, notes)
        except KeyboardInterrupt:
            client.cancel(accepted.run)
            return False
        setting = make_network_setting(task.experiment, base)
        told = {name: getattr(ended, name) for name in ("status", "seconds", "health", "health_reason")}
        stage.ended(measure_points(task.cell, setting, target, notes.points, backend=SERVED, **told))
    return True


def _follow(client: Client, run: int, notes: "_StudyNotes") -> pb.Ended:
    """Until the run ends: what is told of it."""
    retelling = Retelling(notes)
    for event in client.watch(run):
        if event.WhichOneof("kind") == "ended":
            return event.ended
        retelling.tell(event)
    raise Unreachable("the orchestrator left before the run ended: look into its run folder")


class _StudyRunWatcher:
    """Asks the stage for an observer when its run begins, not before."""

    def __init__(self, stage: StudyStage, cell: StudyCell) -> None:
        self._stage = stage
        self._cell = cell
        self._observer: NetworkObserver | None = None

    def evaluated(self, evaluation: Evaluation) -> None:
        self._watching().evaluated(evaluation)

    def recorded(self, records: Sequence[Record]) -> None:
        self._watching().recorded(records)

    def state(self, state: NetworkState) -> None:
        self._watching().state(state)

    def _watching(self) -> NetworkObserver:
        if self._observer is None:
            self._observer = self._stage.begins(self._cell)
        return self._observer


class _StudyNotes:
    """Keeps the curve of a run, and passes everything on."""

    def __init__(self, observer: NetworkObserver) -> None:
        self.points: list[Evaluation] = []
        self._observer = observer

    def evaluated(self, evaluation: Evaluation) -> None:
        self.points.append(evaluation)
        self._observer.evaluated(evaluation)

    def recorded(self, records: Sequence[Record]) -> None:
        self._observer.recorded(records)

    def state(self, state: NetworkState) -> None:
        self._observer.state(state)
