"""What a person sees while a run goes on: a progress bar and a live table, fed by the events of the run."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from orchestrator.cli.run_progress import Limits
from orchestrator.control import NetworkState
from orchestrator.control.run_phase import Phase
from orchestrator.number_words import number, volume
from orchestrator.results.health import State
from pame.observe import Evaluation, Record

_ROWS = 12
_PER_SECOND = 8


class RunScreen:
    """One run: the newest points of the curve under a bar that goes by the limit that will end it."""

    def __init__(self, name: str, nodes: int, limits: Limits, live: Live) -> None:
        self._nodes = nodes
        self._limits = limits
        self._points: deque[Evaluation] = deque(maxlen=_ROWS)
        self._steps = 0
        self._seconds: float | None = None
        self._network: NetworkState | None = None
        self._rate = 0.0
        self._progress = make_bar()
        self._task = self._progress.add_task(name, total=1.0, reached=limits.progress(0, None).words)
        self._live = live
        live.update(self._show())

    def evaluated(self, evaluation: Evaluation) -> None:
        """One more row; of a run under a clock, the curve by time is what goes on."""
        if evaluation.seconds is None or evaluation.by == "time":
            self._points.append(evaluation)
            self._live.update(self._show())

    def recorded(self, records: Sequence[Record]) -> None:
        """The bar follows the mean iteration of the nodes, and their clock."""
        self._steps += len(records)
        if self._network is None and records:
            self._seconds = max((record.seconds for record in records if record.seconds is not None), default=None)
        self._reached(self._steps // self._nodes)

    def state(self, state: NetworkState) -> None:
        """Where the nodes of a network are."""
        rate = 0.0
        if self._network is not None and state.seconds > self._network.seconds:
            rate = (state.bytes - self._network.bytes) / (state.seconds - self._network.seconds)
        self._network, self._rate, self._seconds = state, rate, state.seconds
        self._reached(self._steps // self._nodes if self._steps else state.median)  # no records: it is somewhere else
        self._live.update(self._show())

    def _reached(self, iteration: int) -> None:
        progress = self._limits.progress(iteration, self._seconds)
        self._progress.update(self._task, completed=progress.share, reached=progress.words)

    def _places(self) -> Text:
        """One line: nodes ready, iterations, bytes per second, what is late or starved."""
        state = self._network
        if state is None:
            return Text("")
        if state.phase is Phase.VERIFYING:
            return Text(f"measuring the links of {state.nodes} nodes")
        if state.phase in (Phase.GATHERING, Phase.PREPARING):
            return Text(f"{state.phase}: {state.alive}/{state.nodes} nodes joined, {state.ready} ready")
        places = f"{state.slowest}/{state.median}/{state.fastest} min/median/max"
        return Text(
            f"{state.phase}: {state.alive}/{state.nodes} alive · iteration {places} · {volume(self._rate)}/s · "
            f"{state.late} late · {state.starved} starved{_health(state)}"
        )

    def _show(self) -> Group:
        table = Table(box=None, padding=(0, 1), header_style="bold")
        clock = any(point.seconds is not None for point in self._points)
        metric = next(iter(self._points[-1].metrics), None) if self._points else None
        headings = ["iteration", *(["seconds"] if clock else []), "f(mean model)", "consensus", "coverage", "sent"]
        for heading in [*headings, *([metric] if metric else [])]:
            table.add_column(heading.replace("_", " "), justify="right", no_wrap=True)
        for point in self._points:
            seconds = [f"{point.seconds:.2f}"] if clock and point.seconds is not None else []
            coverage = "" if point.coverage is None else number(point.coverage)
            figures = [number(point.objective), number(point.consensus), coverage, volume(point.bytes)]
            table.add_row(
                str(point.iteration), *seconds, *figures, *([number(point.metrics[metric])] if metric else [])
            )
        return Group(self._progress, *([self._places()] if self._network else []), table)


def _health(state: NetworkState) -> str:
    """Only what is not sound is worth a word."""
    health = state.health
    return "" if health is None or health.state is State.SOUND else f" · {health.state.value}: {health.reason}"


def make_bar() -> Progress:
    """With the time that has passed, and the time that is left."""
    return Progress(
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[reached]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )


@contextmanager
def shown(console: Console) -> Iterator[Live]:
    """A part of the terminal that is drawn again and again, and stays with its last picture."""
    with Live(console=console, refresh_per_second=_PER_SECOND) as live:
        yield live
    if not console.is_terminal:  # there rich leaves the cursor at the end of the last line
        console.print()
