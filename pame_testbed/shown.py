"""What a caller sees while something runs: a bar in a terminal, a bar and a growing chart in a notebook, or nothing."""

import sys
import time
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from orchestrator.cli.run_progress import progress_of
from orchestrator.exports.figure_series import FigureLine
from orchestrator.exports.paper_figure import FigureLook, draw
from orchestrator.number_words import is_share, number, of_metric
from pame.observe import Evaluation
from pame.stopping import StopRules
from pame_testbed.job import JobProgress

_EVERY_S = 0.5
_CHART = FigureLook(width_mm=150, height_mm=60, font_size=9)


class Shown(Protocol):
    def point(self, point: Evaluation) -> None: ...

    def state(self, state: Mapping[str, Any]) -> None:
        """Where the nodes are."""

    def progress(self, progress: JobProgress) -> None: ...

    def over(self, folder: Path | None) -> None:
        """Nothing more comes."""


class Nothing:
    def point(self, point: Evaluation) -> None:
        pass

    def state(self, state: Mapping[str, Any]) -> None:
        pass

    def progress(self, progress: JobProgress) -> None:
        pass

    def over(self, folder: Path | None) -> None:
        pass


class TerminalBar:
    """A line on standard error."""

    def __init__(self, name: str, stop: StopRules) -> None:
        from rich.console import Console

        from orchestrator.cli.terminal import make_bar

        self._stop = stop
        self._bar = make_bar(Console(stderr=True))
        self._task = self._bar.add_task(name, total=1.0, reached="")
        self._bar.start()

    def point(self, point: Evaluation) -> None:
        reached = progress_of(self._stop, point.iteration, point.seconds)
        self._bar.update(self._task, completed=reached.share, reached=f"{reached.words}, {_figures(point)}")

    def state(self, state: Mapping[str, Any]) -> None:
        self._bar.update(self._task, description=str(state.get("phase") or ""))

    def progress(self, progress: JobProgress) -> None:
        words = f"{progress.ended}/{progress.cells} done"
        share = progress.ended / max(progress.cells, 1)
        self._bar.update(self._task, description=progress.stage, completed=share, reached=words)

    def over(self, folder: Path | None) -> None:
        self._bar.stop()


class NotebookView:
    """Below the cell: a bar, and the curve as far as it has come; twice a second."""

    def __init__(self, name: str, stop: StopRules, is_simulated: bool) -> None:
        from IPython import display as ipython

        self._html: Any = ipython.HTML
        show: Any = ipython.display
        self._name = name
        self._stop = stop
        self._is_simulated = is_simulated
        self._points: list[Evaluation] = []
        self._share, self._words = 0.0, "starting"
        self._drawn_at = 0.0
        self._handle = show(self._shown(), display_id=True)

    def point(self, point: Evaluation) -> None:
        if not self._points or point.by == self._points[-1].by or point.by == "time":
            self._points = [p for p in self._points if p.by == point.by] + [point]
        reached = progress_of(self._stop, point.iteration, point.seconds)
        self._share, self._words = reached.share, f"{reached.words}: {_figures(point)}"
        self._draw()

    def state(self, state: Mapping[str, Any]) -> None:
        if not self._points:
            self._words = f"{state.get('phase')}: {state.get('alive')} of {state.get('nodes')} nodes"
            self._draw()

    def progress(self, progress: JobProgress) -> None:
        self._share = progress.ended / max(progress.cells, 1)
        self._words = f"{progress.stage}: {progress.ended} of {progress.cells} runs"
        self._draw()

    def over(self, folder: Path | None) -> None:
        self._words = f"{self._words} · {folder}" if folder else self._words
        self._draw(at_once=True)

    def _draw(self, at_once: bool = False) -> None:
        now = time.monotonic()
        if self._handle is not None and (at_once or now - self._drawn_at >= _EVERY_S):
            self._drawn_at = now
            self._handle.update(self._shown())

    def _shown(self) -> Any:
        html: Any = self._html
        return html(self._page())

    def _page(self) -> str:
        bar = f'<progress value="{self._share:.4f}" max="1" style="width:16em" aria-label="progress"></progress>'
        return f"<div><b>{escape(self._name)}</b> {bar} {escape(self._words)}</div>{self._chart()}"

    def _chart(self) -> str:
        known = [point for point in self._points if np.isfinite(point.objective)]
        if len(known) < 2:
            return ""
        metric = next(iter(known[-1].metrics), "")
        y = metric if is_share(metric) else "objective"
        values = [point.metrics[metric] if y == metric else point.objective for point in known]
        is_timed = known[-1].by == "time"
        places = [point.seconds if is_timed else point.iteration for point in known]
        f = np.array(values, np.float64)
        line = FigureLine("", np.array(places, np.float64), f, f, f, 1)
        x = "seconds" if is_timed else "iteration"
        return draw([line], x, y, _CHART, is_simulated=self._is_simulated).svg()


def view_of(name: str, stop: StopRules, wanted: bool | None, is_simulated: bool = False) -> Shown:
    """`wanted` None: where somebody looks; `is_simulated`: whether seconds are those of the simulator."""
    if wanted is False:
        return Nothing()
    if _is_notebook():
        return NotebookView(name, stop, is_simulated)
    return TerminalBar(name, stop) if wanted or sys.stderr.isatty() else Nothing()


def _is_notebook() -> bool:
    """Whether this is a kernel that shows HTML; a plain shell of IPython is a terminal."""
    if "IPython" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    return type(get_ipython()).__name__ == "ZMQInteractiveShell"


def _figures(point: Evaluation) -> str:
    metric = next(iter(point.metrics), "")
    judged = f", {metric.replace('_', ' ')} {of_metric(metric, point.metrics[metric])}" if is_share(metric) else ""
    return f"f {number(point.objective)}{judged}"
