"""What a person sees of a comparison in the terminal: bars over its runs meanwhile, a table per view at the end."""

from collections import deque
from collections.abc import Callable

from rich.console import Group
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from orchestrator.campaigns.compare.file import Comparison
from orchestrator.campaigns.compare.grid import CompareCell, CompareView, contestants, tuning_cells, views
from orchestrator.campaigns.compare.measure import CompareRow, to_suboptimality
from orchestrator.campaigns.compare.outcome import CompareOutcome
from orchestrator.campaigns.compare.tables import NOTHING, shown
from orchestrator.campaigns.compare.verdict import MEASURES, Line, goals, is_free, lines
from orchestrator.control import NetworkState
from orchestrator.number_words import duration, number, percent, volume

_ROWS = 12
_HEADINGS = ("seed", "iterations", "rounds", "bytes", "left")


class CompareScreen:
    """Watches a comparison."""

    def __init__(self, comparison: Comparison, on_nodes: bool, live: Live) -> None:
        self._target = comparison.targets[-1]
        self._rows: deque[CompareRow] = deque(maxlen=_ROWS)
        self._now = ""
        self._live = live
        self._progress = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        runs = sum(len(contestants(comparison, view)) for view in views(comparison)) * len(comparison.seeds)
        self._solving = self._progress.add_task("optimum of each seed", total=1 + len(comparison.seeds))
        self._tuning = self._progress.add_task("tuning", total=len(tuning_cells(comparison)), start=False)
        self._simulating = self._progress.add_task("fresh seeds", total=runs, start=False)
        self._running = self._progress.add_task("real nodes", total=runs, start=False, visible=on_nodes)
        live.update(self._show())

    def solved(self, seed: int) -> None:
        """The optimum of a seed's data is known."""
        self._advance(self._solving)

    def tuned(self, row: CompareRow) -> None:
        """A tuning run is over."""
        self._add(row, self._tuning)

    def simulated(self, row: CompareRow) -> None:
        """A run on a fresh seed is over."""
        self._add(row, self._simulating)

    def goes_on(self, cell: CompareCell, state: NetworkState) -> None:
        """Where the real nodes are."""
        self._progress.start_task(self._running)
        where = f"{state.phase}, {state.alive} nodes, iteration {state.median}, {duration(state.seconds)}"
        self._now = f"{cell.algorithm}, {cell.view.value}, seed {cell.seed} · {where}"
        self._live.update(self._show())

    def measured(self, row: CompareRow) -> None:
        """A run on real nodes is over."""
        self._now = ""
        self._add(row, self._running)

    def _add(self, row: CompareRow, task: TaskID) -> None:
        self._rows.append(row)
        self._advance(task)

    def _advance(self, task: TaskID) -> None:
        self._progress.start_task(task)
        bar = self._progress.tasks[task]
        if bar.total is not None and bar.completed >= bar.total:  # beyond the edges of the grids
            self._progress.update(task, total=bar.completed + 1)
        self._progress.advance(task)
        self._live.update(self._show())

    def _show(self) -> Group:
        table = Table(box=None, padding=(0, 1), header_style="bold")
        for heading in ("algorithm", "view", "tuned"):
            table.add_column(heading, overflow="ellipsis")
        for heading in _HEADINGS:
            table.add_column(heading, justify="right", no_wrap=True)
        for row in self._rows:
            table.add_row(
                row.cell.algorithm,
                row.cell.view.value,
                ", ".join(str(value) for _, value in row.cell.values),
                str(row.cell.seed),
                *self._figures(row),
            )
        return Group(self._progress, Text(self._now), table)

    def _figures(self, row: CompareRow) -> list[str]:
        """What it took to the tightest target, and what is left at the end."""
        hit = to_suboptimality(row, self._target)
        left = row.status if row.status != "finished" or row.left is None else percent(row.left)
        if hit is None:
            return ["missed", NOTHING, NOTHING, left]
        return [str(hit.iteration), number(float(f"{hit.rounds:.3g}")), volume(hit.bytes), left]


def result_table(outcome: CompareOutcome, view: CompareView) -> Table:
    """Every target and algorithm of a view: medians, and the range below where seeds differ."""
    table = Table(
        title=view.value, title_justify="left", title_style="bold", header_style="bold", box=None, pad_edge=False
    )
    for heading in ("target", "algorithm"):
        table.add_column(heading, no_wrap=True)
    timed = ["simulated"] if outcome.measured else []
    for heading in ("reached", *(measure.words for measure in MEASURES), *timed, "left there"):
        table.add_column(heading.replace(" ", "\n"), justify="right", no_wrap=True)
    for goal in goals(outcome):
        for place, line in enumerate(lines(outcome, view, goal)):
            free = "\n[dim]reached without\ncommunication[/]" if is_free(outcome, goal) else ""
            table.add_row("" if place else f"{goal.key}{free}", line.algorithm, *_words(line, bool(timed)))
    return table


def _words(line: Line, timed: bool) -> list[str]:
    found = [shown(line.took[measure.key], _brief(measure.show)) for measure in MEASURES]
    figures = [f"{middle}\n[dim]{below}[/]" if below else middle for middle, below in found]
    figures += [shown(line.simulated_s, _brief(duration))[0]] if timed else []
    return [line.reached, *figures, shown(line.left, percent)[0]]


def _brief(words: Callable[[float | None], str]) -> Callable[[float | None], str]:
    """With three digits: a terminal is narrow."""
    return lambda value: words(None if value is None else float(f"{value:.3g}"))
