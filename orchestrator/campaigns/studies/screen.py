"""What a person sees while a study goes on: a bar over its cells, and the newest ones in a table."""

from collections import deque
from collections.abc import Sequence

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

from orchestrator.campaigns.studies.grid import StudyCell
from orchestrator.campaigns.studies.measure import StudyRow
from orchestrator.control import NetworkState
from orchestrator.number_words import duration, percent, volume
from pame.observe import Evaluation, Record

_ROWS = 12
_HEADINGS = ("seed", "to target", "bytes", "waiting", "left", "where")


class StudyScreen:
    """Watches a study."""

    def __init__(self, predicted: int, measured: int, live: Live) -> None:
        """How many cells are predicted and measured."""
        self._rows: deque[StudyRow] = deque(maxlen=_ROWS)
        self._now = ""
        self._live = live
        self._progress = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("cells"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self._simulating = self._progress.add_task("simulator", total=predicted)
        self._running = self._progress.add_task("real nodes", total=measured, start=False, visible=measured > 0)
        live.update(self._show())

    def begins(self, cell: StudyCell) -> "StudyScreen":
        """A cell begins on real nodes."""
        self._progress.start_task(self._running)
        self._now = f"{cell.policy.words}; {cell.condition.words}"
        self._live.update(self._show())
        return self

    def tried(self, row: StudyRow) -> None:
        """A step was tried: no cell of the grid."""
        self._now = f"tuning the steps: {row.policy}"
        self._live.update(self._show())

    def predicted(self, row: StudyRow) -> None:
        """The simulator is done with a cell."""
        self._now = ""
        self._add(row, self._simulating)

    def measured(self, row: StudyRow) -> None:
        """The real nodes are."""
        self._now = ""
        self._add(row, self._running)

    def evaluated(self, evaluation: Evaluation) -> None:
        """Nothing: a row says it all."""

    def recorded(self, records: Sequence[Record]) -> None:
        """Nothing."""

    def state(self, state: NetworkState) -> None:
        """Where the nodes of the cell under way are."""
        words = self._now.partition(" · ")[0]
        self._now = f"{words} · {state.phase}, {state.alive} nodes, iteration {state.median}, {duration(state.seconds)}"
        self._live.update(self._show())

    def _add(self, row: StudyRow, task: TaskID) -> None:
        self._rows.append(row)
        self._progress.advance(task)
        self._live.update(self._show())

    def _show(self) -> Group:
        table = Table(box=None, padding=(0, 1), header_style="bold")
        for heading in ("policy", "condition"):
            table.add_column(heading, overflow="ellipsis")
        for heading in _HEADINGS:
            table.add_column(heading, justify="right", no_wrap=True)
        for row in self._rows:
            hit = "missed" if row.seconds_to_target is None else duration(row.seconds_to_target)
            sent = "–" if row.bytes_to_target is None else volume(row.bytes_to_target)
            shares = ("–" if share is None else percent(share) for share in (row.waiting, row.left))
            table.add_row(row.policy, row.condition, str(row.seed), hit, sent, *shares, row.backend)
        return Group(self._progress, Text(self._now), table)
