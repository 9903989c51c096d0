"""What a person sees while a run goes on: a progress bar and a live table, fed by the events of the run."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from orchestrator.cli.run_progress import progress_of
from orchestrator.control import NetworkState
from orchestrator.control.run_phase import Phase
from orchestrator.number_words import is_share, number, of_metric, volume
from orchestrator.results.health import State
from pame.observe import Evaluation, Own, Record
from pame.stopping import StopRules

_ROWS = 12
_LEAST = ("coverage", "consensus")
"""The columns that a narrow terminal loses first."""
_PER_SECOND = 8


class RunScreen:
    """One run: the newest points of the curve under a bar that goes by the limit that will end it."""

    def __init__(self, name: str, nodes: int, stop: StopRules, live: Live) -> None:
        self._nodes = nodes
        self._stop = stop
        self._points: deque[Evaluation] = deque(maxlen=_ROWS)
        self._steps = 0
        self._seconds: float | None = None
        self._network: NetworkState | None = None
        self._rate = 0.0
        self._progress = make_bar()
        self._task = self._progress.add_task(name, total=1.0, reached=progress_of(stop, 0, None).words)
        self._judging: TaskID | None = None
        """The bar of what is judged after the run."""
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
        """Where the nodes of a network are, or how far the evaluation after the run is."""
        if state.to_judge:
            self._judged(state.judged, state.to_judge)
            return
        rate = 0.0
        if self._network is not None and state.seconds > self._network.seconds:
            rate = (state.bytes - self._network.bytes) / (state.seconds - self._network.seconds)
        self._network, self._rate, self._seconds = state, rate, state.seconds
        self._reached(self._steps // self._nodes if self._steps else state.median)  # no records: it is somewhere else
        self._live.update(self._show())

    def _judged(self, points: int, of: int) -> None:
        if self._judging is None:
            self._judging = self._progress.add_task("evaluation", total=1.0, reached="")
            self._network = None
        self._progress.update(self._judging, completed=points / of, reached=f"{points}/{of} points")
        self._live.update(self._show())

    def _reached(self, iteration: int) -> None:
        progress = progress_of(self._stop, iteration, self._seconds)
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
        points = list(self._points)
        metric = next(iter(points[-1].metrics), "") if points else ""
        judged = {words: [show(point) for point in points] for words, show in metric_columns(metric).items()}
        clock = {"seconds": ["" if point.seconds is None else f"{point.seconds:.2f}" for point in points]}
        rest = {
            "f(mean model)": [number(point.objective) for point in points],
            "consensus": [number(point.consensus) for point in points],
            "coverage": ["" if point.coverage is None else number(point.coverage) for point in points],
            "sent": [volume(point.bytes) for point in points],
        }
        columns = {"iteration": [str(point.iteration) for point in points]}
        columns |= clock if any(clock["seconds"]) else {}
        columns |= judged | rest if is_share(metric) else rest | judged
        for name in _LEAST:
            if _width(columns) > self._live.console.width:
                del columns[name]
        table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="bold")
        for heading in columns:
            table.add_column(heading, justify="right", no_wrap=True)
        for row in zip(*columns.values(), strict=True):
            table.add_row(*row)
        return Group(self._progress, *([self._places()] if self._network else []), table)


def metric_columns(metric: str) -> Mapping[str, Callable[[Evaluation], str]]:
    """By their heading: the headline metric of the mean model and, where it is a share of one, of the nodes."""
    if not metric:
        return {}
    columns = {metric.replace("_", " "): lambda point: of_metric(metric, point.metrics.get(metric))}
    return columns | ({"of the nodes": lambda point: _of_nodes(metric, point.own)} if is_share(metric) else {})


def _of_nodes(metric: str, own: Own | None) -> str:
    """Mean, lowest and highest."""
    if own is None or metric not in own.metrics:
        return ""
    mean, low, high = own.metrics[metric], own.lowest[metric], own.highest[metric]
    return f"{100 * mean:.1f} ({100 * low:.1f}–{100 * high:.1f}) %"


def _width(columns: Mapping[str, Sequence[str]]) -> int:
    return sum(2 + max(map(len, (heading, *cells))) for heading, cells in columns.items()) - 2


def _health(state: NetworkState) -> str:
    """Only what is not sound is worth a word."""
    health = state.health
    return "" if health is None or health.state is State.SOUND else f" · {health.state.value}: {health.reason}"


def make_bar(console: Console | None = None) -> Progress:
    """With the time that has passed, and the time that is left."""
    return Progress(
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[reached]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )


@contextmanager
def shown(console: Console) -> Iterator[Live]:
    """A part of the terminal that is drawn again and again, and stays with its last picture."""
    with Live(console=console, refresh_per_second=_PER_SECOND) as live:
        yield live
    if not console.is_terminal:  # there rich leaves the cursor at the end of the last line
        console.print()
