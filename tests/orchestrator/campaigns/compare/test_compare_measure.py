"""What a run took to each target, from curves made by hand; the choice among tuned runs."""

import json
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Literal

import pytest

from orchestrator.campaigns.cell import Cell, Look, Run, run_of
from orchestrator.campaigns.compare import Comparison
from orchestrator.campaigns.compare.file import Target
from orchestrator.campaigns.compare.grid import CompareCell, CompareView, Edge
from orchestrator.campaigns.compare.measure import CompareMark, Of, accuracy_goals, row_of, to_target, under_stop_rule
from orchestrator.campaigns.compare.tune import Trial, choose, has_diverged, next_trials, score, tunables
from orchestrator.campaigns.run_left import RunLeft, RunPoint, decisive, rounds_before
from orchestrator.campaigns.yardstick import Yardstick
from orchestrator.experiment import Experiment
from pame.observe import Evaluation, Own
from pame.resolved_run import ResolvedRun
from tests.orchestrator.campaigns.compare.builders import STANDARDIZED, comparison_of, down_to, mark, row
from tests.pame.simulator.harness import world

STICK = {"start": 0.7, "best": 0.2, "company": {"partners": 1.0, "alone": 0.0, "messages": 1.0}}
LABELS = {"algorithm": "pame", "view": "as-published", "values": {}}
VIEWS = {"as-published": CompareView.AS_PUBLISHED}


def marks_of(points: list[Evaluation], setting: ResolvedRun, of: Of) -> tuple[CompareMark, ...]:
    """f goes from 0.7 to 0.2."""
    curve = RunLeft(setting, points).curve(decisive(setting), taking_part=True)
    cell = Cell(LABELS, Experiment(), Look())
    return row_of(Run(cell, figures=STICK, curve=curve), of, VIEWS).marks


@pytest.mark.parametrize(
    ("iteration", "rounds"), [(0, 0.0), (1, 1.0), (2, 1.5), (3, 2.0), (4, 3.0), (6, 4.0), (7, 5.0)]
)
def test_rounds_are_counted_per_node_and_averaged(iteration: int, rounds: float) -> None:
    """Periods 1 and 3: rounds at 0, 1, 2, ... and at 0, 3, 6, ..."""
    assert rounds_before((1, 3), iteration) == rounds


def test_the_yardstick_goes_from_one_at_the_start_to_zero_at_the_optimum() -> None:
    stick = Yardstick(start=0.7, best=0.2)
    assert [stick.left(objective) for objective in (0.7, 0.2)] == [1.0, 0.0]
    assert stick.objective(0.1) == pytest.approx(0.25)


def point(by: Literal["iteration", "time"], iteration: int, objective: float) -> Evaluation:
    return Evaluation(by, iteration, 1.5, 800, objective, 0.0, None, {"test_accuracy": 0.9})


def test_a_curve_becomes_marks_and_what_is_not_finite_is_left_out() -> None:
    points = [point("iteration", 4, 0.3), point("time", 4, 0.2), point("iteration", 8, nan)]
    [found] = marks_of(points, world(periods=(2,) * 8), "mean")
    assert (found.iteration, found.rounds, found.bytes, found.seconds, found.objective) == (4, 2.0, 800.0, 1.5, 0.3)
    assert (found.left, found.mean, found.accuracy) == pytest.approx((0.2, 0.2, 0.9))


def test_targets_are_about_the_nodes_own_models_or_their_mean() -> None:
    own = Own(0.45, 0.7, {"test_accuracy": 0.6}, {"test_accuracy": 0.5}, {"test_accuracy": 0.7})
    points = [replace(point("iteration", 4, 0.3), own=own)]
    [nodes] = marks_of(points, world(), "nodes")
    [mean] = marks_of(points, world(), "mean")
    assert (nodes.left, nodes.accuracy) == pytest.approx((0.5, 0.6))
    assert (mean.left, mean.accuracy) == pytest.approx((0.2, 0.9))
    assert (nodes.mean, nodes.worst) == pytest.approx((0.2, 1.0))


CURVE = [mark(0, 1.0, 0.5), mark(5, 0.4, 0.7), mark(10, 0.1, 0.86), mark(15, 0.12, 0.84)]


@pytest.mark.parametrize(("target", "iteration"), [(0.4, 5), (0.3, 10), (0.1, 10), (0.05, None)])
def test_a_target_is_reached_at_the_first_point_at_or_below_it(target: float, iteration: int | None) -> None:
    found = to_target(row("pame", CURVE), *down_to(target))
    assert (found and found.iteration) == iteration


def test_an_accuracy_is_reached_at_the_first_point_at_or_above_it() -> None:
    run = row("pame", CURVE)
    assert to_target(run, Target("accuracy", 0.7)) == CURVE[1]
    assert to_target(run, Target("accuracy", 0.9)) is None


def test_the_accuracy_to_reach_is_below_the_best_of_all_with_the_same_seed() -> None:
    rows = [
        row("pame", CURVE),
        row("dpsgd", [mark(0, 1.0, 0.9)], view=STANDARDIZED),
        row("pame", [mark(0, 1.0, 0.6)], seed=2),
        row("pame", [mark(0, 1.0)], seed=3),
    ]
    assert accuracy_goals(rows, 1.5) == {1: pytest.approx(0.885), 2: pytest.approx(0.585)}


def test_the_stop_rule_looks_at_the_sum_over_the_nodes_at_the_same_period_for_all() -> None:
    """Steps of 4e-4: three values have a standard deviation of 3.3e-4 times the number of nodes."""
    slow = row("pame", [mark(5 * place, 0.5 - 4e-4 * place) for place in range(8)])
    assert under_stop_rule(slow, nodes=1, every=5) == slow.marks[2]
    assert under_stop_rule(slow, nodes=4, every=5) is None
    assert under_stop_rule(slow, nodes=1, every=10) == slow.marks[4], "points in between are not looked at"


def test_most_targets_then_soonest_to_the_tightest_then_lowest_and_diverged_last() -> None:
    targets = down_to(0.4, 0.1)
    both = row("a", CURVE)
    sooner = row("a", [mark(0, 1.0), mark(5, 0.1)])
    lower = row("a", [mark(0, 1.0), mark(5, 0.05)])
    one = row("a", [mark(0, 1.0), mark(5, 0.2)])
    none = row("a", [mark(0, 1.0), mark(5, 0.5)])
    diverged = row("a", [mark(0, 1.0), mark(5, 0.01), mark(10, 1e6)], status="diverged")
    late = row("a", [mark(0, 1.0), mark(5, 0.01), mark(10, 1.5)])
    assert has_diverged(late), "it ends above where it began"
    silent = row("a", [], status="diverged")
    ranked = sorted([silent, none, diverged, one, both, sooner, lower], key=lambda run: score(run, targets))
    assert ranked == [lower, sooner, both, one, none, diverged, silent]


def test_the_best_setting_is_chosen_whatever_order_the_runs_ended_in(comparison: Comparison) -> None:
    good = [mark(0, 1.0), mark(5, 0.05)]
    small = row("dpsgd", good, seed=100, values=(("algorithm.eta", 0.3),))
    large = row("dpsgd", good, seed=100, values=(("algorithm.eta", 1.0),))
    for rows in ([small, large], [large, small]):
        [choice] = choose(comparison, tunables(comparison), rows)
        assert choice.values == (("algorithm.eta", 0.3),), "equals: the first of the grid"
        assert choice.edges == (Edge("algorithm.eta", 0.3, False),)
        assert (choice.tried, choice.diverged) == (2, 0)


def test_further_settings_are_bounded_and_the_same_number_for_all(tmp_path: Path) -> None:
    more, fewer = ("runs: 2", "runs: 2, more: 1"), ("gamma: [1.0, 1.005]", "gamma: [1.0]")
    comparison = comparison_of(tmp_path, more, fewer)
    key, gamma = "algorithm.eta", ("algorithm.gamma", 1.0)
    rows = [
        row("dpsgd", [mark(0, 1.0), mark(5, left)], 100, values=((key, eta), gamma))
        for eta, left in ((0.3, 0.2), (1.0, 0.05))
    ]
    dpsgd = next(one for one in tunables(comparison) if one.algorithm == "dpsgd")
    done = {Trial(one.cell): one for one in rows}
    [cell] = [trial.cell for trial in next_trials(comparison, [dpsgd], done)]
    assert dict(cell.values)[key] == pytest.approx(10 / 3, rel=1e-5)
    rows.append(replace(rows[-1], cell=cell))
    done |= {Trial(cell): rows[-1]}
    assert all(trial.to_its_end for trial in next_trials(comparison, [dpsgd], done)), "one more was allowed"


def test_a_run_is_the_same_after_it_was_a_line_of_json() -> None:
    point = RunPoint(5, 2.5, 100.0, None, 0.3, {"test_accuracy": 0.9})
    labels = {**LABELS, "values": {"algorithm.eta": 0.3}}
    run = Run(Cell(labels, Experiment(), Look()), STICK, (point,), backend="local", cpu_bound=True)
    line = json.loads(json.dumps({"stage": "tuning", "key": "abc", **run.plain()}))
    assert line["labels"] == labels
    assert (line["seed"], line["backend"], line["curve"][0]["rounds"]) == (run.seed, "local", 2.5)
    assert run_of(line, run.cell) == run
    assert CompareCell("pame", CompareView.AS_PUBLISHED, (), 1).name == "pame_as-published_seed-1"
