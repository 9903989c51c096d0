"""The page of a study: claim, verdict, figures with ranges, prediction beside measurement, and how all was measured."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.campaigns.studies import STUDIES
from orchestrator.campaigns.studies.grid import READINGS, base_experiment
from orchestrator.campaigns.studies.measure import HOW, StudyRow
from orchestrator.campaigns.studies.report import write_study_report
from orchestrator.campaigns.studies.tune import Tuned
from orchestrator.campaigns.studies.verdict import StudyOutcome
from tests.browser import Visiting
from tests.orchestrator.campaigns.studies.builders import own, row, small_file
from tests.orchestrator.report.oracle import words_of

STUDY = STUDIES["stragglers"]


def outcome_of(folder: Path) -> StudyOutcome:
    """Every cell with three seeds; the slow ones need longer, D-PSGD misses; two cells ran for real."""
    base = base_experiment(small_file(folder))
    predicted = [
        _row(cell.policy.key, cell.condition.key, seed, number)
        for number, condition in enumerate(STUDY.conditions)
        for seed in (1, 2, 3)
        for cell in STUDY.cells(base, (seed,))
        if cell.condition is condition
    ]
    measured = [
        row("pame-all-long", "30-at-10x", 3.21, backend="local", waiting=0.5, struck=(1,), own=own(0.01, 0.03, 0.01)),
        row("dpsgd-long", "30-at-10x", None, backend="local", cpu_bound=True),
    ]
    return StudyOutcome(
        study=STUDY,
        base=base,
        tuned=(
            Tuned("pame", ((0.05, tried(2.0, 2.5)), (0.1, tried(1.5, 1.0)))),
            Tuned("dpsgd", ((0.05, tried(1.0, 3.0)), (0.1, tried(0.5, None)))),
        ),
        seeds=(1, 2, 3),
        command="pame study stragglers --seeds 3",
        file="small.yaml",
        predicted=predicted,
        measured=measured,
    )


def tried(*seconds: float | None) -> tuple[StudyRow, ...]:
    return tuple(row("any", "none", time) for time in seconds)


def _row(policy: str, condition: str, seed: int, trouble: int) -> StudyRow:
    time = None if policy.startswith("dpsgd") and trouble else 1.0 + 0.5 * trouble + 0.25 * seed
    struck = (1,) if trouble else ()
    return row(policy, condition, time, seed, struck=struck, own=own(0.01, 0.2, 0.01), pace=50.0 - trouble)


def test_the_page_states_claim_verdicts_and_how_everything_was_measured(tmp_path: Path) -> None:
    words = words_of(write_study_report(tmp_path, outcome_of(tmp_path)))
    assert STUDY.claim in words
    reading = READINGS[0].words
    assert f"{reading} the other nodes keep their pace holds holds 1.02 (1.02 … 1.02) times slower holds" in words
    assert f"{reading} the target is still reached in time holds partly holds 1.34 (1.2 … 1.49) times as long" in words
    assert f"{reading} the target is reached sooner than by D-PSGD holds holds 0.199 (0.146 … 0.272) times" in words
    assert f"{reading} slow nodes' data is still heard does not hold does not hold 20 (20 … 20) % left" in words
    assert "real nodes, a look: yes: 3 % left" in words
    assert all(how in words for how in HOW.values())
    for condition in STUDY.conditions:
        assert all(setting in words for setting in condition.settings)
    assert "pame study stragglers --seeds 3" in words


def test_the_matrix_of_readings_by_criteria_comes_first_and_then_its_conditions(tmp_path: Path) -> None:
    page = write_study_report(tmp_path, outcome_of(tmp_path)).read_text()
    assert page.index('<section id="matrix"') == page.index("<section")
    table = page.partition('<section id="matrix"')[2].partition("</table>")[0]
    assert table.count("<tr>") == 1 + len(READINGS)
    assert table.count("<th ") == 1 + 4, "a column for each criterion"
    below = page.partition('<section id="matrix"')[2].partition("</table>")[2].partition("</table>")[0]
    assert below.count("<tr>") == 1 + len(READINGS) * 4
    assert all(condition.words.split()[0] in below for condition in STUDY.conditions[1:])


def test_the_matrix_says_in_how_many_conditions_what_does_not_hold_everywhere_holds(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path)
    words = words_of(write_study_report(tmp_path, outcome))
    conditions = len(STUDY.conditions) - 1
    everywhere, partly = f"holds in {conditions} of {conditions} conditions", "holds partly in "
    assert f"{READINGS[0].words} {everywhere} {partly}" in words
    assert f"{everywhere} does not hold {READINGS[1].words}" in words


def test_the_tuning_of_both_is_told(tmp_path: Path) -> None:
    words = words_of(write_study_report(tmp_path, outcome_of(tmp_path)))
    assert "PaME 0.1 still the smallest or largest tried 2 0.05: 2 s, 2.5 s; 0.1: 1.5 s, 1 s" in words
    assert "D-PSGD 0.05 still the smallest or largest tried 2 0.05: 1 s, 3 s; 0.1: 500 ms, missed" in words
    assert "tuned alike: the same 5 values of eta for both" in words


def test_two_seeds_are_called_a_look(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path)
    assert "never a verdict" not in words_of(write_study_report(tmp_path, outcome))
    few = replace(outcome, seeds=(1, 2))
    assert "2 seeds: a look, never a verdict. Give --seeds 5" in words_of(write_study_report(tmp_path, few))


def test_a_degraded_cell_is_marked_and_named_on_top(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path)
    assert "degraded" not in words_of(write_study_report(tmp_path, outcome))
    first, second = outcome.measured
    degraded = replace(first, health="degraded", health_reason="7 messages refused")
    words = words_of(write_study_report(tmp_path, replace(outcome, measured=[degraded, second])))
    name = f"{outcome.words[first.policy]}, {outcome.words[first.condition]}"
    assert f"1 of 2 runs is degraded: {name} (7 messages refused)." in words
    assert "degraded: 7 messages refused" in words.replace("(", "").partition("runs is degraded")[2]


def test_the_page_has_medians_ranges_and_misses(tmp_path: Path) -> None:
    words = words_of(write_study_report(tmp_path, outcome_of(tmp_path)))
    assert "1.5 s 1.25 … 1.75 s" in words, "three seeds without slow nodes"
    assert "missed 3 of 3 missed" in words


def test_prediction_and_measurement_stand_one_above_the_other(tmp_path: Path) -> None:
    words = words_of(write_study_report(tmp_path, outcome_of(tmp_path)))
    assert (
        "1. PaME, spare all, long patience 30 % of the nodes 10 times slower local 1.43 times as long as predicted "
        "3.21 s predicted 2.25 s"
    ) in words
    assert "– predicted missed" not in words
    assert "missed predicted missed" in words
    assert "cpu-bound: says nothing about time" in words
    assert "1 cell on real nodes had steps that overran" in words


def test_an_incomplete_study_says_so(tmp_path: Path) -> None:
    outcome = replace(outcome_of(tmp_path), predicted=[], measured=[], trouble="interrupted")
    words = words_of(write_study_report(tmp_path, outcome))
    assert "This study is not complete: interrupted" in words


@pytest.mark.requires("chromium")
def test_a_browser_draws_every_chart_and_complains_of_nothing(tmp_path: Path, visiting: Visiting) -> None:
    visit = visiting(write_study_report(tmp_path, outcome_of(tmp_path)))
    dots = visit.marks("symbol")
    visit.page.click("button[data-value=bytes]")
    assert visit.complaints == []
    assert len(dots) == 4
    assert all(count >= 10 for count in dots[:3])
    assert dots[3] == 2, "the cell that missed, predicted and measured, has none"
