"""Figures from Python: what `pame figure` draws, shown in a notebook and saved as PDF, SVG or PNG."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from orchestrator.exports.figure_series import curves_of, lines_of, shared_windows
from orchestrator.exports.paper_figure import FigureLook, PaperFigure, draw


class HasFolder(Protocol):
    @property
    def folder(self) -> Path: ...


@dataclass(frozen=True)
class Figure:
    drawn: PaperFigure

    def save(self, path: str | Path) -> Path:
        """In the format that the name ends in: .pdf, .svg or .png."""
        self.drawn.write(Path(path))
        return Path(path)

    def _repr_svg_(self) -> str:
        return self.drawn.svg()


def figure(
    *runs: HasFolder | str | Path,
    x: str = "iteration",
    y: str = "gap",
    labels: Sequence[str] = (),
    where: Mapping[str, Any] | None = None,
    faults: bool = True,
    **look: Any,
) -> Figure:
    """Curves of runs, sweeps and comparisons. Runs that differ in nothing but their seed are one line with its range.

    `where`: only runs with these settings, a value or a list of values for each; `look`: fields of `FigureLook`, such
    as width_mm, height_mm, font, font_size, palette and log.
    """
    folders = [Path(run) if isinstance(run, str | Path) else run.folder for run in runs]
    chosen = {key: [str(one) for one in _each(value)] for key, value in (where or {}).items()}
    curves = curves_of(folders, x, y, chosen)
    windows = shared_windows(curves) if faults else ()
    is_simulated = all(curve.is_simulated for curve in curves)
    return Figure(draw(lines_of(curves, labels), x, y, FigureLook(**look), windows, is_simulated))


def _each(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]
