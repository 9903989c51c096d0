"""What tuning runs next, from runs made by hand: beyond the edges, to the end, and anew, until the choice stands."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.campaigns.compare import Comparison
from orchestrator.campaigns.compare.grid import CompareCell, CompareView
from orchestrator.campaigns.compare.measure import CompareRow
from orchestrator.campaigns.compare.tables import remark
from orchestrator.campaigns.compare.tune import (
    Choice,
    Trial,
    Tunable,
    choose,
    judged,
    next_trials,
    tunable_baselines,
    tunables,
)
from pame.baselines import Baseline
from tests.orchestrator.campaigns.compare.builders import comparison_of, mark, row

Tuned = Callable[[Comparison], list[Tunable]]
MORE_RUNS = ("runs: 2", "runs: 8, more: 6")
Behaviour = Callable[[float], tuple[int, bool]]
"""From eta: the iteration at which it reaches 0.1, and whether it diverges after that."""


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    steps_alone = (", algorithm.step.gamma: [1.0, 1.005]", ""), ("[0.3, 1.0]", "[1.0, 2.0, 4.0, 8.0]")
    return comparison_of(tmp_path, *steps_alone, MORE_RUNS)


def eta_of(cell: CompareCell) -> float | None:
    return next((float(str(value)) for key, value in cell.values if key.endswith("eta")), None)


def ran(trial: Trial, behaviour: Behaviour) -> CompareRow:
    """Tuning runs stop at 0.1; who goes on ends at 0.05, or diverges."""
    eta = eta_of(trial.cell)
    at, diverges = (10, False) if eta is None else behaviour(eta)
    marks = [mark(0, 1.0), mark(at, 0.1)]
    if trial.to_its_end:
        marks.append(mark(500, 9.0 if diverges else 0.05))
    return replace(row(trial.cell.algorithm, marks), cell=trial.cell)


def tune(comparison: Comparison, behaviour: Behaviour, tuned: Tuned = tunables) -> dict[Trial, CompareRow]:
    done: dict[Trial, CompareRow] = {}
    for _ in range(100):
        trials = next_trials(comparison, tuned(comparison), done)
        if not trials:
            return done
        assert not set(trials) & set(done), "nothing runs twice"
        done |= {trial: ran(trial, behaviour) for trial in trials}
    raise AssertionError("it does not end")


def chosen(comparison: Comparison, done: dict[Trial, CompareRow], name: str = "dpsgd") -> Choice:
    choices = choose(comparison, [*tunables(comparison), *tunable_baselines(comparison)], judged(done))
    return next(c for c in choices if (c.algorithm, c.view) == (name, CompareView.AS_PUBLISHED))


def tried_etas(done: dict[Trial, CompareRow], to_its_end: bool, name: str = "dpsgd") -> list[float | None]:
    mine = [t.cell for t in done if t.to_its_end is to_its_end and t.cell.algorithm == name]
    return [eta_of(cell) for cell in mine if cell.view == CompareView.AS_PUBLISHED]


def near(best: float, safe: float = float("inf")) -> Behaviour:
    """The soonest with this eta; diverging later with more than is safe."""
    return lambda eta: (10 + round(abs(eta - best) * 8), eta > safe)


def test_a_best_value_inside_runs_to_its_end_once_and_stands(comparison: Comparison) -> None:
    done = tune(comparison, near(2.0))
    assert tried_etas(done, False) == [1.0, 2.0, 4.0, 8.0]
    assert tried_etas(done, True) == [2.0]
    assert (eta_of(chosen(comparison, done).row.cell), remark(chosen(comparison, done))) == (2.0, "")


def test_what_is_on_an_edge_is_extended_before_it_runs_to_its_end(comparison: Comparison) -> None:
    done = tune(comparison, near(16.0))
    assert tried_etas(done, False) == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    assert tried_etas(done, True) == [16.0]


def test_where_the_confirmed_gives_way_to_one_on_an_edge_the_grid_is_extended_again(comparison: Comparison) -> None:
    """All that is tried at first diverges later; so the next best is the smallest, and then half of it, and half."""
    done = tune(comparison, near(8.0, safe=0.6))
    assert tried_etas(done, True) == [8.0, 4.0, 2.0, 1.0, 0.5], "more than three give way"
    choice = chosen(comparison, done)
    assert (eta_of(choice.row.cell), choice.edges, choice.diverged) == (0.5, (), 4)
    assert 0.25 in tried_etas(done, False)


def test_the_budget_is_the_same_for_all_and_what_is_left_on_an_edge_is_said(comparison: Comparison) -> None:
    done = tune(comparison, near(1e9))
    assert len(tried_etas(done, False)) == len(tried_etas(done, False, "pame")) == 4 + 6
    assert tried_etas(done, True) == [512.0]
    assert remark(chosen(comparison, done)) == "the best eta, 512, is the largest tried: widen the grid"


def test_if_all_of_them_diverge_in_the_end_it_is_said(comparison: Comparison) -> None:
    choice = chosen(comparison, tune(comparison, near(4.0, safe=0.0)))
    assert remark(choice) == "all of them diverged: try smaller steps"


def test_a_longer_run_is_no_better_than_a_shorter_one_of_another_setting(comparison: Comparison) -> None:
    """Both take as long to the target; that the first ran on, and ended lower, does not count."""
    done = tune(comparison, near(2.0))
    cell = next(trial.cell for trial in done if trial.to_its_end and trial.cell.algorithm == "dpsgd")
    [judged_row] = [one for one in judged(done) if one.cell == cell]
    assert judged_row.left == 0.1


@pytest.mark.parametrize("kind", [each.value for each in Baseline])
def test_the_lines_that_exchange_nothing_go_through_the_same(comparison: Comparison, kind: str) -> None:
    done = tune(comparison, near(8.0, safe=0.6), tunable_baselines)
    assert tried_etas(done, True, kind)[:2] == [8.0, 4.0]
    assert eta_of(chosen(comparison, done, kind).row.cell) == 0.5
    wide = tune(comparison, near(1e9), tunable_baselines)
    assert len(tried_etas(wide, False, kind)) == 4 + 6
    assert remark(chosen(comparison, wide, kind)).startswith("the best eta, 512, is the largest tried")


def test_their_decay_is_extended_too_but_never_below_one(tmp_path: Path) -> None:
    comparison = comparison_of(tmp_path, ("[1.0, 1.005]", "[1.0, 1.01, 1.02]"), MORE_RUNS)

    def steep(trial: Trial, best: float) -> CompareRow:
        gamma = float(str(dict(trial.cell.values)["gamma"]))
        marks = [mark(0, 1.0), mark(10 + round(1000 * abs(gamma - best)), 0.1)]
        return replace(row(trial.cell.algorithm, marks), cell=trial.cell)

    for best, expected in ((1.04, 1.08), (1.0, 1.02)):
        done: dict[Trial, CompareRow] = {}
        while trials := next_trials(comparison, tunable_baselines(comparison), done):
            done |= {trial: steep(trial, best) for trial in trials}
        gammas = {float(str(dict(trial.cell.values)["gamma"])) for trial in done}
        assert (min(gammas), max(gammas)) == pytest.approx((1.0, expected))
