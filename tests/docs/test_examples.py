"""The examples of docs/extending.md work: each is loaded from outside and run as a user would."""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.command import call, lines_of, mistake, only_run, told

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
SMALL = ("--set", "nodes=6", "--set", "stop.iterations=60", "--set", "links=null")
PROBLEM = ("--set", "problem={kind: linear, n: 20, samples: 30, test_samples: 20}")


def run(tmp_path: Path, example: str, backend: str, *settings: str) -> dict[str, Any]:
    words = ("--plugin", EXAMPLES / example, "run", "-q", "--backend", backend, *SMALL, *settings)
    return summary_of(tmp_path, told(call(tmp_path, *words)))


def summary_of(folder: Path, said: str) -> dict[str, Any]:
    """Of the run folder that the command names."""
    summary: dict[str, Any] = json.loads((folder / said.strip() / "summary.json").read_text())
    return summary


def ended(summary: dict[str, Any]) -> Any:
    """f at the mean model, whose last digit depends on the order in which models are added up."""
    return pytest.approx(summary["final"]["objective"], rel=1e-12)


def test_an_algorithm_ends_alike_in_the_simulator_and_on_real_processes(tmp_path: Path) -> None:
    setting = "algorithm={kind: median-gossip, eta: 0.05}"
    simulated, real = (
        run(tmp_path, "median_gossip.py", backend, *PROBLEM, "--set", setting, "--set", "compute=null")
        for backend in ("simulate", "local")
    )
    assert real["exact"]
    assert real["final"]["objective"] == ended(simulated)


def test_a_problem_is_solved_and_judged_by_its_own_metric(tmp_path: Path) -> None:
    summary = run(
        tmp_path, "meeting_point.py", "local", "--set", "problem={kind: meeting-point, n: 10}",
        "--set", "algorithm={kind: dpsgd, eta: 0.1}", "--set", "period=1",
    )  # fmt: skip
    assert summary["metric"] == "distance"
    assert summary["final"]["metrics"]["distance"] < 0.1


def test_a_topology_is_drawn_and_run_and_its_mistakes_are_one_line(tmp_path: Path) -> None:
    plugin = ("--plugin", EXAMPLES / "wheel.py")
    shown = call(tmp_path, *plugin, "topology", "--set", "nodes=8", "--set", "topology={kind: wheel, spoke: 2}")
    assert re.search(r"edges +11\b", shown.stdout), shown.stdout + shown.stderr
    run(tmp_path, "wheel.py", "local", *PROBLEM, "--set", "topology={kind: wheel}")
    line = mistake(call(tmp_path, *plugin, "topology", "--set", "nodes=3", "--set", "topology={kind: wheel}"))
    assert line.strip() == "error: topology: a wheel of 3 nodes has no rim; use at least 4 nodes"


def test_a_fault_strikes_as_planned_and_stays_exact(tmp_path: Path) -> None:
    dark = "faults=[{kind: blackout, nodes: [0], at: {iteration: 20}, for: {iterations: 30}}]"
    simulated, real = (
        run(tmp_path, "blackout.py", backend, *PROBLEM, "--set", dark, "--set", "compute=null")
        for backend in ("simulate", "local")
    )
    assert simulated["messages"]["lost"] == real["messages"]["lost"] > 0
    assert real["final"]["objective"] == ended(simulated)


def test_the_environment_names_plugins_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "wheel.yaml"
    file.write_text("nodes: 8\ntopology: {kind: wheel}\n")
    assert call(tmp_path, "validate", file).returncode == 2
    monkeypatch.setenv("PAME_PLUGINS", str(EXAMPLES / "wheel.py"))
    told(call(tmp_path, "validate", file))


def test_an_installed_package_offers_a_plugin_by_its_entry_point_also_to_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    facts = site / "median_gossip-1.0.dist-info"
    facts.mkdir(parents=True)
    shutil.copy(EXAMPLES / "median_gossip.py", site)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: median-gossip\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[pame.plugins]\nmedian = median_gossip\n")
    words = ("run", "-q", *SMALL, *PROBLEM, "--set", "algorithm={kind: median-gossip}")
    assert call(tmp_path, *words).returncode == 2
    monkeypatch.setenv("PYTHONPATH", str(site), prepend=os.pathsep)
    assert summary_of(tmp_path, told(call(tmp_path, *words)))["exact"]


def test_a_plugin_is_compared_like_any_other(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "name: mine\n"
        "base: {nodes: 6, problem: {kind: linear, n: 20, samples: 30}, stop: {iterations: 40}}\n"
        "algorithms:\n"
        "  median: {algorithm: {kind: median-gossip}, period: 1, tune: {algorithm.eta: [0.05, 0.1]}}\n"
        "  dpsgd: {algorithm: {kind: dpsgd}, period: 1, tune: {algorithm.eta: [0.05, 0.1]}}\n"
        "seeds: [1]\n"
    )
    shown = told(call(tmp_path, "--plugin", EXAMPLES / "median_gossip.py", "compare", file))
    rows = lines_of(only_run(tmp_path) / "rows.jsonl")
    ended = [row for row in rows if row["stage"] == "comparison" and row["status"] == "finished"]
    assert {(row["labels"]["algorithm"], row["labels"]["view"].partition(" ")[0]) for row in ended} == {
        ("median", "as-published"), ("dpsgd", "as-published"), ("dpsgd", "standardized"),
    }  # fmt: skip
    assert "median cannot be standardized, and is left out: it has no participation and no draw" in shown


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("import nothing_of_this_name", "cannot be loaded: ModuleNotFoundError"),
        ("def f(:", "cannot be loaded: SyntaxError"),
        ("ALGORITHMS = [3]", "ALGORITHMS lists 3, which is no class with a `kind`"),
        ("class A:\n    kind = 'pame'\nALGORITHMS = [A]", "the kind 'pame' is taken: give it another name"),
    ],
)
def test_a_plugin_that_is_none_is_told_in_one_line(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    assert complaint in mistake(call(tmp_path, "--plugin", file, "validate"))


def test_a_plugin_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "is no Python file" in mistake(call(tmp_path, "--plugin", "none.py", "validate"))
