"""What a run left: the same for one in the simulator, which leaves no files, and for one with a run folder."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orchestrator.experiment import Experiment
from orchestrator.results.points import read_curve
from orchestrator.results.summary import require_summary
from orchestrator.results.tables import LinkTotals, read_links
from pame.byte_account import LinkRows
from pame.observe import Evaluation, Record
from pame.resolved_run import ResolvedRun

_COUNTS = ("node", "iteration", "wanted", "starved", "messages", "bytes")


@dataclass(frozen=True)
class RunLeft:
    """None: not known, as of a run on somebody else's nodes."""

    experiment: Experiment
    setting: ResolvedRun
    points: Sequence[Evaluation]
    seconds: float | None = None
    records: Sequence[Record] | None = None
    links: LinkRows | LinkTotals | None = None
    models: NDArray[np.float64] | None = None
    """The final ones, of all nodes."""


def left_in(folder: Path, experiment: Experiment, setting: ResolvedRun) -> RunLeft:
    summary = require_summary(folder)
    return RunLeft(
        experiment,
        setting,
        read_curve(folder),
        summary.seconds,
        list(_records(folder / "records.csv")) or None,
        read_links(folder / "links.csv"),
        _models(folder, setting.topology.nodes, summary.network and summary.network.results),
    )


def _records(path: Path) -> Iterator[Record]:
    """What campaigns look at of records.csv; the rest of a record is nothing."""
    with path.open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            seconds, waited_s = (float(line[name]) if line[name] else None for name in ("seconds", "waited_s"))
            counts = {name: int(line[name]) for name in _COUNTS}
            yield Record(seconds=seconds, waited_s=waited_s, **counts)


def _models(folder: Path, nodes: int, results: object) -> NDArray[np.float64] | None:
    """None if there are none, or a node of a network left none."""
    path = folder / "models.npy"
    if not path.is_file() or (isinstance(results, dict) and len(results) < nodes):
        return None
    models: NDArray[np.float64] = np.load(path, allow_pickle=False)
    return models
