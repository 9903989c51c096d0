"""Claims from beginning to end: the tiny one through the command, those that rest on a comparison and on a study with
small files where the large ones are, and the pages of all kinds."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.campaigns.claims import CLAIMS, ClaimsMode
from orchestrator.campaigns.claims.campaign import ClaimsCampaign
from orchestrator.campaigns.claims.claim import ClaimsOutcome, Found
from orchestrator.campaigns.claims.report import write_claims_report
from orchestrator.campaigns.claims.run_curve import RunCurve
from orchestrator.campaigns.conduct import conduct
from orchestrator.campaigns.studies import STUDIES
from orchestrator.results.campaign_record import CampaignRecord
from tests.browser import Visiting
from tests.command import call, lines_of, mistake, told
from tests.orchestrator.campaigns.builders import Watcher
from tests.orchestrator.campaigns.claims.builders import COMPARISON, TINY, compared, course, reaching, row
from tests.orchestrator.campaigns.studies.builders import SMALL as STUDY
from tests.orchestrator.cli.harness import Pame
from tests.orchestrator.report.oracle import unwrapped, words_of

pytestmark = [pytest.mark.edge, pytest.mark.timeout(300)]  # processes start slowly on a busy machine


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder to be in, and the tiny claim among the others."""
    monkeypatch.setitem(CLAIMS, "tiny", TINY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_the_comparison_of_a_claim_needs_is_refused_before_anything_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = call(tmp_path, "claims", "--only", "fewest-rounds", "--backend", "netns")
    assert "the backend netns needs the program `ip`" in mistake(done, 1)
    assert not list(tmp_path.glob("runs/*/rows.jsonl"))


def test_a_claim_from_the_command_to_its_verdict_and_report(tiny: Path, pame: Pame) -> None:
    shown = told(pame("claims", "--full", "--only", "tiny", "--seeds", 3))
    assert "1 claim, full mode: 6 runs in the simulator" in shown
    assert re.search(r"tiny +holds +2 of 2", shown), shown
    [folder] = (tiny / "runs").iterdir()
    rows = lines_of(folder / "rows.jsonl")
    assert sorted((row["labels"]["run"], row["seed"]) for row in rows) == [
        (run, s) for run in ("half", "whole") for s in (1, 2, 3)
    ]
    assert all(row["labels"]["claim"] == "tiny" for row in rows)
    assert all(row["curve"][0]["objective"] == pytest.approx(row["figures"]["start"]) for row in rows)
    [claim] = json.loads((folder / "claims.json").read_text())["claims"]
    assert claim["verdict"] == "holds"
    assert [finding["place"] for finding in claim["findings"]] == ["s/n = 0.5", "s/n = 1"]
    words = words_of(folder / "report.html")
    assert "Five nodes agree. " in words
    assert "What counts: they reach the target." in words
    assert "The paper: In our words; of the paper (arXiv:2603.01730) only the abstract is at hand." in words
    assert "What is tested instead: Something smaller." in words
    assert "algorithm.support=0.5" in words
    assert "participation: 0.5" in words, "the base experiment"
    assert "pame claims --full --only tiny --seeds 3" in words


def test_quiet_prints_only_the_folder_and_quick_is_the_default(tiny: Path, pame: Pame) -> None:
    [line] = told(pame("claims", "--only", "tiny", "--seeds", 1, "--quiet", "--out", "here")).splitlines()
    assert [row["labels"]["run"] for row in lines_of(tiny / line / "rows.jsonl")] == ["half"]


def test_on_nodes_the_runs_of_a_claim_end_in_the_same_bits(tiny: Path, pame: Pame) -> None:
    curves = []
    for backend in ("local", "simulate"):
        folder = tiny / told(pame("claims", "--only", "tiny", "--seeds", 1, "--backend", backend, "-q")).strip()
        [row] = lines_of(folder / "rows.jsonl")
        assert row["backend"] == backend
        curves.append([(point["iteration"], point["rounds"], point["objective"]) for point in row["curve"]])
        assert ("all else ran on local" in words_of(folder / "report.html")) is (backend == "local")
    assert curves[0] == curves[1]


def test_a_claim_that_is_not_there_is_answered_with_those_that_are(tiny: Path, pame: Pame) -> None:
    line = mistake(pame("claims", "--only", "magic"))
    assert line == f"error: there is no claim 'magic'; use one of: {', '.join(CLAIMS)}"
    assert not (tiny / "runs").exists()


def test_interrupted_it_reports_what_there_is(tmp_path: Path) -> None:
    campaign = ClaimsCampaign((TINY,), ClaimsMode.FULL, 3)
    outcome = conduct(campaign, CampaignRecord("claims", "pame claims"), tmp_path, Watcher(patience=1))
    assert outcome.trouble == "interrupted"
    assert len(lines_of(tmp_path / "rows.jsonl")) == 1
    assert "This is not complete: interrupted" in words_of(tmp_path / "report.html")


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
        (reading, f"{view}, to suboptimality {target}, against D-PSGD"): pytest.approx(
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
    page = unwrapped((folder / "report.html").read_text())
    assert "Chosen eta of D-PSGD" in page
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


SEEDS = (1, 2, 3)


def climbing() -> Iterator[RunCurve]:
    """Independent of t it gets faster and nearer; as printed it diverges."""
    for seed in SEEDS:
        for value, took, end in (("0.1", 100, 0.02), ("0.2", 60, 0.01), ("0.6", 40, 0.005)):
            yield reaching(f"{value}_independent_regular_m-32", took, seed, end)
            yield course(f"{value}_printed_regular_m-32", {0: 1.0, 2: 5.0, 4: 1e9}, seed, status="diverged")


def outcome_of_all() -> ClaimsOutcome:
    """Every kind of claim, with results made by hand."""
    chosen = tuple(
        CLAIMS[key] for key in ("transmission-rate", "fewest-rounds", "half-volume", "stragglers", "large-m")
    )
    took = dict.fromkeys(("pame", "dpsgd", "dfedsam", "beer", "anq-nids"), (10.0, 20.0, 30.0))
    rows = tuple(
        row(policy, condition, 1.0 + place, 0.01, seed)
        for place, policy in enumerate(("pame-all-long", "pame-0-long", "dpsgd-long"))
        for condition in ("none", "30-at-10x")
        for seed in SEEDS
    )
    contest = compared([(took, took)] * len(SEEDS))
    found = {
        "transmission-rate": Found(courses=tuple(climbing())),
        "fewest-rounds": Found(compared={"": contest}),
        "half-volume": Found(compared={"": contest}),
        "stragglers": Found(rows=rows, study=STUDIES["stragglers"].small()),
        "large-m": Found(),
    }
    return ClaimsOutcome(
        claims=chosen,
        mode=ClaimsMode.QUICK,
        seeds={claim.key: SEEDS for claim in chosen},
        command="pame claims",
        found=found,
        judgements={claim.key: claim.judgement(found[claim.key]) for claim in chosen},
        seconds=12.3,
    )


def test_the_page_has_a_table_of_verdicts_and_a_section_for_each(tmp_path: Path) -> None:
    outcome = outcome_of_all()
    words = words_of(write_claims_report(tmp_path, outcome))
    for claim in outcome.claims:
        assert words.count(claim.statement) >= 2
        assert claim.criterion in words
    assert "Verdict As printed Independent of t Tuned" in words
    assert "holds partly does not hold holds – – – 2 of 4" in words
    assert "s/n = 0.1 diverges (3 of 3 seeds)" in words
    assert "0.4 times" in words
    assert "PaME 10 rounds; D-PSGD 10 rounds" in words
    assert "does not hold – – 0 of 24" in words
    assert "nothing ran on nodes" in words
    assert "averages once more for free; the nodes' own models are judged in comparisons" in words
    assert "1 as share of the seeds (" in words
    assert "Many nodes" in words
    assert "not measured" in words
    assert "compute.stragglers=30%" in words


@pytest.mark.requires("chromium")
def test_a_browser_draws_every_figure_and_complains_of_nothing(tmp_path: Path, visiting: Visiting) -> None:
    visit = visiting(write_claims_report(tmp_path, outcome_of_all()))
    dots = visit.marks("symbol")
    visit.page.click("[data-switch=view-half-volume] button[data-value=standardized-shared-active-one-period]")
    visit.page.click("[data-switch=group-transmission-rate] button:last-child")
    visit.page.wait_for_function(
        "document.querySelectorAll('.chart')[0].querySelectorAll('svg .role-mark path').length > 6"
    )
    independent = visit.marks("symbol")[0]
    assert visit.complaints == []
    assert dots == [6, 15, 15, 6], "as printed, what diverges leaves the picture after two points"
    assert independent == 9
