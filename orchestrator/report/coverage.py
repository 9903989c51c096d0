"""Coverage: how many of the received messages carry a coordinate, over iterations and as a distribution."""

import numpy as np

from orchestrator.number_words import number
from orchestrator.report.chart import Chart
from orchestrator.report.fault_shading import FaultShading
from orchestrator.report.progress import FEW_POINTS, thinned
from orchestrator.report.vega import Axis, Row, all_equal, binned, curve, histogram, short
from orchestrator.results.read import RunData
from orchestrator.results.tables import Records

COVERAGE_BINS = 200


def coverage(run: RunData, shades: FaultShading) -> list[Chart]:
    """Over iterations, with the middle 80 % of the nodes, and how it is distributed; without records, as the curve
    has it. Where it never changed there is nothing to draw."""
    records = run.records
    if records is None or records.coverage.size == 0:
        points = thinned([p for p in run.curve if p.by == "iteration" and p.coverage is not None])
        rows: list[Row] = [{"iteration": point.iteration, "y": short(point.coverage)} for point in points]
        return [_over_iterations(rows, shades, "Mean over nodes and coordinates.", band=False)] if rows else []
    if steady_coverage(run):
        return []
    note = (
        "How many received messages carry a coordinate, averaged over coordinates, at the rounds of all nodes; "
        "the band holds the middle 80 % of them."
    )
    over_iterations = _over_iterations(_coverage_rows(records), shades, note, band=True)
    mean = float(records.coverage.mean())
    spread = histogram("coverage-spread", "Mean λ per coordinate", "rounds", mean)
    return [
        over_iterations,
        Chart(
            "coverage-spread", "Distribution of coverage",
            f"Every round of every node: {number(records.coverage.size)} rounds. Dashed: the mean, {number(mean)}.",
            {"": spread}, {"coverage-spread": binned(records.coverage)},
        ),
    ]  # fmt: skip


def _over_iterations(rows: list[Row], shades: FaultShading, note: str, band: bool) -> Chart:
    shade = shades.on("iteration")
    behind = {name: spans for name, spans in shades.data().items() if shade is not None and name == shade.data}
    if shades.any:
        rows = [{**row, "faults": shades.at(row["iteration"], None, by_time=False)} for row in rows]
    y = Axis("y", "Mean λ per coordinate", zero=band)
    few = len(rows) <= FEW_POINTS
    spec = curve("coverage", Axis("iteration", "Iteration"), y, band=band, dots=few, shade=shade)
    return Chart("coverage", "Coverage over iterations", note, {"": spec}, {"coverage": rows} | behind)


def steady_coverage(run: RunData) -> str:
    """The sentence that replaces the charts when all rounds had the same coverage, else nothing."""
    records, met = run.records, run.summary.messages
    if records is None or records.coverage.size == 0 or not all_equal(records.coverage):
        return ""
    is_complete = (met.late, met.evicted, met.lost, met.starved) == (0, 0, 0, 0) and not (met.dropped or met.queued)
    reason = ": no message was missing" if is_complete else ""
    return f"Every round had coverage {number(float(records.coverage[0]))}{reason}."


def _coverage_rows(records: Records) -> list[Row]:
    iteration, value = records.coverage_iteration, records.coverage
    distinct = np.unique(iteration)
    edges = (
        distinct if distinct.size <= COVERAGE_BINS else np.linspace(distinct[0], distinct[-1], COVERAGE_BINS + 1)[:-1]
    )
    group = np.searchsorted(edges, iteration, side="right") - 1
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    rows: list[Row] = []
    for members in np.split(order, starts[1:]):
        lo, hi = np.quantile(value[members], [0.1, 0.9])
        found = {"iteration": iteration[members].mean(), "y": value[members].mean(), "lo": lo, "hi": hi}
        rows.append({field: short(float(figure)) for field, figure in found.items()})
    return rows
