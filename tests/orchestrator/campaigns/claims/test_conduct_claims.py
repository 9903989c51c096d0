"""Claims that rest on a comparison and on a study, through the real thing: small files where the large ones are."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from orchestrator.campaigns.claims import CLAIMS, ClaimsMode
from orchestrator.campaigns.claims.conduct import ClaimsOrder, conduct_claims, count_runs
from orchestrator.campaigns.claims.verdict import ClaimJudgement

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


class Watcher:
    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()
        self.judgements: dict[str, ClaimJudgement] = {}

    def ran(self, claims: Sequence[str]) -> None:
        self.runs.update(claims)

    def judged(self, claim: str, judgement: ClaimJudgement) -> None:
        assert claim not in self.judgements
        self.judgements[claim] = judgement


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder with experiments of one's own, theirs are taken."""
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "compare-logistic.yaml").write_text(COMPARISON)
    (tmp_path / "experiments" / "study-stragglers.yaml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.usefixtures("files")
def test_a_comparison_and_a_study_run_once_and_all_claims_on_them_are_judged(tmp_path: Path) -> None:
    claims = tuple(CLAIMS[key] for key in ("fewest-rounds", "half-volume", "stragglers"))
    order, watcher, folder = ClaimsOrder(claims, ClaimsMode.QUICK, 1, "pame claims"), Watcher(), tmp_path / "out"
    folder.mkdir()
    outcome = conduct_claims(order, folder, watcher)
    assert outcome.trouble is None
    # two algorithms in two views: two tuning runs each, and one seed; PaME as printed: one, and one; then the settings
    # that were chosen to their end, and more where the best was at an edge. The study: five steps
    # for each of two, at most three more where the best is at an edge; then seven policies, with and without
    least = 12 + 2
    assert count_runs(order) == least + 10 + 14
    assert watcher.runs["fewest-rounds"] == watcher.runs["half-volume"] >= least
    assert 10 + 14 <= watcher.runs["stragglers"] <= 10 + 6 + 14
    assert watcher.judgements == outcome.judgements
    studied = lines(folder / "rows.jsonl")
    assert {row["claim"] for row in studied} == {"stragglers"}
    assert len(studied) == watcher.runs["stragglers"]
    assert {row["seed"] for row in studied if row["for"] == "tuning"}.isdisjoint(order.seeds_of(claims[-1]))
    final = [(row["policy"], row["condition"]) for row in studied if row["for"] == "claim"]
    assert len(set(final)) == len(final) == 14
    assert (folder / "comparison" / "report.html").is_file()

    rounds = rounds_to_targets(lines(folder / "comparison" / "rows.jsonl"))
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
    """By view, algorithm and target, straight from the lines: the first mark at or below it."""
    return {
        (row["view"], row["algorithm"], target): next(mark["rounds"] for mark in row["marks"] if mark["left"] <= target)
        for row in rows
        if row["for"] == "comparison"
        for target in (0.5, 0.2)
    }
