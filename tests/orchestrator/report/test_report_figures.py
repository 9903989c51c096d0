"""Every chart is drawn by the real Vega-Lite, and its data are compared with values worked out by hand."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
import vl_convert

from orchestrator.number_words import duration, number, percent, volume
from orchestrator.report import progress, traffic
from orchestrator.report.chart import Chart
from orchestrator.report.coverage import coverage, steady_coverage
from orchestrator.report.fault_shading import FaultShading
from orchestrator.report.page import packed
from orchestrator.report.sweep import read_sweep
from orchestrator.report.sweep_charts import outcome_charts, overlaid_curves
from orchestrator.report.theme import chart_themes
from orchestrator.report.vega import Row, binned, suits_log
from orchestrator.results.read import read_run
from orchestrator.results.summary import MessageCounts
from orchestrator.results.tables import read_records
from tests.orchestrator.report.builders import HEADER, MakeRun, write_records


def run_figures(folder: Path) -> list[Chart]:
    run = read_run(folder)
    figures: list[Chart | None] = [*progress.curves(run, FaultShading()), *coverage(run, FaultShading())]
    figures += [traffic.volume_by_kind(run.summary), traffic.bits_per_message(run.summary)]
    if run.links is not None:
        figures += [traffic.volume_by_link(run.links), traffic.participation(run.links, 0)]
    if run.records is not None:
        figures.append(traffic.waiting(run.records, None))
    return [figure for figure in figures if figure is not None]


def has_shapes(svg: str) -> bool:
    """Whether any line has a second point, or any bar a width."""
    marks = "".join(re.findall(r'class="mark-(?:rect|line) role-mark.*?</g>', svg, re.DOTALL))
    outlines = re.findall(r' d="([^"]*)"', marks)
    return any("L" in outline or re.search(r"h[1-9]|[AC]", outline) for outline in outlines)


def draw_all(figures: Iterable[Chart]) -> None:
    for figure in figures:
        for key, spec in figure.specs.items():
            names = {part["data"]["name"] for part in (spec, *spec.get("layer", ())) if "data" in part}
            whole = {**spec, "width": 320, "height": 200, "datasets": {name: list(figure.data[name]) for name in names}}
            svg = vl_convert.vegalite_to_svg(whole, config=chart_themes(4)["dark"])
            assert has_shapes(svg), (figure.id, key)
            assert "NaN" not in svg, (figure.id, key)


@pytest.mark.parametrize("changes", [{}, {"nodes": 140, "iterations": 20}, {"clock": False, "optimum": None}])
def test_every_chart_of_a_run_is_valid_and_draws_something(run_folder: MakeRun, changes: dict[str, int]) -> None:
    draw_all(run_figures(run_folder(**changes)))


def test_every_chart_of_a_sweep_is_valid_and_draws_something(sweep_folder: Path) -> None:
    sweep = read_sweep(sweep_folder)
    figures = [*overlaid_curves(sweep), *outcome_charts(sweep)]
    assert [figure.id for figure in figures] == ["objective", "consensus", "metric", "outcome-0"]
    draw_all(figures)


def test_every_chart_of_a_sweep_of_words_is_valid_and_draws_something(words_folder: Path) -> None:
    sweep = read_sweep(words_folder)
    spec = outcome_charts(sweep)[0].specs["gap"]
    assert spec["encoding"]["x"]["scale"] == {"domain": ["0", "1", "2", "all"]}
    draw_all(overlaid_curves(sweep))


def test_the_curve_over_seconds_uses_the_points_by_time(run_folder: MakeRun) -> None:
    objective = progress.curves(read_run(run_folder()), FaultShading())[0]
    assert objective.specs["seconds|f"]["data"] == {"name": "by-time"}
    assert objective.specs["iteration|gap"]["data"] == {"name": "by-iteration"}
    assert objective.specs["bytes|f"]["data"] == {"name": "by-iteration"}


def test_a_long_curve_is_thinned_but_keeps_its_ends(run_folder: MakeRun) -> None:
    rows = progress.curves(read_run(run_folder(iterations=2500, nodes=5)), FaultShading())[0].data["by-iteration"]
    assert len(rows) == 1000
    assert (rows[0]["iteration"], rows[-1]["iteration"]) == (0, 2500)


def test_a_log_axis_leaves_out_exact_zeros_of_the_consensus_distance(run_folder: MakeRun) -> None:
    consensus = progress.curves(read_run(run_folder()), FaultShading())[1]
    assert consensus.specs["iteration"]["encoding"]["y"]["scale"]["type"] == "log"
    assert consensus.data["by-iteration"][0]["c"] is None
    assert consensus.data["by-iteration"][1]["c"] is not None


def test_lost_bytes_are_shown_apart_and_late_ones_as_part_of_the_total(run_folder: MakeRun) -> None:
    summary = read_run(run_folder()).summary
    figure = traffic.volume_by_kind(summary)
    assert figure is not None
    assert "Late messages are part of the total" in figure.note
    assert "Lost messages were dropped before sending, so they are not part of it" in figure.note
    rows = {row["kind"]: row for row in figure.data["kinds"]}
    assert [rows[kind]["role"] for kind in ("Values", "Late", "Lost")] == ["sent", "of these, late", "not sent"]
    assert ("%" in rows["Late"]["label"], "%" in rows["Lost"]["label"]) == (True, False)
    carried = sum(row["y"] for row in rows.values() if row["role"] == "sent")
    assert volume(carried * 1024) == volume(summary.bytes.total)


def set_coverage(folder: Path, cells: list[str]) -> None:
    write_records(folder, *(f"0,{k},,,1,1,{cell},0,0,1,90" for k, cell in enumerate(cells)))


def test_equal_coverage_in_every_round_is_said_and_not_drawn(run_folder: MakeRun) -> None:
    folder = run_folder(iterations=5)
    set_coverage(folder, ["0.4", "0.39999999999999997", "0.40000003"])
    run = read_run(folder)
    assert coverage(run, FaultShading()) == []
    assert steady_coverage(run) == "Every round had coverage 0.4."  # some messages of this run were late
    for fate, missing in (("", ": no message was missing"), ("late", ""), ("lost", ""), ("starved", "")):
        messages = MessageCounts(**{"late": 0, "evicted": 0, "lost": 0, "starved": 0, **({fate: 1} if fate else {})})
        found = steady_coverage(replace(run, summary=replace(run.summary, messages=messages)))
        assert found == f"Every round had coverage 0.4{missing}."


def test_coverage_that_varies_is_drawn_as_a_distribution(run_folder: MakeRun) -> None:
    folder = run_folder(iterations=5)
    set_coverage(folder, ["0.4", "0.4", "0.401"])
    run = read_run(folder)
    assert [figure.id for figure in coverage(run, FaultShading())] == ["coverage", "coverage-spread"]
    assert steady_coverage(run) == ""


def test_small_networks_have_a_matrix_of_links_and_large_ones_a_distribution(run_folder: MakeRun) -> None:
    def rows(nodes: int) -> list[dict[str, float]]:
        links = read_run(run_folder(nodes=nodes, iterations=2)).links
        assert links is not None
        return [dict(row) for row in traffic.volume_by_link(links).data["links"]]

    assert {"sender", "receiver", "value"} <= rows(64)[0].keys()
    assert set(rows(65)[0]) == {"lo", "hi", "count"}


def test_participation_is_the_share_of_averaged_messages_by_sender(tmp_path: Path) -> None:
    header = "sender,receiver,messages,bytes,aggregated,late,lost\n"
    (tmp_path / "links.csv").write_text(header + "0,1,9,900,6,0,0\n1,0,9,900,1,0,0\n0,2,9,900,3,0,0\n")
    (tmp_path / "summary.json").write_text("{}")
    links = read_run(tmp_path).links
    assert links is not None
    figure = traffic.participation(links, 4)
    assert figure is not None
    assert [row["y"] for row in figure.data["participation"]] == [90.0, 10.0, 0.0, 0.0]
    assert "uniform share, 25 %" in figure.note


def test_records_are_added_up_per_node_over_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestrator.results.tables.BLOCK_ROWS", 2)
    path = tmp_path / "records.csv"
    path.write_text(
        f"{HEADER}0,0,0.1,0.5,2,2,0.4,0,1,2,90\n0,1,0.2,,,,,,,,\n2,0,0.1,1.5,2,0,0.0,1,0,2,90\n0,2,0.3,2.0,2,1,0.2,False,1,2,90\n2,1,0"
    )
    records = read_records(path)
    assert records is not None
    assert records.rows == 4
    assert records.waited_s.tolist() == [2.5, 0.0, 1.5]
    assert records.longest_wait_s.tolist() == [2.0, 0.0, 1.5]
    assert records.waits.tolist() == [2, 0, 1]
    assert records.starved.tolist() == [0.0, 0.0, 1.0]
    assert records.late.tolist() == [2.0, 0.0, 0.0]
    assert records.coverage.round(3).tolist() == pytest.approx([0.4, 0.0, 0.2])


def test_a_histogram_counts_every_value_once() -> None:
    rows = binned([0.0, 1.0, 1.0, 2.0], bins=2)
    assert [(row["lo"], row["hi"], row["count"]) for row in rows] == [(0.0, 1.0, 1), (1.0, 2.0, 3)]


def test_values_that_differ_only_by_rounding_share_one_interval() -> None:
    assert [row["count"] for row in binned([0.1 + 0.2, 0.3, 0.3])] == [3]
    assert [row["count"] for row in binned([0.0, 0.0])] == [2]


def test_rows_are_packed_as_columns_and_words_as_places() -> None:
    rows: list[Row] = [{"x": 1, "group": "a"}, {"x": 2, "group": "b"}, {"x": None, "group": "a"}]
    columns = {"x": [1, 2, None], "group": {"words": ["a", "b"], "places": [0, 1, 0]}}
    assert packed(rows) == {"rows": 3, "columns": columns}


def test_a_log_axis_needs_positive_values_more_than_a_factor_of_two_apart() -> None:
    assert suits_log([0.1, 0.3])
    assert not suits_log([0.0, 1.0])
    assert not suits_log([1.0, 1.9])
    assert not suits_log([])


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (number(0.000123456), "0.0001235"),
        (number(1.23456e-9), "1.235e-9"),
        (number(12345.678), "12\u202f346"),
        (number(4800), "4\u202f800"),
        (number(None), "not measured"),
        (volume(1023), "1\u202f023 B"),
        (volume(1536), "1.5 KiB"),
        (volume(5 * 1024**3), "5 GiB"),
        (duration(0.01234), "12.34 ms"),
        (duration(12.3456), "12.35 s"),
        (duration(125), "2 min 5 s"),
        (duration(7384), "2 h 3 min"),
        (percent(0.21563), "21.6 %"),
    ],
)
def test_numbers_are_written_for_people(shown: str, words: str) -> None:
    assert shown == words
