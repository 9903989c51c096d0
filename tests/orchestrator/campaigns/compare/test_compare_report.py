"""Who needs the fewest, and the page that says so, from rows made by hand."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import unescape
from math import inf
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from orchestrator.campaigns.compare.charts import curves, flat, median_runs
from orchestrator.campaigns.compare.grid import CompareView
from orchestrator.campaigns.compare.measure import HOW, CompareMark, CompareRow
from orchestrator.campaigns.compare.picture import write_picture
from orchestrator.campaigns.compare.report import doubts_of, write_compare_report
from orchestrator.campaigns.compare.tables import company_line, result_table
from orchestrator.campaigns.compare.tune import choose, tunables
from orchestrator.campaigns.compare.verdict import BYTES, ROUNDS, SECONDS, CompareFinding, CompareOutcome, Line
from orchestrator.campaigns.yardstick import Yardstick
from orchestrator.results.spread import Spread
from pame.baselines import Baseline
from tests.browser import Visiting
from tests.orchestrator.campaigns.compare.builders import STANDARDIZED, comparison_of, left_at, mark, row
from tests.orchestrator.report.oracle import unwrapped, words_of

BOTH = (CompareView.AS_PUBLISHED, STANDARDIZED)


def curve(reached_at: int, left: float = 0.1, seconds: bool = False) -> list[CompareMark]:
    """At 0.3 half way, and so far from the optimum at the end."""
    places = ((0, 1.0, 0.5), (reached_at // 2, 0.3, 0.8), (reached_at, left, 0.85))
    return [mark(place, value, accuracy, place / 100 if seconds else None) for place, value, accuracy in places]


def outcome_of(folder: Path, rows: list[CompareRow], measured: list[CompareRow] | None = None) -> CompareOutcome:
    comparison = comparison_of(folder)
    tuning = [
        row(name, curve(20), 100, view, ((key, value),))
        for view in BOTH
        for name, key in (("pame", "algorithm.step.eta"), ("dpsgd", "algorithm.eta"))
        for value in (0.3, 1.0)
    ]
    return CompareOutcome(
        comparison=comparison,
        nodes=6,
        backend="local" if measured else "simulate",
        command="pame compare small.yaml",
        sticks={1: Yardstick(0.7, 0.2)},
        tuning=tuning,
        choices=choose(comparison, tunables(comparison), tuning),
        simulated=rows,
        measured=measured or [],
        seconds=12.0,
    )


def both_views(timed: bool = False) -> list[CompareRow]:
    """D-PSGD needs twice as long; with the second seed and standardized it misses 0.1."""
    rows = []
    for view in BOTH:
        for seed in (1, 2):
            missed = view == STANDARDIZED and seed == 2
            rows.append(row("pame", curve(20 * seed, seconds=timed), seed, view))
            rows.append(row("dpsgd", curve(40 * seed, 0.2 if missed else 0.1, timed), seed, view))
    return rows


def found(outcome: CompareOutcome, view: CompareView, key: str, measure: str) -> CompareFinding:
    [finding] = [f for f in outcome.findings if (f.view, f.goal.key, f.measure.key) == (view, key, measure)]
    return finding


def lines_to(key: str, outcome: CompareOutcome, view: CompareView) -> list[Line]:
    [goal] = [goal for goal in outcome.goals if goal.key == key]
    return outcome.lines(view, goal)


def test_the_fewest_is_by_medians_and_ratios_are_seed_by_seed(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path, both_views())
    finding = found(outcome, CompareView.AS_PUBLISHED, "0.1", "rounds")
    assert finding.lowest == ("pame",)
    assert finding.took == Spread(15.0, 10.0, 20.0, 2)
    assert finding.runner_up == "dpsgd"
    assert finding.ratio is not None
    assert finding.ratio.times == pytest.approx(2.0)
    assert (finding.ratio.seeds, finding.ratio.low) == (2, None)
    words = "PaME: 15 (10 … 20); next D-PSGD, 2 times that (a look: 2 of the 3 seeds that an interval needs)"
    assert finding.words == f"no winner, a look (2 seeds); lowest median {words}"
    assert (finding.winner, finding.who) == (None, "a look")


def paced(folder: Path, by_name: Mapping[str, Sequence[int | None]]) -> CompareFinding:
    """By algorithm: at which iteration it reaches 0.1 with each seed, None: never; the runs end at 400."""
    rows = [
        row(name, [mark(0, 1.0), *([] if k is None else [mark(k, 0.1)]), mark(400, 0.9 if k is None else 0.05)], seed)
        for name, took in by_name.items()
        for seed, k in enumerate(took, 1)
    ]
    return found(outcome_of(folder, rows), CompareView.AS_PUBLISHED, "0.1", "rounds")


@pytest.mark.parametrize(
    ("pame", "dpsgd", "who"),
    [
        ((50, 52, 54), (100, 106, 107), "PaME"),  # a true effect
        ((100, 106, 107), (50, 52, 54), "D-PSGD"),  # reversed
        ((50, 52, 54), (50, 52, 54), "cannot be told"),  # none
        ((50, 70, 90), (60, 75, 80), "cannot be told"),  # noise: the medians differ by 7 %
        ((50, 52), (100, 106), "a look"),
        ((None, None, None), (None, None, None), "nobody"),
        ((50, 52, 54), (None, None, None), "PaME"),
        ((60, 200, 390), (None, None, 70), "cannot be told"),
        ((50, 52, None), (100, 106, None), "cannot be told"),  # two seeds say something
    ],
)
def test_a_winner_is_beyond_doubt_or_there_is_none(
    tmp_path: Path, pame: Sequence[int | None], dpsgd: Sequence[int | None], who: str
) -> None:
    finding = paced(tmp_path, {"pame": pame, "dpsgd": dpsgd})
    assert finding.who == who
    assert finding.winner == {"PaME": "pame", "D-PSGD": "dpsgd"}.get(who)
    assert ("no winner" in finding.words) == (who in ("a look", "cannot be told"))


def test_a_winner_is_told_from_each_of_the_others_not_from_the_next_alone(tmp_path: Path) -> None:
    took = {"pame": (50, 52, 54), "dpsgd": (80, 82, 85), "pame-as-printed": (40, 300, 320)}
    finding = paced(tmp_path, took)
    assert (finding.runner_up, finding.ratio is not None and finding.ratio.is_decided) == ("dpsgd", True)
    assert (finding.winner, finding.doubtful) == (None, ("pame-as-printed",))
    assert finding.words.startswith("no winner, cannot be told; lowest median PaME: 26 (25 … 27); next D-PSGD, ")
    assert finding.words.endswith("; it cannot be told from PaME as printed")


def test_noise_names_a_winner_no_more_often_than_promised(tmp_path: Path) -> None:
    """Whoever is ahead is asked: two chances of 2.5 %; of 200 more than 22 come by chance once in 2000 tests."""
    noise = np.random.default_rng(5).normal(0, 0.2, (200, 2, 4))
    took = np.round(100 * np.exp(noise)).astype(int).tolist()
    assert sum(paced(tmp_path, {"pame": one, "dpsgd": other}).winner is not None for one, other in took) <= 22


def test_who_always_diverges_is_no_rival(tmp_path: Path) -> None:
    rows = [row("pame", curve(20 + seed), seed) for seed in (1, 2, 3)]
    lost = [row("dpsgd", [mark(0, 1.0), mark(2, 0.3)], seed, status="diverged") for seed in (1, 2, 3)]
    finding = found(outcome_of(tmp_path, [*rows, *lost]), CompareView.AS_PUBLISHED, "0.1", "rounds")
    assert finding.winner == "pame"
    assert finding.words.endswith("; nobody else gets there")


def alone(left: float) -> list[CompareRow]:
    """No communication, with both seeds."""
    return [row(Baseline.ALONE.value, [mark(0, 1.0), mark(50, left)], seed) for seed in (1, 2)]


def test_a_target_that_needs_no_exchange_has_no_winner_and_is_marked(tmp_path: Path) -> None:
    outcome = replace(outcome_of(tmp_path, both_views()), baselines=alone(0.25))
    assert (
        found(outcome, CompareView.AS_PUBLISHED, "0.3", "rounds").words == "no winner: no communication gets there, too"
    )
    assert found(outcome, CompareView.AS_PUBLISHED, "0.3", "rounds").lowest == ()
    assert found(outcome, CompareView.AS_PUBLISHED, "0.1", "rounds").lowest == ("pame",)
    words = words_of(write_compare_report(tmp_path, outcome))
    assert "suboptimality 0.3 (reached without communication) no communication 2 of 2" in words
    assert "suboptimality 0.1 no communication 0 of 2" in words


def test_a_run_that_diverges_later_wins_nothing(tmp_path: Path) -> None:
    rows = [replace(one, status="diverged") if one.cell.algorithm == "pame" else one for one in both_views()]
    assert found(outcome_of(tmp_path, rows), CompareView.AS_PUBLISHED, "0.3", "rounds").lowest == ("dpsgd",)


def test_who_misses_a_target_needs_more_than_anybody(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path, both_views())
    finding = found(outcome, STANDARDIZED, "0.1", "bytes")
    others = "all others miss it with half of the seeds or more"  # D-PSGD gets there with one of two
    median = "PaME: 29.3 KiB (19.53 KiB … 39.06 KiB)"
    assert finding.words == f"no winner, a look (2 seeds); lowest median {median}; {others}"
    [_, line] = lines_to("0.1", outcome, STANDARDIZED)
    assert line.took["rounds"] == Spread(inf, 20.0, 20.0, 2, missed=1)


def test_if_nobody_gets_there_nobody_wins_and_equals_are_named_together(tmp_path: Path) -> None:
    same = [row(name, curve(20, 0.2)) for name in ("pame", "dpsgd")]
    outcome = outcome_of(tmp_path, same)
    assert found(outcome, CompareView.AS_PUBLISHED, "0.1", "rounds").words == "nobody gets there"
    assert found(outcome, CompareView.AS_PUBLISHED, "0.3", "rounds").lowest == ("pame", "dpsgd")


def test_without_a_clock_nothing_is_said_of_seconds(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path, both_views())
    assert {finding.measure for finding in outcome.findings} == {ROUNDS, BYTES}
    assert SECONDS in {finding.measure for finding in outcome_of(tmp_path, both_views(timed=True)).findings}


def test_a_machine_that_did_not_keep_up_says_nothing_of_time(tmp_path: Path) -> None:
    runs = both_views(timed=True)
    measured = [replace(run, backend="local", cpu_bound=run.cell.algorithm == "dpsgd") for run in runs]
    outcome = outcome_of(tmp_path, runs, measured)
    pame, dpsgd = lines_to("0.3", outcome, CompareView.AS_PUBLISHED)
    assert pame.took["seconds"] == Spread(pytest.approx(0.15), 0.1, 0.2, 2)  # type: ignore[arg-type]
    assert dpsgd.took["seconds"] is None
    assert dpsgd.took["rounds"] is not None
    assert dpsgd.simulated_s == Spread(pytest.approx(0.3), 0.2, 0.4, 2)  # type: ignore[arg-type]


def test_a_degraded_run_on_nodes_is_marked_and_named_on_top(tmp_path: Path) -> None:
    runs = both_views()
    first = next(run for run in runs if run.cell.algorithm == "dpsgd")
    degraded = replace(first, backend="local", health="degraded", health_reason="7 messages refused")
    sound = [replace(run, backend="local", health="sound") for run in runs if run is not first]
    outcome = outcome_of(tmp_path, runs, [degraded, *sound])
    words = f"1 of {len(runs)} runs is degraded: D-PSGD, {first.cell.view.value}, seed {first.cell.seed}"
    page = unescape(unwrapped(write_compare_report(tmp_path, outcome).read_text()))
    assert f"{words} (7 messages refused)." in page
    assert "1 finished (degraded), 1 finished" in page
    assert "is degraded" not in write_compare_report(tmp_path, outcome_of(tmp_path, runs, sound)).read_text()


def test_a_line_of_a_chart_is_the_median_seed(tmp_path: Path) -> None:
    rows = [row("pame", curve(20 * seed), seed) for seed in (3, 1, 2)]
    assert [run.cell.seed for run in median_runs(outcome_of(tmp_path, rows), CompareView.AS_PUBLISHED)] == [2]


def test_the_table_in_the_terminal_has_every_target_and_algorithm(tmp_path: Path) -> None:
    console = Console(width=100, record=True, quiet=False, file=(tmp_path / "shown.txt").open("w"))
    console.print(result_table(outcome_of(tmp_path, both_views()), STANDARDIZED))
    text = console.export_text()
    console.file.close()
    assert re.search(r"0\.1 +PaME +2 of 2 +15 ", text)
    assert re.search(r"\n +10 … 20 ", text)
    assert re.search(r"D-PSGD +1 of 2 +missed .*\n +20 ", text)
    assert re.search(r"stop rule +PaME +0 of 2 +missed", text)


def test_the_page_has_views_choices_edges_settings_and_how_all_was_measured(tmp_path: Path) -> None:
    words = words_of(write_compare_report(tmp_path, outcome_of(tmp_path, both_views())))
    assert "Fewest rounds to 0.1, as-published a look lowest median PaME: 15; 2 seeds" in words
    assert "PaME: 15 (10 … 20); next D-PSGD, 2 times that (a look" in words
    assert f"Fewest rounds to 0.1, {STANDARDIZED.value} a look" in words
    assert "D-PSGD eta = 0.3 2 0 the best eta, 0.3, is the smallest tried: widen the grid" in words
    assert "D-PSGD, as-published: the best eta, 0.3, is the smallest tried: widen the grid" in words
    assert "seed 1: f(0) = 0.7, f* = 0.2" in words
    assert "kind: dpsgd" in words
    assert "pame compare small.yaml" in words
    assert "D-PSGD 2 finished 1.5 25 % 2" in words
    for how in HOW.values():
        assert how in words


def test_the_page_begins_with_curves_and_then_has_targets_by_algorithms(tmp_path: Path) -> None:
    page = write_compare_report(tmp_path, outcome_of(tmp_path, both_views())).read_text(encoding="utf-8")
    sections = re.findall(r'<section id="([^"]*)"', page)
    assert sections[:3] == ["curves", "as-published", "standardized"]
    published = unwrapped(page).partition('<section id="as-published"')[2]
    table = published.partition("Rounds to each target")[2].partition("</table>")[0]
    headings = re.findall(r'<button type="button">(.*?)</button>', table)
    assert headings == ["Target", "PaME", "D-PSGD", "PaME as printed"]
    first = next(line for line in table.split("<tr>") if "suboptimality 0.1<" in line)
    assert '<td class="number best" data-value="15.0">15' in first
    assert published.index("Rounds to each target") < published.index("Bytes to each target")
    assert published.index("Bytes to each target") < published.index("Who needs the fewest")


def test_runs_that_did_not_come_to_their_end_are_a_doubt(tmp_path: Path) -> None:
    rows = [replace(one, status="diverged") if one.cell.algorithm == "dpsgd" else one for one in both_views()]
    outcome = outcome_of(tmp_path, rows)
    assert f"D-PSGD, {STANDARDIZED.value}: 2 diverged" in doubts_of(outcome)
    assert "PaME 1.5 (25 % of rounds with nobody), D-PSGD" in company_line(outcome, STANDARDIZED)


def test_the_page_says_how_many_settings_were_tried_of_each_at_most_and_really(tmp_path: Path) -> None:
    outcome = replace(outcome_of(tmp_path, both_views()), comparison=comparison_of(tmp_path, ("runs: 2", "runs: 3")))
    words = words_of(write_compare_report(tmp_path, outcome))
    # four combinations of each, as the decay is tuned for both; nothing of what is printed
    had = "PaME 3, D-PSGD 3, PaME as printed 1"
    assert f"At most 3 runs for each algorithm and view ({had}; fewer where the grid is smaller)" in words
    assert "fewer where its grid has fewer settings" in HOW["tuning"]
    assert HOW["tuning"] in words


def test_an_incomplete_comparison_says_so(tmp_path: Path) -> None:
    outcome = replace(outcome_of(tmp_path, []), tuning=[], choices=[], trouble="interrupted")
    words = words_of(write_compare_report(tmp_path, outcome))
    assert "This comparison is not complete: interrupted" in words
    assert "tuning was not finished" in words


def test_the_picture_has_a_panel_per_view_and_measure_and_a_line_per_algorithm(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path, both_views())
    write_picture(tmp_path, outcome)
    text = (tmp_path / "comparison.svg").read_text()
    assert [text.count(f">{view}<") for view in ("as-published", STANDARDIZED.value)] == [2, 2]
    assert [text.count(f">{measure} to suboptimality<") for measure in ("rounds", "bytes")] == [2, 2]
    assert len(re.findall(r'<path aria-label="[^"]*algorithm: ', text)) == 4 * 2
    write_picture(tmp_path / "nowhere", outcome_of(tmp_path, []))
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.requires("chromium")
def test_a_browser_draws_every_curve_and_complains_of_nothing(tmp_path: Path, visiting: Visiting) -> None:
    visit = visiting(write_compare_report(tmp_path, outcome_of(tmp_path, both_views(timed=True))))
    drawn = visit.marks("line")
    choices = visit.page.eval_on_selector_all("[data-switch=x] button", "buttons => buttons.map(b => b.dataset.value)")
    visit.page.click("button[data-value=bytes]")
    assert visit.complaints == []
    assert drawn == [2, 2, 2, 2], "accuracy and suboptimality in two views, a line per algorithm"
    assert choices == ["rounds", "bytes", "seconds", "iterations"]


def test_what_exchanges_nothing_is_a_line_at_its_best() -> None:
    alone = row(Baseline.ALONE.value, [mark(0, 1.0), mark(5, 0.4), mark(10, 0.7)])
    other = row("pame", [mark(0, 1.0), mark(10, 0.1)])
    drawn = flat([other, alone], ROUNDS, alone, lambda found: found.left)
    assert {y for _, y in drawn} == {0.4}


def test_the_mean_model_and_the_worst_node_have_curves_of_their_own(tmp_path: Path) -> None:
    known = [
        replace(
            one, marks=tuple(replace(m, nodes=m.left, mean=left_at(m) / 2, worst=2 * left_at(m)) for m in one.marks)
        )
        for one in both_views()
    ]
    keys = {chart.id for chart in curves(outcome_of(tmp_path, known))}
    assert {"left-as-published", "left-mean-as-published", "left-worst-as-published"} <= keys
    assert "left-nodes-as-published" not in keys, "that is the one that targets are about"
    assert not any("worst" in chart.id for chart in curves(outcome_of(tmp_path, both_views())))
