"""The engine of all campaigns: stages one after another, every cell once, rows kept and taken up again, the report.

<folder>/   campaign.json (the command), rows.jsonl (a line per cell, as it ends), provenance.json, and what the
            campaign itself writes: a page, a result for programs, run folders
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar

from orchestrator.campaigns.cell import SIMULATE, Cell, Done, Run, Stage, Stages, data_of
from orchestrator.campaigns.on_nodes import Nodes, cleared
from orchestrator.campaigns.process_pool import cores, each, process_pool
from orchestrator.campaigns.rows import CannotResume, RowFile
from orchestrator.campaigns.simulate import simulate
from orchestrator.control import NetworkState
from orchestrator.results import Status, begin_provenance, end_provenance
from orchestrator.results.campaign_record import FINISHED, UNDER_WAY, CampaignRecord, write_record
from orchestrator.results.points import read_last_point
from pame.errors import PameError
from pame.observe import Evaluation, Record

INTERRUPTED, BROKE_OFF, FAILED = "interrupted", "it broke off", "failed"
_GRACE_S = 300.0
"""For a run with a folder that is interrupted: an iteration, and a report of however many."""
Outcome = TypeVar("Outcome")
Keyed = Sequence[tuple[Cell, str]]
"""Cells with their keys."""


class Campaign(Protocol[Outcome]):
    name: str
    """Of its folder."""
    command: str
    """As a user can repeat it."""
    files: Sequence[Path]
    """What it is made of: who resumes it must have the same."""
    hint: str
    """What to do if the machine has too little memory for it."""

    def stages(self) -> Stages[None]:
        """What runs; a stage may depend on what became of those before."""

    def judge(self, done: Done, seconds: float, trouble: str | None) -> Outcome:
        """What is said of the runs; `trouble`: why they are not all."""

    def write(self, folder: Path, outcome: Outcome) -> None:
        """The page, and the result for programs."""

    def figures(self, run: Run) -> Mapping[str, str]:
        """What the terminal shows of a run, by heading."""


class CampaignWatcher(Protocol):
    def begins(self, stage: Stage, known: int) -> None:
        """A stage begins; of its cells so many are known already."""

    def goes_on(self, cell: Cell, point: Evaluation) -> None:
        """The newest point of a run under way."""

    def state(self, cell: Cell, state: NetworkState) -> None:
        """Where the real nodes are."""

    def ended(self, run: Run) -> None: ...


def conduct(
    campaign: Campaign[Outcome],
    record: CampaignRecord,
    folder: Path,
    watcher: CampaignWatcher,
    nodes: Nodes | None = None,
) -> Outcome:
    """All of it, or the rest of it; interrupted, or with an error on the way, the report shows what there is."""
    began, rows = time.perf_counter(), RowFile(folder)
    trouble: str | None = None
    error: PameError | None = None
    provenance = begin_provenance(folder)
    with rows.appending(), ExitStack() as pools:
        write_record(folder, replace(record, status=UNDER_WAY))
        work = _Work(rows, folder, watcher, nodes, campaign.hint, pools)

        def run(stage: Stage) -> list[Run]:
            nonlocal record
            record = _with_data(record, stage, folder)
            write_record(folder, replace(record, status=UNDER_WAY))
            return work.run(stage)

        try:
            _drive(campaign.stages(), run)
        except KeyboardInterrupt:
            trouble = INTERRUPTED
        except CannotResume:
            write_record(folder, record)
            raise
        except PameError as caught:
            trouble, error = str(caught), caught
    seconds = record.seconds + time.perf_counter() - began
    outcome = campaign.judge(work.done, seconds, trouble)
    end_provenance(folder, provenance)
    campaign.write(folder, outcome)
    status = FINISHED if trouble is None else trouble if error is None else FAILED
    write_record(folder, replace(record, status=status, seconds=seconds))
    if error is not None:
        raise error
    return outcome


def report_anew(campaign: Campaign[Outcome], record: CampaignRecord, folder: Path) -> None:
    """From its rows; nothing runs."""
    work = _Work(RowFile(folder), folder)
    _drive(campaign.stages(), work.replay)
    trouble = {FINISHED: None, UNDER_WAY: BROKE_OFF}.get(record.status, record.status)
    campaign.write(folder, campaign.judge(work.done, record.seconds, trouble))


def _with_data(record: CampaignRecord, stage: Stage, folder: Path) -> CampaignRecord:
    """With the sums of the data sets of a stage; another one of the same name is a refusal."""
    sums = {name: sha256 for cell in stage.cells for name, sha256 in data_of(cell).items()}
    for name, sha256 in sums.items():
        if record.data.get(name, sha256) != sha256:
            raise CannotResume(
                f"the data set {name} is not what it was when {folder} began: prepare it as it was, or begin anew"
            )
    return replace(record, data={**record.data, **sums})


def _drive(stages: Stages[None], run: Callable[[Stage], list[Run] | None]) -> None:
    """Until the last stage, or one of which not all is known."""
    try:
        stage = next(stages)
        while (runs := run(stage)) is not None:
            stage = stages.send(runs)
    except StopIteration:
        pass


@dataclass
class _Work:
    rows: RowFile
    folder: Path
    watcher: CampaignWatcher | None = None
    nodes: Nodes | None = None
    hint: str = ""
    pools: ExitStack = field(default_factory=ExitStack)
    _pool: ProcessPoolExecutor | None = None
    _visited: list[tuple[str, Keyed, dict[str, Run]]] = field(default_factory=list)
    """Stages: their cells, and the runs of those by key."""

    @property
    def done(self) -> Done:
        found: dict[str, list[Run]] = {}
        for name, keyed, known in self._visited:
            found.setdefault(name, []).extend(_in_order(keyed, known))
        return found

    def replay(self, stage: Stage) -> list[Run] | None:
        """What is known of a stage; None: not everything."""
        keyed, known = self._visit(stage)
        return _in_order(keyed, known) if all(key in known for _, key in keyed) else None

    def run(self, stage: Stage) -> list[Run]:
        """What is known of it, and what is not yet."""
        keyed, known = self._visit(stage)
        watcher, cells_of = self.watcher, dict[str, list[Cell]]()
        for cell, key in keyed:
            cells_of.setdefault(key, []).append(cell)
            if key in known:
                self.rows.add(stage.name, replace(known[key], cell=cell), key)
        assert watcher is not None
        watcher.begins(stage, sum(key in known for _, key in keyed))

        def ended(key: str, run: Run) -> None:
            known[key] = run
            for cell in cells_of[key]:
                one = replace(run, cell=cell)
                self.rows.add(stage.name, one, key)
                watcher.ended(one)

        missing = {key: cells[0] for key, cells in cells_of.items() if key not in known}
        if missing and stage.backend != SIMULATE:
            assert self.nodes is not None
            self.pools.close()
            self._pool = None
            self.nodes.run(stage, missing, self.folder, lambda cell: _CellObserver(watcher, cell), ended)
        elif missing:
            self._simulate(missing, watcher, ended)
        return _in_order(keyed, known)

    def _visit(self, stage: Stage) -> tuple[Keyed, dict[str, Run]]:
        keyed = [(cell, cell.key(stage.backend)) for cell in stage.cells]
        found = {key: self.rows.find(stage.name, cell, key) for cell, key in keyed}
        known = {key: run for key, run in found.items() if run is not None}
        self._visited.append((stage.name, keyed, known))
        return keyed, known

    def _simulate(
        self, missing: Mapping[str, Cell], watcher: CampaignWatcher, ended: Callable[[str, Run], None]
    ) -> None:
        places = {key: cleared(self.folder / cell.folder) for key, cell in missing.items() if cell.folder}
        if self._pool is None:
            self._pool = self.pools.enter_context(process_pool(cores(), in_order=bool(places)))
        ordered = missing.items() if places else sorted(missing.items(), key=lambda item: _size(item[1]))
        jobs = {key: (cell, places.get(key)) for key, cell in ordered}

        def look() -> None:
            for key, place in places.items():
                if (point := read_last_point(place)) is not None:
                    watcher.goes_on(missing[key], point)

        with closing(each(self._pool, simulate, jobs, self.hint, look, _GRACE_S if places else 0.0)) as runs:
            for key, run in runs:
                if run.status != Status.INTERRUPTED.value:
                    places.pop(key, None)
                    ended(key, run)


def _in_order(keyed: Keyed, known: Mapping[str, Run]) -> list[Run]:
    return [replace(known[key], cell=cell) for cell, key in keyed if key in known]


def _size(cell: Cell) -> tuple[int, str, int]:
    """The largest first, so that no core idles at the end; cells of the same data one after another."""
    experiment = cell.experiment
    return -experiment.nodes, repr(experiment.problem), experiment.seed


@dataclass
class _CellObserver:
    """Watches the run of a cell on real nodes for whoever watches the campaign."""

    watcher: CampaignWatcher
    cell: Cell

    def evaluated(self, evaluation: Evaluation) -> None:
        self.watcher.goes_on(self.cell, evaluation)

    def recorded(self, records: Sequence[Record]) -> None:
        pass

    def state(self, state: NetworkState) -> None:
        self.watcher.state(self.cell, state)
