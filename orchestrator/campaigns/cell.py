"""What a campaign is made of: cells, the stages in which they run, and what became of each."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from contract.data_store import DamagedData, DataNotPrepared, find_data
from orchestrator.campaigns.run_left import RunLeft, RunPoint, left_in
from orchestrator.campaigns.yardstick import draw_problem
from orchestrator.experiment import Experiment, dump
from orchestrator.experiment.named_files import named, text_of
from orchestrator.experiment.resolve import make_network_setting, make_setting
from orchestrator.results import Status
from pame.byte_account import ByteAccount
from pame.observe import Observer, RunOutcome
from pame.problems import ImageClassificationSpec
from pame.resolved_run import ResolvedRun
from pame.simulator import DRIVERS

SIMULATE = "simulate"
Labels = Mapping[str, Any]
"""What tables group by, as JSON has it."""


@dataclass(frozen=True)
class Measurement:
    """What is kept of a run."""

    curve: tuple[RunPoint, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    """By name, as JSON has them: what the curve does not tell."""


@dataclass(frozen=True)
class Look:
    """How a run is looked at: it goes to other processes, and its words belong to a cell's key."""

    exchanges: ClassVar[bool] = True
    """Whether nodes send each other anything."""

    def prepared(self, setting: ResolvedRun, driver: str) -> ResolvedRun:
        """What is simulated: with other points, say, or an earlier end."""
        return setting

    def drive(self, driver: str, setting: ResolvedRun, observer: Observer, account: ByteAccount) -> RunOutcome | None:
        return DRIVERS[driver](setting, observer, account)

    def measure(self, left: RunLeft) -> Measurement:
        """What is kept of it besides how it ended."""
        return Measurement()

    def measure_folder(self, folder: Path, experiment: Experiment, backend: str, base: Path) -> Measurement:
        """Of a run that left a folder; `base`: where the files are that its experiment names."""
        make = make_setting if backend == SIMULATE else make_network_setting
        return self.measure(left_in(folder, make(experiment, base, draw_problem)))


@dataclass(frozen=True)
class Cell:
    """One run to be."""

    labels: Labels
    experiment: Experiment
    look: Look
    base: Path = Path()
    """Where the files are that the experiment names."""
    folder: str = ""
    """Where its run folder goes, below that of the campaign; empty: it runs in the simulator and leaves none."""
    notes: tuple[str, ...] = ()
    """What its summary repeats."""

    @property
    def seed(self) -> int:
        return self.experiment.seed

    def key(self, backend: str) -> str:
        """The same for experiments that do not differ, but for their name, and are looked at in the same way."""
        content = {**dump(self.experiment), "name": ""}
        files = {name: text_of(key, name, self.base) for key, name in named(self.experiment).items()}
        return sha256(dumps([content, files, repr(self.look), backend], sort_keys=True).encode()).hexdigest()[:20]


def data_of(cell: Cell) -> Mapping[str, str]:
    """The SHA-256 of the data set of a cell by its name; nothing if it has none, or none is here."""
    problem = cell.experiment.problem
    if not isinstance(problem, ImageClassificationSpec):
        return {}
    try:
        return {problem.data: find_data(problem.data).manifest.sha256}
    except (DataNotPrepared, DamagedData):
        return {}


@dataclass(frozen=True)
class Stage:
    """Cells that can run in any order; the next stage may depend on what became of them."""

    name: str
    cells: Sequence[Cell]
    backend: str = SIMULATE
    is_tuned: bool = False
    """Whether steps were chosen by trying, which says more than a bound."""
    verify_once: bool = False
    """Whether all have the same links: they are measured before the first run only."""


@dataclass(frozen=True, kw_only=True)
class HowEnded:
    """How a run ended, in the words of its campaign, too."""

    backend: str = SIMULATE
    status: str = Status.FINISHED.value
    reason: str = ""
    seconds: float | None = None
    """By the clock of the run, which may be simulated."""
    cpu_bound: bool = False
    health: str = ""
    """Empty: nobody knows."""
    health_reason: str = ""

    def ended(self) -> dict[str, Any]:
        """For a campaign's own view of the run."""
        return {each.name: getattr(self, each.name) for each in fields(HowEnded)}


@dataclass(frozen=True)
class Run(HowEnded):
    """What became of a cell."""

    cell: Cell
    figures: Mapping[str, Any] = field(default_factory=dict)
    curve: tuple[RunPoint, ...] = ()

    @property
    def labels(self) -> Labels:
        return self.cell.labels

    @property
    def seed(self) -> int:
        return self.cell.seed

    def plain(self) -> dict[str, Any]:
        """For a line of rows.jsonl."""
        points = [asdict(point) for point in self.curve]
        return {"labels": self.labels, "seed": self.seed, **self.ended(), "figures": self.figures, "curve": points}


def run_of(line: Mapping[str, Any], cell: Cell) -> Run:
    """From a line of rows.jsonl."""
    known = {name: value for name, value in line.items() if name not in ("labels", "seed", "stage", "key", "curve")}
    return Run(cell=cell, curve=tuple(RunPoint(**point) for point in line["curve"]), **known)


Done = Mapping[str, Sequence[Run]]
"""By stage, in the order of its cells."""
_Result = TypeVar("_Result")
Stages = Generator[Stage, list[Run], _Result]
"""One after another: each is answered with its runs, in the order of its cells."""


def labelled(stages: Stages[_Result], **labels: str) -> Stages[_Result]:
    """The stages of one campaign within another."""
    try:
        stage = next(stages)
        while True:
            cells = [replace(cell, labels={**labels, **cell.labels}) for cell in stage.cells]
            stage = stages.send((yield replace(stage, cells=cells)))
    except StopIteration as end:
        result: _Result = end.value
        return result
