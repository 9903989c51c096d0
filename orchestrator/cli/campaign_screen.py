"""What a person sees while a campaign goes on: a bar per stage, and its newest runs in a table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.progress import TaskID
from rich.table import Table
from rich.text import Text

from orchestrator.algorithm_names import setting_value
from orchestrator.campaigns.cell import Cell, Run, Stage
from orchestrator.cli.run_progress import progress_of
from orchestrator.cli.terminal import make_bar
from orchestrator.control import NetworkState
from orchestrator.number_words import duration
from pame.observe import Evaluation

if TYPE_CHECKING:
    from orchestrator.live.campaign_progress import CampaignProgress

_ROWS = 12


@dataclass
class _StageProgress:
    task: TaskID
    cells: int = 0
    ended: int = 0
    shares: dict[str, float] = field(default_factory=dict)
    """How far runs under way are, by their place."""


class CampaignScreen:
    """Watches a campaign; `figures`: what is shown of a run that is over, `newest`: of one under way, if anything;
    `page`: is told the same."""

    def __init__(
        self,
        figures: Callable[[Run], Mapping[str, str]],
        live: Live,
        newest: Callable[[Evaluation], Mapping[str, str]] | None = None,
        page: "CampaignProgress | None" = None,
    ) -> None:
        self._page = page
        self._figures = figures
        self._newest = newest
        self._live = live
        self._progress = make_bar()
        self._stages: dict[str, _StageProgress] = {}
        self._stage = ""
        self._now = ""
        self._rows: dict[str, tuple[Cell, str, Mapping[str, str]]] = {}
        self._show()

    def begins(self, stage: Stage, known: int) -> None:
        """A stage of the same name goes on: there is more of it than was known."""
        self._stage, self._now = stage.name, ""
        if stage.name not in self._stages:
            task = self._progress.add_task(stage.name, total=0, reached="")
            self._stages[stage.name] = _StageProgress(task)
        progress = self._stages[stage.name]
        progress.cells += len(stage.cells)
        progress.ended += known
        self._advance()

    def goes_on(self, cell: Cell, point: Evaluation) -> None:
        share = progress_of(cell.experiment.stop, point.iteration or 0, point.seconds).share
        self._stages[self._stage].shares[_place(cell)] = share
        if self._newest is not None:
            self._row(cell, "", self._newest(point))
        self._advance()

    def state(self, cell: Cell, state: NetworkState) -> None:
        where = f"{state.phase}, {state.alive} nodes, iteration {state.median}, {duration(state.seconds)}"
        self._now = f"{_words(cell.labels)}, seed {cell.seed} · {where}"
        if self._page is not None:
            self._page.now(self._now)
        self._show()

    def ended(self, run: Run) -> None:
        progress, place = self._stages[self._stage], _place(run.cell)
        progress.ended += 1
        progress.shares.pop(place, None)
        self._now = ""
        self._rows.pop(place, None)
        self._row(run.cell, run.backend, self._figures(run))
        self._advance()

    def _row(self, cell: Cell, where: str, figures: Mapping[str, str]) -> None:
        self._rows[_place(cell)] = (cell, where, figures)
        if self._page is not None:
            self._page.row(_place(cell), _words(cell.labels), cell.seed, where, figures)

    def _advance(self) -> None:
        progress = self._stages[self._stage]
        if self._page is not None:
            share = (progress.ended + sum(progress.shares.values())) / max(progress.cells, 1)
            self._page.stage(self._stage, progress.cells, progress.ended, share)
            self._page.now(self._now)
        self._progress.update(
            progress.task,
            total=progress.cells,
            completed=progress.ended + sum(progress.shares.values()),
            reached=f"{progress.ended}/{progress.cells} done",
        )
        self._show()

    def _show(self) -> None:
        rows = list(self._rows.values())[-_ROWS:]
        table = Table(box=None, padding=(0, 1), header_style="bold")
        labels = list(dict.fromkeys(label for cell, _, _ in rows for label in cell.labels if label != "seed"))
        figures = list(dict.fromkeys(name for _, _, shown in rows for name in shown))
        for label in labels:  # where there is little room these wrap, and the numbers stay whole
            table.add_column(label.rpartition(".")[2], overflow="ellipsis")
        for heading in ["seed", *figures, "where"] if rows else []:
            table.add_column(heading, justify="right", no_wrap=True)
        for cell, backend, shown in rows:
            chosen = (escape(_labelled(cell.labels, label)) for label in labels)
            table.add_row(*chosen, str(cell.seed), *(shown.get(name, "") for name in figures), backend)
        self._live.update(Group(self._progress, *([Text(self._now)] if self._now else []), table))


def _place(cell: Cell) -> str:
    return f"{_words(cell.labels)} {cell.seed} {cell.folder}"


def _words(labels: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, (_labelled(labels, label) for label in labels)))


def _labelled(labels: Mapping[str, Any], label: str) -> str:
    return setting_value(label, _word(labels.get(label, "")))


def _word(value: object) -> str:
    return ", ".join(map(str, value.values())) if isinstance(value, Mapping) else str(value)
