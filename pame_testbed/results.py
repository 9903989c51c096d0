"""What runs left behind: a run, a sweep, a comparison, each with its tables as frames and its report."""

import time
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.exports.campaign_tables import is_campaign, is_sweep, members
from orchestrator.exports.named_tables import tables_in
from orchestrator.exports.run_tables import summary_of
from orchestrator.results import find_run
from orchestrator.results.read import read_run
from orchestrator.results.summary import RunSummary
from pame_testbed.drawing import Figure, figure
from pame_testbed.frames import frame_of

if TYPE_CHECKING:
    import pandas as pd

_REPORT_PIXELS = 720


@dataclass(frozen=True)
class Results:
    """A folder with a report; its tables are read when they are first asked for, and kept."""

    folder: Path

    @property
    def name(self) -> str:
        """Of the folder, by which the command knows it, too."""
        return self.folder.name

    @property
    def report(self) -> Path:
        return self.folder / "report.html"

    @cached_property
    def curve(self) -> "pd.DataFrame":
        """A row per point of every curve."""
        return self._frame("curve")

    @cached_property
    def summary(self) -> "pd.DataFrame":
        """A row per run."""
        return self._frame("summary")

    def figure(self, x: str = "iteration", y: str = "gap", **look: Any) -> Figure:
        """As `pame_testbed.figure` of this alone."""
        return figure(self, x=x, y=y, **look)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.folder)!r})"

    def _repr_html_(self) -> str:
        """The report, in a frame of its own."""
        if not self.report.is_file():
            return f"<p>{escape(repr(self))} has no report yet</p>"
        page = escape(self.report.read_text(encoding="utf-8"), quote=True)
        look = f"width:100%;height:{_REPORT_PIXELS}px;border:1px solid #ccc;border-radius:6px;background:#fff"
        return f'<iframe title="report of {escape(self.name)}" style="{look}" srcdoc="{page}"></iframe>'

    def _frame(self, table: str) -> "pd.DataFrame":
        return frame_of(tables_in(self.folder)[table]())


class _RunTables(Results):
    @cached_property
    def records(self) -> "pd.DataFrame":
        """A row per node and iteration."""
        return self._frame("records")

    @cached_property
    def links(self) -> "pd.DataFrame":
        """A row per directed link."""
        return self._frame("links")

    @cached_property
    def events(self) -> "pd.DataFrame":
        """What happened to nodes and links, in order."""
        return self._frame("events")

    @cached_property
    def faults(self) -> "pd.DataFrame":
        """A row per window of the plan of faults."""
        return self._frame("faults")


class Run(_RunTables):
    """One run."""

    @cached_property
    def told(self) -> RunSummary:
        """summary.json, typed."""
        return summary_of(self.folder)

    @property
    def status(self) -> str:
        """`finished`, `diverged`, `interrupted`, `failed`; `running` or `broken off` without a summary."""
        return self.told.status

    @property
    def health(self) -> str:
        """`sound`, `degraded` or `broken`; empty: nobody knows."""
        return self.told.health_word

    @property
    def reason(self) -> str:
        """Why it ended."""
        return self.told.reason

    @property
    def f_star(self) -> float | None:
        """The optimum; None: nobody knows it."""
        return self.told.least

    @property
    def experiment(self) -> str:
        """The resolved experiment file: `run(other.experiment)` runs it again."""
        return read_run(self.folder).experiment or ""


class SweepRuns(_RunTables):
    """A sweep: the tables of its runs below each other, what was swept as columns."""

    @cached_property
    def runs(self) -> list[Run]:
        return [Run(path) for path, _ in members(self.folder)]


class ComparisonRuns(Results):
    """A comparison, a study, the claims: rows are kept of every run; `curve` has a row per point of each."""

    @cached_property
    def tuning(self) -> "pd.DataFrame":
        """The same of the runs that chose settings."""
        return self._frame("tuning")


def load(folder: str | Path = "last", out: str | Path = "runs") -> Run | SweepRuns | ComparisonRuns:
    """What a folder holds: a path, a name below `out`, or `last`."""
    return results_in(find_run(str(folder), Path(out), time.time()))


def results_in(folder: Path) -> Run | SweepRuns | ComparisonRuns:
    if is_sweep(folder):
        return SweepRuns(folder)
    if is_campaign(folder):
        return ComparisonRuns(folder)
    summary_of(folder)  # or an error, now and not at the first look
    return Run(folder)
