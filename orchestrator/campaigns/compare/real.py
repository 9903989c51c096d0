"""Runs on real nodes, one after another on a network of processes that stands."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.backends.on_processes import RunRequest
from orchestrator.backends.standing_network import run_standing
from orchestrator.campaigns.compare.grid import CompareCell
from orchestrator.campaigns.compare.jobs import CompareJob
from orchestrator.campaigns.compare.measure import CompareRow, Of, Yardstick, bytes_used, marks_of
from orchestrator.campaigns.compare.mixing_partners import company_of
from orchestrator.control import NetworkState
from orchestrator.errors import writing
from orchestrator.experiment.resolve import make_network_setting
from orchestrator.results import Ending, Status
from orchestrator.results.points import read_curve
from orchestrator.results.summary import require_summary
from pame.observe import Evaluation, Record

_NOTHING = Record(0, 0, None, None, 0, 0, None, 0, 0, 0, 0, 0, None)


@dataclass(frozen=True)
class CompareStage:
    """Who wants to know what goes on."""

    goes_on: Callable[[CompareCell, NetworkState], None]
    ended: Callable[[CompareRow], None]


def run_on_nodes(
    backend: str,
    jobs: Sequence[CompareJob],
    sticks: Mapping[int, Yardstick],
    of: Of,
    base: Path,
    folder: Path,
    stage: CompareStage,
) -> bool:
    """Run folders go below `folder`; whether all of them ran. Links are measured before the first run only."""
    errands, jobs_at = [], {}
    for number, job in enumerate([*jobs[:1], *(job.unverified() for job in jobs[1:])], 1):
        place = folder / f"{number:02d}-{job.cell.name}"
        jobs_at[place] = job
        errands.append(
            RunRequest(backend, job.experiment, base, place, _CompareRunWatcher(stage, job.cell), is_tuned=True)
        )

    def ended(errand: RunRequest, ending: Ending) -> None:
        if ending.status is not Status.INTERRUPTED:
            job = jobs_at[errand.folder]
            for row in job.rows(_measure(job, base, sticks[job.cell.seed], of, errand.folder)):
                stage.ended(row)

    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    endings = run_standing(backend, errands, folder / "nodes.log", ended)
    return len(endings) == len(errands) and endings[-1].status is not Status.INTERRUPTED


def _measure(job: CompareJob, base: Path, stick: Yardstick, of: Of, folder: Path) -> CompareRow:
    summary = require_summary(folder)
    setting = make_network_setting(job.experiment, base)
    used = bytes_used(_records(folder), setting)
    marks = marks_of(read_curve(folder), setting, stick, of, used)
    bound = summary.network is not None and summary.network.cpu_bound
    told = (company_of(setting), bound, summary.health_word, summary.health_reason)
    return CompareRow(job.cell, summary.backend, summary.status, marks, *told)


def _records(folder: Path) -> Iterator[Record]:
    """Who sent how much when, from records.csv."""
    with (folder / "records.csv").open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            counts = {key: int(line[key]) for key in ("node", "iteration", "messages", "bytes")}
            yield _NOTHING._replace(**counts)


class _CompareRunWatcher:
    """Tells the stage where the nodes are; the rest is read from the run folder."""

    def __init__(self, stage: CompareStage, cell: CompareCell) -> None:
        self._stage = stage
        self._cell = cell

    def evaluated(self, evaluation: Evaluation) -> None:
        pass

    def recorded(self, records: Sequence[Record]) -> None:
        pass

    def state(self, state: NetworkState) -> None:
        self._stage.goes_on(self._cell, state)
