"""The run folder: an observer that puts what it sees on the disk."""

import csv
import os
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import astuple, fields
from datetime import datetime
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, Self, TextIO

import numpy as np
from numpy.typing import NDArray

from contract.counters import SocketCounts
from orchestrator.errors import CannotWrite, writing
from orchestrator.experiment import Experiment, to_yaml
from orchestrator.experiment.named_files import Files, kept
from orchestrator.results.class_counts import FILE as CLASS_COUNTS
from orchestrator.results.class_counts import class_counts_of
from orchestrator.results.record_balance import Recorded
from orchestrator.results.summary import FILE as SUMMARY
from orchestrator.results.summary import RunSummary
from orchestrator.results.topology_file import FILE as TOPOLOGY
from orchestrator.results.topology_file import drawn_topology
from orchestrator.results.typed_json import to_text, write_json
from pame.byte_account import LinkRows
from pame.fault_effects import Plan
from pame.fault_plan_text import plan_lines
from pame.observe import Evaluation, Record
from pame.problems import Problem
from pame.topology import Topology

_TRIES = 1000
_MODELS_BYTES = 64 * 2**20
_FLUSH_S = 0.5
"""What a crash may cost of records that keep coming."""


def create_folder(root: Path, name: str) -> Path:
    """A new folder `<time>-<name>` below the root; a number is added if that one exists."""
    stem = f"{datetime.now():%Y%m%d-%H%M%S}-{name}"
    with writing(root):
        root.mkdir(parents=True, exist_ok=True)
        for number in range(1, _TRIES):
            path = root / (stem if number == 1 else f"{stem}-{number}")
            try:
                path.mkdir()
            except FileExistsError:
                continue
            return path
    raise CannotWrite(f"there are {_TRIES} run folders {root / stem} already; remove some")


class RunFolder:
    """Writes one run folder; to be used as a context, and given to a driver as (one of) its observers."""

    def __init__(self, path: Path, clock: Callable[[], float] = monotonic) -> None:
        self.path = path
        self.last: Evaluation | None = None
        self.sums = Recorded()
        """Of all rows of records.csv."""
        self._clock = clock
        self._flushed = -inf
        self._events: TextIO | None = None
        self._files = ExitStack()
        with writing(path):
            path.mkdir(parents=True, exist_ok=True)
            self._curve = self._files.enter_context((path / "curve.jsonl").open("w", encoding="utf-8"))
            self._records = self._files.enter_context((path / "records.csv").open("w", encoding="utf-8", newline=""))
        self._rows = csv.writer(self._records)
        self._rows.writerow(Record._fields)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with writing(self.path):
            self._files.close()

    def evaluated(self, evaluation: Evaluation) -> None:
        """One more line of curve.jsonl; records follow to the disk with it."""
        self.last = evaluation
        with writing(self.path):
            self._curve.write(to_text(evaluation) + "\n")
        self.flush()

    def recorded(self, records: Sequence[Record]) -> None:
        """More rows of records.csv; while they keep coming they reach the disk twice a second."""
        self.sums.add(records)
        with writing(self.path):
            self._rows.writerows(records)
        if self._clock() - self._flushed >= _FLUSH_S:
            self.flush()

    def happened(self, event: Mapping[str, Any]) -> None:
        """One more line of events.jsonl, on the disk at once; the file is there from the first event on.

        A report shows `seconds` (since the begin of the run), `what`, `node` and `detail`, and any other key as detail.
        """
        with writing(self.path):
            if self._events is None:
                self._events = self._files.enter_context((self.path / "events.jsonl").open("w", encoding="utf-8"))
            self._events.write(to_text(event) + "\n")
        self.flush()

    def flush(self) -> None:
        """Hand all rows and lines to the system, and show that the run is alive, with or without news."""
        self._flushed = self._clock()
        with writing(self.path):
            os.utime(self.path / "curve.jsonl")
            for file in (self._curve, self._records, self._events):
                if file is not None:
                    file.flush()

    def write_experiment(self, experiment: Experiment, files: Files) -> None:
        """experiment.yaml, and in `files/` what it names; `files`: where that is now."""
        experiment, contents = kept(experiment, files)
        with writing(self.path):
            for name, content in contents.items():
                (self.path / name).parent.mkdir(exist_ok=True)
                (self.path / name).write_bytes(content)
            (self.path / "experiment.yaml").write_text(to_yaml(experiment), encoding="utf-8")

    def write_topology(self, topology: Topology, kind: str) -> None:
        """topology.json: the graph, its figures, its picture."""
        write_json(self.path / TOPOLOGY, drawn_topology(topology, kind))

    def write_class_counts(self, problem: Problem) -> None:
        """class_counts.json: how many samples of each class each node has; nothing of data without classes."""
        if (counted := class_counts_of(problem)) is not None:
            write_json(self.path / CLASS_COUNTS, counted)

    def write_links(self, links: LinkRows) -> None:
        names = [field.name for field in fields(links)]
        self._write_rows("links.csv", names, zip(*(getattr(links, name).tolist() for name in names), strict=True))

    def write_plan(self, plan: Plan) -> None:
        """plan.jsonl: what is done to the network; nothing if nothing is."""
        if plan:
            with writing(self.path):
                (self.path / "plan.jsonl").write_text("\n".join(plan_lines(plan)) + "\n", encoding="utf-8")

    def write_connections(self, counts: Mapping[tuple[int, int], SocketCounts]) -> None:
        """connections.csv: what the kernels counted at the end, by link; nothing if no node could ask."""
        if counts:
            names = ["sender", "receiver", *(field.name for field in fields(SocketCounts))]
            self._write_rows("connections.csv", names, ((*pair, *astuple(counts[pair])) for pair in sorted(counts)))

    def write_models(self, models: Mapping[int, NDArray[np.float64]]) -> None:
        """models.npy: the results, one row per node, zeros for a node without one; nothing if they are too large."""
        if not models or sum(model.nbytes for model in models.values()) > _MODELS_BYTES:
            return
        rows = np.zeros((max(models) + 1, next(iter(models.values())).size))
        for node, model in models.items():
            rows[node] = model
        with writing(self.path):
            np.save(self.path / "models.npy", rows)

    def write_error(self, error: BaseException) -> Path:
        """error.log: where in the code a run came to its end, for whoever wrote that code."""
        path = self.path / "error.log"
        with writing(path):
            path.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
        return path

    def write_summary(self, summary: RunSummary) -> None:
        write_json(self.path / SUMMARY, summary)

    def _write_rows(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        with writing(self.path), (self.path / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(rows)
