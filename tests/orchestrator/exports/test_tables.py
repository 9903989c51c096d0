"""The tables of a run, a sweep and a comparison say what the files of their folders say, read by other means."""

import csv
import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orchestrator.exports.campaign_tables import ends_table, points_table, sweep_table
from orchestrator.exports.column_table import ColumnTable, column, plain, stacked, table_of
from orchestrator.exports.run_tables import (
    curve_table,
    events_table,
    faults_table,
    links_table,
    records_table,
    summary_table,
)
from orchestrator.results.files import ReportError

pytestmark = pytest.mark.edge


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def values(table: ColumnTable, name: str) -> list[Any]:
    return [plain(value) for value in table.columns[name]]


def row(table: ColumnTable, place: int = 0) -> dict[str, Any]:
    return {name: plain(column[place]) for name, column in table.columns.items()}


def test_the_curve_has_every_point_with_the_optimum_the_gap_and_the_metrics(run: Path) -> None:
    points, summary = lines(run / "curve.jsonl"), json.loads((run / "summary.json").read_text())
    table = curve_table(run)
    least = summary["optimum"]["objective"]
    assert len(table) == len(points) > 20
    for place, point in enumerate(points):
        found = row(table, place)
        assert {name: found[name] for name in ("by", "iteration", "seconds", "bytes", "objective", "consensus")} == {
            name: point[name] for name in ("by", "iteration", "seconds", "bytes", "objective", "consensus")
        }
        assert found["f_star"] == least
        assert found["gap"] == point["objective"] - least
        assert found["test_mse"] == point["metrics"]["test_mse"]
        assert found["nodes_gap"] == point["own"]["objective"] - least
        assert found["highest_test_mse"] == point["own"]["highest"]["test_mse"]


def test_every_table_of_a_run_begins_with_the_labels_of_the_run(run: Path) -> None:
    labels = {"run": run.name, "algorithm": "pame", "backend": "simulate", "nodes": 6, "seed": 1}
    for table in (curve_table(run), records_table(run), links_table(run), faults_table(run), summary_table(run)):
        assert list(row(table).items())[:5] == list(labels.items())


def test_records_and_links_have_the_cells_of_their_files(run: Path) -> None:
    for name, table in (("records.csv", records_table(run)), ("links.csv", links_table(run))):
        told = list(csv.DictReader((run / name).read_text().splitlines()))
        assert len(table) == len(told) > 0
        for heading in told[0]:
            cells = [None if each[heading] == "" else float(each[heading]) for each in told]
            assert values(table, heading) == cells
    assert records_table(run).columns["bytes"].dtype == np.int64
    assert records_table(run).columns["bytes"].sum() == links_table(run).columns["bytes"].sum()


def test_the_window_of_a_fault_is_a_row_in_its_own_unit(run: Path) -> None:
    table = faults_table(run)
    [found] = [row(table, place) for place in range(len(table))]
    assert (found["fault"], found["begin"], found["end"], found["unit"]) == ("partition", 20, 30, "iterations")
    assert found["happened"] is True


def test_the_summary_is_one_row_with_the_keys_of_its_file_joined_by_dots(run: Path) -> None:
    told, found = json.loads((run / "summary.json").read_text()), row(summary_table(run))
    assert found["final.objective"] == told["final"]["objective"]
    assert found["bytes.total"] == told["bytes"]["total"]
    assert found["health.state"] == told["health"]["state"] == "sound"
    assert found["gap"] == told["final"]["objective"] - told["optimum"]["objective"]


def test_events_keep_their_other_keys_as_columns_and_lists_as_json(run: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(run, tmp_path / "run"))
    told = [{"seconds": 1.5, "what": "died", "node": 3}, {"seconds": 2, "what": "back", "node": 3, "links": [[0, 1]]}]
    (folder / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in told))
    table = events_table(folder)
    assert values(table, "what") == ["died", "back"]
    assert values(table, "seconds") == [1.5, 2.0]
    assert values(table, "links") == [None, "[[0, 1]]"]


def test_a_run_that_broke_off_has_what_had_reached_the_disk(run: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(run, tmp_path / "run"))
    for name in ("summary.json", "links.csv"):
        (folder / name).unlink()
    text = (folder / "records.csv").read_text()
    (folder / "records.csv").write_text(text[: text.rindex(",")])
    table = curve_table(folder)
    assert len(table) == len(lines(run / "curve.jsonl"))
    assert row(table)["algorithm"] == "pame"
    assert values(table, "gap") == [None] * len(table)
    assert len(records_table(folder)) == len(records_table(run)) - 1
    assert len(links_table(folder)) == 0


def test_a_folder_without_a_run_is_told_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="holds no run: give a folder that a run or a sweep has left"):
        curve_table(tmp_path)


def test_the_runs_of_a_sweep_stand_below_each_other_with_what_was_swept(sweep: Path) -> None:
    table, index = sweep_table(sweep, "curve"), json.loads((sweep / "sweep.json").read_text())
    found = {
        (run, support, seed)
        for run, support, seed in zip(
            values(table, "run"), values(table, "algorithm.support"), values(table, "seed"), strict=True
        )
    }
    assert found == {
        (run["folder"], run["values"]["algorithm.support"], run["values"]["seed"]) for run in index["runs"]
    }
    assert len(table) == sum(len(lines(sweep / run["folder"] / "curve.jsonl")) for run in index["runs"])


def test_a_comparison_is_one_tidy_table_of_what_is_compared(comparison: Path) -> None:
    kept = [line for line in lines(comparison / "rows.jsonl") if not line["stage"].startswith("tuning")]
    table = points_table(comparison)
    told = [(line, point) for line in kept for point in line["curve"]]
    assert len(table) == len(told) > 30
    for place, (line, point) in enumerate(told):
        found, best = row(table, place), line["figures"]["best"]
        assert found["algorithm"] == line["labels"]["algorithm"]
        assert found["view"] == line["labels"]["view"]
        assert (found["seed"], found["rounds"], found["bytes"]) == (line["seed"], point["rounds"], point["bytes"])
        assert found["gap"] == point["objective"] - best
        left = (point["objective"] - best) / (line["figures"]["start"] - best)
        assert math.isclose(found["left"], left, rel_tol=1e-12)
        assert found["nodes_objective"] == point["metrics"]["nodes_objective"]
    assert {line["stage"] for line in kept} == set(values(table, "stage")) == {"baseline", "comparison"}


def test_the_ends_of_a_comparison_are_a_row_for_each_run_and_tuning_stands_apart(comparison: Path) -> None:
    kept = lines(comparison / "rows.jsonl")
    tuning = sum(line["stage"].startswith("tuning") for line in kept)
    assert len(ends_table(comparison)) == len(kept) - tuning
    assert len(ends_table(comparison, tuning=True)) == tuning > 0
    assert values(ends_table(comparison), "objective")[-1] == kept[-1]["curve"][-1]["objective"]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1, 2], "i"),
        ([1, None], "f"),
        ([1.5, 2], "f"),
        ([None, None], "f"),
        ([True, False], "b"),
        ([True, None], "O"),
        (["a", None], "O"),
        (["a", 1], "O"),
        ([2**70, 1], "f"),
    ],
)
def test_a_column_is_of_the_narrowest_kind_that_holds_its_cells(cells: list[Any], kind: str) -> None:
    assert column(cells).dtype.kind == kind
    assert [plain(value) for value in column(cells)] == cells


def test_tables_below_each_other_have_all_columns_and_miss_what_one_lacks() -> None:
    one, other = table_of([{"a": 1, "b": "x"}]), table_of([{"a": 2, "c": 0.5}, {"a": 3, "c": None}])
    both = stacked([one, other])
    assert {name: values(both, name) for name in both.columns} == {
        "a": [1, 2, 3],
        "b": ["x", None, None],
        "c": [None, 0.5, None],
    }
