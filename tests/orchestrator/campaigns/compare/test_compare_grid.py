"""Views, settings that are tried, edges of a grid, runs that are the same."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from orchestrator.campaigns.cell import Cell, Look
from orchestrator.campaigns.compare import Comparison
from orchestrator.campaigns.compare.grid import (
    CompareCell,
    CompareView,
    Edge,
    StandardReading,
    contestants,
    edges,
    experiment_of,
    final_cells,
    is_allowed,
    left_out,
    tried,
    tuning_cells,
    views,
)
from orchestrator.campaigns.compare.tune import Choice, tunables
from pame.algorithms import BeerSpec, DpsgdSpec, PameSpec, PenaltyStep
from tests.orchestrator.campaigns.compare.builders import STANDARDIZED, comparison_of, row


def with_runs(comparison: Comparison, runs: int, seed: int = 100) -> Comparison:
    return replace(comparison, tuning=comparison.tuning.model_copy(update={"runs": runs, "seed": seed}))


def test_as_published_keeps_the_algorithm_s_own_period_and_neighbours(comparison: Comparison) -> None:
    found = experiment_of(comparison, CompareCell("dpsgd", CompareView.AS_PUBLISHED, (("algorithm.eta", 0.7),), 5))
    assert found.algorithm == DpsgdSpec(eta=0.7)
    assert (found.period.min, found.period.max, found.seed, found.evaluate.every) == (1, 1, 5, 5)


def test_standardized_is_the_same_period_and_participation_for_all(comparison: Comparison) -> None:
    dpsgd = experiment_of(comparison, CompareCell("dpsgd", STANDARDIZED, (("algorithm.eta", 0.7),), 5))
    pame = experiment_of(comparison, CompareCell("pame", STANDARDIZED, (("algorithm.step.eta", 0.7),), 5))
    assert dpsgd.algorithm == DpsgdSpec(eta=0.7, participation=0.5, draw="shared", mixing="active")
    assert isinstance(pame.algorithm, PameSpec)
    assert (pame.algorithm.participation, pame.algorithm.draw) == (0.5, "shared")
    assert {(found.period.min, found.period.max) for found in (dpsgd, pame)} == {(2, 2)}


def test_an_algorithm_that_cannot_be_standardized_is_left_out_with_a_line(tmp_path: Path) -> None:
    comparison = comparison_of(tmp_path, ("{kind: dpsgd}", "{kind: epidemic, fan_out: 2}"))
    standardized = views(comparison)[1]
    assert contestants(comparison, standardized) == ["pame"]
    assert "dpsgd" in contestants(comparison, CompareView.AS_PUBLISHED)
    assert left_out(comparison) == {
        "dpsgd": "D-PSGD cannot be standardized, and is left out: it has no participation and no draw"
    }


def test_all_readings_are_views_of_the_same_table(tmp_path: Path) -> None:
    comparison = comparison_of(tmp_path, ("standardized: {period: 2, participation: 50%}", "standardized: all"))
    found = views(comparison)
    assert found[:2] == [CompareView.AS_PUBLISHED, STANDARDIZED]
    assert len(found) == 1 + 3 * 2 * 2
    assert {view.family for view in found[1:]} == {"standardized"}
    assert len({view.key for view in found}) == len(found)


@pytest.mark.parametrize(
    ("reading", "dpsgd", "beer", "period"),
    [
        (StandardReading("directed", "graph", "each"), ("directed", "metropolis"), ("shared", "metropolis"), (3, 7)),
        (StandardReading("mutual", "active", "one"), ("mutual", "active"), ("mutual", "active"), (5, 5)),
    ],
)
def test_a_reading_says_who_draws_and_what_is_weighted(
    tmp_path: Path, reading: StandardReading, dpsgd: tuple[str, str], beer: tuple[str, str], period: tuple[int, int]
) -> None:
    with_beer = ("standardized:", "  beer: {algorithm: {kind: beer}, period: 1}\nstandardized:")
    comparison = comparison_of(tmp_path, ("{period: 2,", "{period: 3..7,"), with_beer)
    for name, expected in (("dpsgd", dpsgd), ("beer", beer)):
        found = experiment_of(comparison, CompareCell(name, CompareView(reading), (), 1))
        assert isinstance(found.algorithm, DpsgdSpec | BeerSpec)
        assert (found.algorithm.draw, found.algorithm.mixing) == expected
        assert (found.period.min, found.period.max) == period


def test_pame_as_printed_is_compared_as_published_and_never_tuned(comparison: Comparison) -> None:
    assert contestants(comparison, CompareView.AS_PUBLISHED) == ["pame", "dpsgd", "pame-as-printed"]
    assert "pame-as-printed" not in contestants(comparison, STANDARDIZED)
    assert tried(comparison, "pame-as-printed") == [()]
    found = experiment_of(comparison, CompareCell("pame-as-printed", CompareView.AS_PUBLISHED, (), 1)).algorithm
    assert found == PameSpec(participation=0.5, support=0.5, step=PenaltyStep(sigma0=1.0, gamma=1.005))


def test_what_decays_for_one_decays_for_all(comparison: Comparison) -> None:
    assert comparison.entries["dpsgd"].tune["algorithm.gamma"] == [1.0, 1.005]


@pytest.mark.parametrize(
    ("given", "value", "is_largest", "expected"),
    [
        ([0.4, 0.8, 1.6], 1.6, True, 3.2),
        ([0.4, 0.8, 1.6], 0.4, False, 0.2),
        ([0.4, 0.8, 1.6], 0.8, True, 1.6),
        ([1.0, 1.005, 1.01, 1.02], 1.02, True, 1.04),
        ([2, 4], 4, True, 8),
        ([0, 1.0], 1.0, True, 2.0),
    ],
)
def test_a_grid_goes_on_beyond_its_edge_as_it_began(
    tmp_path: Path, given: list[float], value: float, is_largest: bool, expected: float
) -> None:
    """A value that the sample left out comes first."""
    both = f"{{algorithm.eta: {given}, algorithm.gamma: {given}}}"
    comparison = comparison_of(tmp_path, ("{algorithm.eta: [0.3, 1.0]}", both))
    key = "algorithm.gamma" if given[0] == 1.0 else "algorithm.eta"
    best = row("dpsgd", [], 100, values=((key, value),))
    choice = Choice(best.cell.view, "dpsgd", best, tried=1, diverged=0, edges=(Edge(key, value, is_largest),))
    [dpsgd] = [one for one in tunables(comparison) if (one.view, one.algorithm) == (choice.view, choice.algorithm)]
    [cell] = dpsgd.beyond(choice, [best], budget=2)
    assert dict(cell.values) == pytest.approx({key: expected})


def test_the_whole_grid_is_tried_if_the_budget_allows(comparison: Comparison) -> None:
    assert tried(with_runs(comparison, 4), "pame") == [
        (("algorithm.step.eta", eta), ("algorithm.step.gamma", gamma)) for eta in (0.3, 1.0) for gamma in (1.0, 1.005)
    ]


def test_a_larger_grid_is_sampled_by_the_seed(comparison: Comparison) -> None:
    whole = set(tried(with_runs(comparison, 4), "pame"))
    samples = [frozenset(tried(with_runs(comparison, 2, seed), "pame")) for seed in range(100, 120)]
    assert samples[0] == frozenset(tried(with_runs(comparison, 2), "pame"))
    assert all(len(sample) == 2 and sample <= whole for sample in samples)
    assert len(set(samples)) > 1


def test_nothing_to_tune_is_one_run(tmp_path: Path) -> None:
    assert tried(comparison_of(tmp_path, (", tune: {algorithm.eta: [0.3, 1.0]}", "")), "dpsgd") == [()]


def test_every_algorithm_has_the_same_budget_in_both_views(comparison: Comparison) -> None:
    cells = tuning_cells(comparison)
    assert {cell.seed for cell in cells} == {100}
    counts = {(view, name): 0 for view in views(comparison) for name in ("pame", "dpsgd")}
    for cell in cells:
        if cell.algorithm not in comparison.printed:
            counts[cell.view, cell.algorithm] += 1
    assert set(counts.values()) == {2}


def test_the_chosen_settings_run_on_every_fresh_seed() -> None:
    chosen = {(CompareView.AS_PUBLISHED, "pame"): (("algorithm.eta", 1.0),), (STANDARDIZED, "pame"): ()}
    cells = final_cells(chosen, (1, 2))
    assert [(cell.seed, cell.view) for cell in cells] == [
        (seed, view) for seed in (1, 2) for view in (CompareView.AS_PUBLISHED, STANDARDIZED)
    ]


def anything(*_: object) -> bool:
    return True


GRID = [(("a.eta", eta), ("a.gamma", gamma), ("a.mixing", "uniform")) for eta in (1, 2, 3) for gamma in (1.0, 1.1)]


def test_a_best_value_at_an_end_of_what_was_tried_is_named() -> None:
    best = (("a.eta", 3), ("a.gamma", 1.0), ("a.mixing", "uniform"))
    found = edges(best, GRID, anything)
    assert found == [Edge("a.eta", 3.0, True), Edge("a.gamma", 1.0, False)]
    assert found[0].words == "the best eta, 3, is the largest tried"
    assert found[1].words == "the best gamma, 1, is the smallest tried"


def test_a_value_inside_or_at_the_end_of_what_is_allowed_is_no_edge() -> None:
    assert edges((("a.eta", 2),), GRID, anything) == []
    assert edges((("a.gamma", 1.0),), GRID, lambda _, value: value >= 1.0) == []


def test_a_single_value_is_no_grid() -> None:
    assert edges((("a.eta", 1),), [(("a.eta", 1),)], anything) == []


def test_what_a_setting_may_be_is_asked_of_the_experiment_file(comparison: Comparison) -> None:
    cell = CompareCell("pame", CompareView.AS_PUBLISHED, (("algorithm.step.gamma", 1.0),), 1)
    assert is_allowed(comparison, cell, "algorithm.step.gamma", 1.1)
    assert not is_allowed(comparison, cell, "algorithm.step.gamma", 0.999)


@pytest.mark.parametrize(
    ("algorithm", "key", "tried_values", "best", "is_largest"),
    [
        ("{kind: epidemic}", "algorithm.fan_out", [1, 2, 4], 4, True),
        ("{kind: epidemic}", "algorithm.fan_out", [2, 4], 2, False),
        ("{kind: epidemic}", "algorithm.fan_out", [1, 2, 4], 1, None),
        ("{kind: epidemic}", "algorithm.fan_out", [1, 2, 4], 2, None),
        ("{kind: choco, compressor: {kind: quantize}}", "algorithm.compressor.bits", [4, 8], 8, True),
        ("{kind: choco, compressor: {kind: quantize}}", "algorithm.compressor.bits", [8, 16], 16, None),
        ("{kind: dpsgd}", "algorithm.eta", [1, 2], 1, False),
        ("{kind: dpsgd}", "algorithm.participation", [0.5, 1], 1, None),
    ],
)
def test_the_edge_of_a_grid_is_seen_for_settings_that_count_and_for_those_that_measure(
    tmp_path: Path, algorithm: str, key: str, tried_values: list[float], best: float, is_largest: bool | None
) -> None:
    comparison = comparison_of(tmp_path, ("{kind: dpsgd}", algorithm))
    cell = CompareCell("dpsgd", CompareView.AS_PUBLISHED, ((key, best),), 1)
    found = edges(cell.values, [((key, value),) for value in tried_values], partial(is_allowed, comparison, cell))
    assert found == ([] if is_largest is None else [Edge(key, best, is_largest)])


def test_cells_whose_experiments_are_the_same_are_one_run(comparison: Comparison) -> None:
    directed = CompareView(StandardReading("directed", "graph", "each"))
    cells = [
        CompareCell(name, view, (), 1) for name in ("pame", "dpsgd") for view in (CompareView.AS_PUBLISHED, directed)
    ]
    pame, same, dpsgd, other = (Cell({}, experiment_of(comparison, cell), Look()).key("simulate") for cell in cells)
    assert pame == same
    assert len({pame, dpsgd, other}) == 3
