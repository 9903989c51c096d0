"""Comparisons where nobody knows the optimum: targets of accuracy or of f itself, and no suboptimality anywhere."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.campaigns.compare import load_comparison
from orchestrator.campaigns.compare.campaign import CompareCampaign
from orchestrator.campaigns.compare.charts import curves
from orchestrator.campaigns.compare.file import Target
from orchestrator.campaigns.compare.grid import CompareView, views
from orchestrator.campaigns.compare.measure import CompareRow, to_target
from orchestrator.campaigns.compare.tune import Choice, has_diverged, score
from orchestrator.campaigns.compare.verdict import CompareOutcome
from orchestrator.campaigns.options import CampaignError
from tests.command import call, told
from tests.orchestrator.campaigns.command import rows_of
from tests.orchestrator.campaigns.compare.builders import NETWORK, comparison_of, learnt_mark, row, small_file
from tests.orchestrator.report.oracle import words_of


def learnt(*accuracies: float | None, status: str = "finished", objectives: tuple[float, ...] = ()) -> CompareRow:
    """A point every ten iterations; f falls by a tenth from one to the next, unless it is given."""
    fs = objectives or tuple(2.0 - place / 10 for place in range(len(accuracies)))
    known = enumerate(zip(accuracies, fs, strict=True))
    return row("dpsgd", [learnt_mark(10 * k, accuracy, float(k), f) for k, (accuracy, f) in known], status=status)


def test_targets_of_accuracy_and_of_f_begin_with_the_easiest(tmp_path: Path) -> None:
    by_accuracy = load_comparison(small_file(tmp_path, NETWORK)).targets
    assert by_accuracy == (Target("accuracy", 0.5), Target("accuracy", 0.8))
    by_f = comparison_of(tmp_path, ("suboptimality: [0.3, 0.1]", "objective: [0.3, 0.5]")).targets
    assert by_f == (Target("objective", 0.5), Target("objective", 0.3))


def test_the_standardized_view_can_be_left_out_and_what_is_printed_can_be_given(tmp_path: Path) -> None:
    comparison = load_comparison(small_file(tmp_path, NETWORK))
    assert views(comparison) == [CompareView.AS_PUBLISHED]
    assert list(comparison.entries) == ["pame", "pame-as-printed", "dpsgd"]
    assert comparison.printed == {"pame-as-printed"}
    assert comparison.entries["pame-as-printed"].algorithm["step"]["sigma0"] == 5.0


def test_a_target_is_reached_at_the_first_point_at_it_or_beyond() -> None:
    run = learnt(0.1, 0.6, 0.8, 0.7)
    assert to_target(run, Target("accuracy", 0.6)) == run.marks[1]
    assert to_target(run, Target("accuracy", 0.65)) == run.marks[2]
    assert to_target(run, Target("accuracy", 0.9)) is None
    assert to_target(run, Target("objective", 1.8)) == run.marks[2]
    assert to_target(run, Target("suboptimality", 0.5)) is None, "nobody knows the optimum"


def test_of_several_settings_the_one_with_most_targets_then_soonest_then_most_accurate_is_best() -> None:
    targets = (Target("accuracy", 0.5), Target("accuracy", 0.8))
    both, sooner, more = learnt(0.1, 0.5, 0.8), learnt(0.1, 0.8, 0.8), learnt(0.1, 0.8, 0.9)
    one, none, diverged = learnt(0.1, 0.6), learnt(0.1, 0.3), learnt(0.1, 0.9, 0.9, status="diverged")
    ranked = sorted([diverged, none, one, both, sooner, more], key=lambda run: score(run, targets))
    assert ranked == [more, sooner, both, one, none, diverged]


def test_without_an_optimum_who_ends_below_half_of_its_best_accuracy_has_diverged() -> None:
    assert not has_diverged(learnt(0.1, 0.8, 0.41, objectives=(2.0, 0.5, 9.0))), "f may rise while accuracy holds"
    assert has_diverged(learnt(0.1, 0.8, 0.39))
    assert not has_diverged(learnt(0.1, 0.09)), "nothing was learnt, and nothing lost"


def test_without_optimum_and_accuracy_who_ends_above_where_it_began_has_diverged() -> None:
    assert has_diverged(learnt(None, None, objectives=(2.0, 2.1)))
    assert not has_diverged(learnt(None, None, objectives=(2.0, 1.9)))


def outcome(folder: Path) -> CompareOutcome:
    comparison = replace(load_comparison(small_file(folder, NETWORK)), seeds=(1,))
    run = learnt(0.1, 0.5, 0.7)
    return CompareOutcome(comparison, 4, "simulate", "pame compare", {}, (), list[Choice](), [run])


def test_tables_and_charts_are_of_accuracy_and_of_f(tmp_path: Path) -> None:
    found = outcome(tmp_path)
    [goal] = [goal for goal in found.goals if goal.key == "0.5"]
    [line] = found.lines(CompareView.AS_PUBLISHED, goal)
    assert goal.words == "accuracy 0.5"
    assert line.there["left"] is None
    accuracies = [line.there[key] for key in ("accuracy", "accuracy_of_worst_node")]
    assert [found and found.median for found in accuracies] == pytest.approx([0.5, 0.48])
    keys = [chart.id for chart in curves(found)]
    assert keys == [f"{name}-as-published" for name in ("accuracy", "accuracy-mean", "accuracy-worst", "objective")], (
        "no suboptimality"
    )


@pytest.mark.usefixtures("stripes")
def test_suboptimality_is_refused_where_nobody_knows_the_optimum(tmp_path: Path) -> None:
    comparison = load_comparison(small_file(tmp_path, NETWORK.replace("accuracy: [0.8, 0.5]", "of: mean")))
    with pytest.raises(CampaignError, match=r"targets\.suboptimality: nobody knows the optimum of image"):
        CompareCampaign(comparison).check()


def test_accuracy_is_refused_where_there_is_none(tmp_path: Path) -> None:
    accuracy = ("suboptimality: [0.3, 0.1]", "accuracy: [0.8]")
    with pytest.raises(CampaignError, match="linear has no test accuracy: give targets"):
        CompareCampaign(comparison_of(tmp_path, ("kind: logistic", "kind: linear"), accuracy)).check()


@pytest.mark.edge
@pytest.mark.timeout(400)
@pytest.mark.usefixtures("stripes")
def test_networks_are_compared_by_accuracy_from_the_command_to_the_page(tmp_path: Path) -> None:
    shown = told(call(tmp_path, "compare", small_file(tmp_path, NETWORK)))
    [folder] = (tmp_path / "runs").iterdir()
    rows = rows_of(folder)
    assert all("best" not in row["figures"] for row in rows), "no optimum was looked for"
    assert all(point["metrics"]["nodes_test_accuracy"] >= 0 for row in rows for point in row["curve"])
    final = {row["algorithm"]: row for row in rows if row["stage"] in ("comparison", "baseline")}
    assert set(final) == {"pame", "pame-as-printed", "dpsgd", "no communication", "one node with all data"}
    assert [point["iteration"] for point in final["dpsgd"]["curve"]] == [0, 10, 20, 30, 40]
    assert final["dpsgd"]["curve"][-1]["seconds"] > 0, "under a clock, one curve is looked at"
    found = json.loads((folder / "compare.json").read_text())
    assert found["optima"] == {}
    ends = {end["algorithm"]: end for end in found["ends"]}
    for name, run in final.items():
        last = run["curve"][-1]["metrics"]
        assert ends[name]["accuracy_of_nodes"]["median"] == pytest.approx(last["nodes_test_accuracy"])
        assert ends[name]["accuracy_of_mean_model"]["median"] == pytest.approx(last["test_accuracy"])
        assert ends[name]["accuracy_of_worst_node"]["median"] == pytest.approx(last["lowest_test_accuracy"])
    took = {line["algorithm"]: line for line in found["results"] if line["target"] == "0.5"}
    assert took["dpsgd"]["iterations"]["median"] == first_at(final["dpsgd"], 0.5)
    assert took["dpsgd"]["left"] is None
    words = words_of(folder / "report.html")
    assert "At the end" in words
    assert "Accuracy there" in words
    assert "suboptimality there" not in words.lower()
    assert "f* is solved" not in words
    assert "rounds to accuracy" in (folder / "comparison.svg").read_text()
    assert "at the end" in shown
    tried = [row for row in rows if row["stage"] == "tuning" and row["algorithm"] == "dpsgd"]
    assert len(tried) == 3, "two steps, and the better one's line once more, though it ran once"
    assert tried[-1]["key"] in {row["key"] for row in tried[:-1]}


@pytest.mark.edge
@pytest.mark.timeout(400)
@pytest.mark.usefixtures("stripes")
def test_networks_tuned_in_the_simulator_are_compared_on_real_nodes(tmp_path: Path) -> None:
    told(call(tmp_path, "compare", small_file(tmp_path, NETWORK), "--backend", "local", "--quiet"))
    [folder] = (tmp_path / "runs").iterdir()
    rows = rows_of(folder)
    assert {row["backend"] for row in rows if row["stage"] == "tuning"} == {"simulate"}
    measured = {row["algorithm"]: row for row in rows if row["backend"] == "local"}
    assert set(measured) == {"pame", "pame-as-printed", "dpsgd"}
    for name, run in measured.items():
        assert [point["iteration"] for point in run["curve"]] == [0, 10, 20, 30, 40]
        start, *_, last = [point["metrics"] for point in run["curve"]]
        assert last["nodes_test_accuracy"] > start["nodes_test_accuracy"], name
        assert last["test_accuracy"] > start["test_accuracy"], name
        assert run["curve"][-1]["seconds"] > 0
    found = json.loads((folder / "compare.json").read_text())
    assert found["backend"] == "local"
    assert "Accuracy" in words_of(folder / "report.html")


def first_at(row: dict[str, Any], accuracy: float) -> int:
    """Straight from the lines."""
    curve: list[dict[str, Any]] = row["curve"]
    return next(int(point["iteration"]) for point in curve if point["metrics"]["nodes_test_accuracy"] >= accuracy)
