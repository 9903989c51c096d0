"""Claims that rest on a comparison and on a study, through the real thing: small files where the large ones are."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from orchestrator.campaigns.claims import CLAIMS, ClaimsMode
from orchestrator.campaigns.claims.campaign import ClaimsCampaign
from orchestrator.campaigns.conduct import conduct
from orchestrator.results.campaign_record import CampaignRecord
from tests.command import lines_of
from tests.orchestrator.campaigns.builders import Watcher

pytestmark = [pytest.mark.edge, pytest.mark.timeout(300)]  # processes start slowly on a busy machine

COMPARISON = """
name: small
base:
  nodes: 5
  topology: {kind: complete}
  problem: {kind: logistic, n: 10, samples: 20, test_samples: 20}
  stop: {iterations: 10}
algorithms:
  pame:
    algorithm: {kind: pame, participation: 0.5, support: 0.2, step: {kind: fixed, gamma: 1.0}}
    period: 2
    tune: {algorithm.step.eta: [0.5, 2.0]}
  dpsgd: {algorithm: {kind: dpsgd}, period: 1, tune: {algorithm.eta: [0.5, 2.0]}}
standardized: {period: 2, participation: 50%}
tuning: {seed: 100, runs: 2, iterations: 50}
seeds: [7]
targets: {suboptimality: [0.5, 0.2]}
"""
STUDY = """
nodes: 6
topology: {kind: complete}
problem: {kind: linear, n: 10, samples: 20, truth_shift: 0.3, test_samples: 10}
algorithm: {kind: pame, participation: 0.5, support: 0.5, step: {kind: fixed, eta: 0.05, gamma: 1.0}}
period: 2
compute: {step: 20ms}
links: {delay: 5ms}
evaluate: {every: 5}
stop: {iterations: 100, seconds: 4s}
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder with experiments of one's own, theirs are taken."""
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "compare-logistic.yaml").write_text(COMPARISON)
    (tmp_path / "experiments" / "study-stragglers.yaml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("files")
def test_a_comparison_and_a_study_run_once_and_all_claims_on_them_are_judged(tmp_path: Path) -> None:
    claims = tuple(CLAIMS[key] for key in ("fewest-rounds", "half-volume", "stragglers"))
    campaign, watcher, folder = ClaimsCampaign(claims, ClaimsMode.QUICK, 1), Watcher(), tmp_path / "out"
    folder.mkdir()
    outcome = conduct(campaign, CampaignRecord("claims", "pame claims"), folder, watcher)
    assert outcome.trouble is None
    # two algorithms in two views: two tuning runs each, and one seed; PaME as printed: one, and one; then the settings
    # that were chosen to their end, and more where the best was at an edge. The study: five steps
    # for each of two, at most three more where the best is at an edge; then seven policies, with and without
    least = 12 + 2
    assert campaign.count_runs() == least + 10 + 14
    runs = Counter(run.labels["claim"] for run in watcher.runs)
    assert runs["comparison"] >= least
    assert 10 + 14 <= runs["stragglers"] <= 10 + 6 + 14
    rows = lines_of(folder / "rows.jsonl")
    studied = [row for row in rows if row["labels"]["claim"] == "stragglers"]
    assert len(studied) == runs["stragglers"]
    assert {row["seed"] for row in studied if row["stage"] == "tuning"}.isdisjoint(campaign.seeds_of(claims[-1]))
    final = [(row["labels"]["policy"], row["labels"]["condition"]) for row in studied if row["stage"] == "claims"]
    assert len(set(final)) == len(final) == 14
    assert (folder / "comparison" / "report.html").is_file()

    rounds = rounds_to_targets(rows)
    by_key = {claim["key"]: claim for claim in json.loads((folder / "claims.json").read_text())["claims"]}
    found = {(f["reading"], f["place"]): f["effect"] for f in by_key["fewest-rounds"]["findings"]}
    assert found == {
        (reading, f"{view}, to suboptimality {target}, against dpsgd"): pytest.approx(
            rounds[view, name, target] / rounds[view, "dpsgd", target]
        )
        for reading, name, view in (
            ("tuned", "pame", "as-published"),
            ("tuned", "pame", "standardized (shared, active, one period)"),
            ("as printed", "pame-as-printed", "as-published"),
        )
        for target in (0.5, 0.2)
    }
    assert len(by_key["half-volume"]["findings"]) == 6
    assert {claim["seeds"][0] for claim in by_key.values()} == {1}
    assert {claim["verdict"] for claim in by_key.values()} == {"a look"}, "one seed is never a verdict"
    where = {finding["place"] for finding in by_key["stragglers"]["findings"]}
    assert where == {"30 % of the nodes 10 times slower"}
    page = (folder / "report.html").read_text()
    assert "Chosen eta of dpsgd" in page
    assert all(claim.statement in page for claim in claims)


def rounds_to_targets(rows: list[dict[str, Any]]) -> dict[tuple[str, str, float], float]:
    """By view, algorithm and target, straight from the lines: the first point at or below it."""
    return {
        (row["labels"]["view"], row["labels"]["algorithm"], target): next(
            point["rounds"] for point in row["curve"] if left(point, row["figures"]) <= target
        )
        for row in rows
        if row["stage"] == "comparison"
        for target in (0.5, 0.2)
    }


def left(point: dict[str, Any], figures: dict[str, Any]) -> float:
    """Of the nodes' own models."""
    way: float = figures["start"] - figures["best"]
    return float((point["metrics"]["nodes_objective"] - figures["best"]) / way)
