"""`pame compare` as a user calls it."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.command import call, mistake, told
from tests.orchestrator.campaigns.command import interrupted, rows_of
from tests.orchestrator.campaigns.compare.builders import SMALL, small_file
from tests.orchestrator.cli.harness import Pame

pytestmark = pytest.mark.timeout(400)  # many small runs take their time on a busy machine

STANDARDIZED = "standardized (shared, active, one period)"


def test_algorithms_are_tuned_on_one_seed_and_compared_on_others(tmp_path: Path) -> None:
    shown = told(call(tmp_path, "compare", small_file(tmp_path)))
    [folder] = (tmp_path / "runs").iterdir()
    rows = rows_of(folder)
    tuning = [row for row in rows if row["stage"] == "tuning"]
    final = [row for row in rows if row["stage"] == "comparison"]
    assert {row["seed"] for row in tuning} == {100}
    settings = Counter((row["view"], row["algorithm"], *row["values"].values()) for row in tuning)
    counts = Counter(key[:2] for key in settings)
    compared = [(view, name) for view in ("as-published", STANDARDIZED) for name in ("pame", "dpsgd")]
    assert all(2 <= counts[key] <= 2 + 6 for key in compared), "two settings each, and some beyond the edges"
    assert counts["as-published", "pame-as-printed"] == 1
    compared.append(("as-published", "pame-as-printed"))
    assert sorted((row["view"], row["algorithm"], row["seed"]) for row in final) == sorted(
        (*key, seed) for key in compared for seed in (1, 2)
    )
    alone = [row for row in rows if row["stage"] == "baseline"]
    assert {(row["algorithm"], row["seed"]) for row in alone} == {
        (name, seed) for name in ("no communication", "one node with all data") for seed in (1, 2)
    }
    assert all(row["curve"][-1]["iteration"] == 60 for row in final), "all run equally long"
    assert all(row["curve"][-1]["seconds"] > 0 for row in final), "simulated"
    found = json.loads((folder / "compare.json").read_text())
    chosen = {(choice["view"], choice["algorithm"]): choice["values"] for choice in found["chosen"]}
    assert all(row["values"] == chosen[row["view"], row["algorithm"]] for row in final)
    results = {(r["view"], r["target"], r["algorithm"]): r for r in found["results"]}
    published = results["as-published", "0.3", "dpsgd"]
    assert published["rounds"]["median"] == published["iterations"]["median"], "a round at each iteration"
    shared = results[STANDARDIZED, "0.3", "dpsgd"]
    assert shared["rounds"]["median"] == pytest.approx(shared["iterations"]["median"] / 2, abs=0.5)
    assert "rounds to suboptimality" in (folder / "comparison.svg").read_text()
    assert "fewest to suboptimality 0.3: rounds a look" in shown
    assert {finding["who"] for finding in found["fewest"]} == {None}, "two seeds name no winner"
    assert all("a look" in finding["words"] for finding in found["fewest"] if finding["lowest_median"])
    assert f"report: {folder.relative_to(tmp_path)}/report.html" in shown


def test_on_local_processes_the_same_runs_are_measured_in_seconds(tmp_path: Path) -> None:
    shown = told(call(tmp_path, "compare", small_file(tmp_path), "--backend", "local", "--quick", "--quiet"))
    [line] = shown.splitlines()
    folder = tmp_path / line
    rows = [row for row in rows_of(folder) if row["stage"] in ("comparison", "real nodes")]
    by_backend: dict[str, dict[tuple[str, str], Any]] = {"simulate": {}, "local": {}}
    for row in rows:
        by_backend[row["backend"]][row["view"], row["algorithm"]] = row
    assert len(by_backend["local"]) == 5
    assert all(row["health"] for row in by_backend["local"].values())
    for key, measured in by_backend["local"].items():
        simulated = by_backend["simulate"][key]
        expected = [figures(point) for point in simulated["curve"] if point["iteration"] % 5 == 0]
        assert [figures(point) for point in measured["curve"]] == expected, "the same bits"
        assert measured["curve"][-1]["seconds"] > 0
    assert len(list((folder / "real").glob("*/summary.json"))) == 5
    result = json.loads((folder / "compare.json").read_text())["results"][0]
    bound = all(row["cpu_bound"] for row in by_backend["local"].values())  # they say nothing about time
    assert result["seconds"] is None if bound else result["seconds"] != result["simulated_seconds"]


def figures(point: dict[str, Any]) -> list[float]:
    metrics = point["metrics"]
    return [
        *(point[name] for name in ("iteration", "rounds", "bytes", "objective")),
        *(metrics[name] for name in ("nodes_objective", "worst_objective")),
    ]


def test_quick_seeds_and_settings_of_the_base_can_be_chosen(tmp_path: Path) -> None:
    arguments = ("--quick", "--seeds", 3, "--set", "nodes=4", "--set", "stop.iterations=10", "--out", "here")
    shown = told(call(tmp_path, "compare", small_file(tmp_path), *arguments, "-q"))
    folder = tmp_path / shown.strip()
    assert folder.parent == tmp_path / "here"
    assert {row["seed"] for row in rows_of(folder) if row["stage"] == "comparison"} == {1, 2, 3}
    found = json.loads((folder / "compare.json").read_text())
    assert found["nodes"] == 4
    words = "--backend simulate --seeds 3 --quick --set nodes=4 --set stop.iterations=10"
    assert found["command"].endswith(words)


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        (SMALL, ("--backend", "moon"), "a comparison runs on simulate, local or netns, not on 'moon'"),
        (SMALL, ("--set", "seed=3"), "--set seed: give seeds and tuning.seed instead"),
        (SMALL.replace("0.3, 1.0]}", "0.3, -1]}"), (), "dpsgd.algorithm.eta: got -1, expected a number above 0"),
        ("nodes: 3\n", (), "is no comparison file"),
    ],
)
def test_a_mistake_is_answered_before_anything_runs(
    tmp_path: Path, pame: Pame, text: str, arguments: tuple[str, ...], words: str
) -> None:
    assert words in mistake(pame("compare", small_file(tmp_path, text), *arguments))
    assert not (tmp_path / "runs").exists()


def test_interrupted_it_ends_with_a_report_of_what_there_is(tmp_path: Path) -> None:
    path = small_file(tmp_path, SMALL.replace("iterations: 60", "iterations: 600"))
    page = interrupted(tmp_path, "compare", path, "--seeds", 50)
    assert "This comparison is not complete: interrupted" in page
