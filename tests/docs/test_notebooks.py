"""The notebooks of docs/notebooks run from their first cell to their last, in a kernel as users have it."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "docs" / "notebooks"
PATIENCE_S = 500

pytestmark = pytest.mark.edge


def executed(name: str, folder: Path) -> list[Any]:
    """Its cells with code, executed in an empty folder."""
    notebook: Any = nbformat.read(NOTEBOOKS / name, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(
        notebook, timeout=PATIENCE_S, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(cell: Any, kind: str) -> list[str]:
    return [output.data[kind] for output in cell.outputs if kind in output.get("data", {})]


def cell_with(cells: list[Any], text: str) -> Any:
    return next(cell for cell in cells if text in cell.source)


@pytest.mark.timeout(600)
def test_the_notebook_of_one_run_shows_a_chart_as_it_goes_a_figure_and_the_report(tmp_path: Path) -> None:
    cells = executed("one_run.ipynb", tmp_path)
    live = shown(cell_with(cells, "pt.run("), "text/html")
    assert "<progress" in live[0]
    assert "<svg" in live[0]
    assert "/260 iterations: f " in live[0]
    assert "simulated time (s)" in live[0]
    [figure] = shown(cell_with(cells, 'y="consensus", width_mm'), "image/svg+xml")
    assert "partition" in figure
    [report] = shown(next(cell for cell in cells if cell.source == "run"), "text/html")
    assert report.startswith("<iframe")
    assert (tmp_path / "gap.pdf").read_bytes().startswith(b"%PDF")
    [stopped] = shown(cells[-1], "text/plain")
    assert stopped.startswith("('interrupted', ")


@pytest.mark.timeout(600)
def test_the_notebook_of_many_runs_ends_with_a_comparison(tmp_path: Path) -> None:
    cells = executed("many_runs.ipynb", tmp_path)
    assert "runs" in shown(cell_with(cells, "pt.sweep("), "text/html")[0]
    [reached] = shown(cell_with(cells, "reached ="), "text/plain")
    assert "pame" in reached
    assert "dpsgd" in reached
    assert all("<svg" in shown(cell, "image/svg+xml")[0] for cell in cells if ".figure(" in cell.source)


def test_notebooks_are_kept_without_what_they_printed() -> None:
    found = list(NOTEBOOKS.glob("*.ipynb"))
    assert len(found) == 2
    for path in found:
        notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
        assert all(not cell.outputs and cell.execution_count is None for cell in notebook.cells if "outputs" in cell)
