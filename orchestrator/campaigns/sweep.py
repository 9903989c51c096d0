"""A sweep as a campaign: several runs of one experiment file, each with a run folder; simulations in parallel.

<folder>/   sweep.json (which keys vary, and what became of each run), report.html, a run folder per run
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from orchestrator.backends import BACKENDS, DEFAULT_BACKEND
from orchestrator.campaigns.cell import SIMULATE, Cell, Done, Look, Measurement, Run, Stage, Stages
from orchestrator.campaigns.on_nodes import SERVED
from orchestrator.campaigns.options import command_of
from orchestrator.campaigns.run_left import run_point
from orchestrator.errors import UnknownBackend
from orchestrator.experiment import Experiment, Variant, default_path, load, swept_keys
from orchestrator.number_words import number, of_metric, volume
from orchestrator.report import write_sweep_report
from orchestrator.results import Ending, Status
from orchestrator.results.health import Health, State
from orchestrator.results.points import read_curve
from orchestrator.results.typed_json import write_json
from pame.observe import Evaluation
from pame.problems.image_classification import ACCURACY
from pame.sampling import period

RUNS = "runs"


@dataclass(frozen=True)
class SweepLook(Look):
    """`folder`: runs of a sweep are never one, for each has a folder of its own."""

    folder: str

    def measure_folder(self, folder: Path, experiment: Experiment, backend: str, base: Path) -> Measurement:
        """The folder keeps everything else."""
        points = [point for point in read_curve(folder) if isfinite(point.objective)]
        curve = [point for point in points if point.by == "iteration"] or points
        span, seed = experiment.period, experiment.seed
        periods = [period(seed, node, span.min, span.max) for node in range(experiment.nodes)]
        return Measurement(tuple(run_point(point, periods) for point in curve))


@dataclass(frozen=True)
class SweepOutcome:
    runs: Sequence[Run]
    endings: Sequence[Ending]
    """Of all cells: those that never began were interrupted."""
    trouble: str | None


@dataclass
class SweepCampaign:
    variants: Sequence[Variant]
    path: Path
    """The experiment file."""
    backend: str = SIMULATE
    command: str = ""
    hint: str = "run fewer or smaller experiments at a time"

    def __post_init__(self) -> None:
        self.name = self.variants[0].experiment.name
        self.files: Sequence[Path] = (self.path,)

    @property
    def nodes(self) -> int:
        return max(variant.experiment.nodes for variant in self.variants)

    def cells(self) -> list[Cell]:
        return [
            Cell(variant.values, variant.experiment, SweepLook(place), self.path.parent, place, variant.notes)
            for number, variant in enumerate(self.variants, 1)
            for place in (_folder_name(number, variant),)
        ]

    def stages(self) -> Stages[None]:
        yield Stage(RUNS, self.cells(), self.backend)

    def judge(self, done: Done, seconds: float, trouble: str | None) -> SweepOutcome:
        runs = done.get(RUNS, ())
        known = {run.cell.folder: run for run in runs}
        endings = [_ending(known.get(cell.folder)) for cell in self.cells()]
        return SweepOutcome(runs, endings, trouble)

    def write(self, folder: Path, outcome: SweepOutcome) -> None:
        index = {
            "name": self.name,
            "keys": swept_keys(self.variants),
            "runs": [
                {
                    "folder": cell.folder,
                    "values": cell.labels,
                    "status": ending.status.value,
                    "health": ending.health.state.value if ending.health else None,
                }
                for cell, ending in zip(self.cells(), outcome.endings, strict=True)
            ],
        }
        write_json(folder / "sweep.json", index)
        write_sweep_report(folder)

    def figures(self, run: Run) -> Mapping[str, str]:
        last = run.curve[-1] if run.curve else None
        return {} if last is None else _shown(last.iteration, last.objective, last.metrics, last.bytes)


def newest(point: Evaluation) -> Mapping[str, str]:
    """What the terminal shows of a run under way."""
    return _shown(point.iteration, point.objective, {"consensus": point.consensus, **point.metrics}, point.bytes)


def make_sweep(arguments: Mapping[str, Any]) -> SweepCampaign:
    """From what `pame run` was given."""
    asked, on = arguments["backend"], arguments["on"]
    if asked and asked not in BACKENDS:
        raise UnknownBackend(f"there is no backend {asked!r}; use one of: {', '.join(BACKENDS)}")
    backend = SERVED if on else asked or DEFAULT_BACKEND
    path = default_path() if arguments["file"] is None else Path(arguments["file"])
    settings = list(arguments["overrides"] or [])
    settings += ["verify.strict=true"] if arguments["strict"] else []
    settings += [] if arguments["seed"] is None else [f"seed={arguments['seed']}"]
    where = {"on": on} if on else {"backend": backend}
    command = command_of("run", arguments["file"], **where, set=settings)
    return SweepCampaign(load(path, settings), path, backend, command)


def _ending(run: Run | None) -> Ending:
    if run is None:
        return Ending(Status.INTERRUPTED, "never began, or was killed", 0, None, 0.0, exact=False)
    health = Health(State(run.health), run.health_reason) if run.health else None
    return Ending(Status(run.status), run.reason, 0, run.seconds, 0.0, exact=False, health=health)


def _folder_name(number: int, variant: Variant) -> str:
    values = ",".join(f"{key.rsplit('.', 1)[-1]}={value}" for key, value in variant.values.items())
    return f"{number:02d}-{re.sub(r'[^A-Za-z0-9.,=%_-]', '-', values)[:80]}"


def _shown(iteration: float, objective: float, metrics: Mapping[str, float], sent: float) -> dict[str, str]:
    accuracy = {name.replace("_", " "): of_metric(name, metrics[name]) for name in (ACCURACY,) if name in metrics}
    known = {"f(mean model)": objective, "consensus": metrics.get("consensus")}
    return {
        "iteration": number(iteration),
        **accuracy,
        **{name: number(value) for name, value in known.items() if value is not None},
        "sent": volume(sent),
    }
