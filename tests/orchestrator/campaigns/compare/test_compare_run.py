"""A run in the simulator: its yardstick, its curve, and its end."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from orchestrator.campaigns.cell import Cell
from orchestrator.campaigns.compare import Comparison
from orchestrator.campaigns.compare.file import Target
from orchestrator.campaigns.compare.grid import CompareCell, CompareView, experiment_of, views
from orchestrator.campaigns.compare.measure import BaselineLook, CompareLook, CompareRow, End, Of, row_of, to_target
from orchestrator.campaigns.compare.tables import remark
from orchestrator.campaigns.compare.tune import choose, tunables
from orchestrator.campaigns.run_left import SENT
from orchestrator.campaigns.simulate import simulate
from orchestrator.campaigns.yardstick import Yardstick, yardstick_of
from orchestrator.experiment import Experiment, load_text, to_yaml
from orchestrator.experiment.resolve import make_setting
from pame.baselines import Baseline
from pame.problems import Problem, known_optimum
from tests.orchestrator.campaigns.compare.builders import comparison_of, down_to, left_at

TARGETS = down_to(0.3, 0.1)


def dpsgd(eta: float, view: CompareView = CompareView.AS_PUBLISHED) -> CompareCell:
    return CompareCell("dpsgd", view, (("algorithm.eta", eta),), 100)


def run(
    comparison: Comparison,
    eta: float,
    end: End | None = None,
    of: Of = "nodes",
    view: CompareView = CompareView.AS_PUBLISHED,
    experiment: Experiment | None = None,
) -> CompareRow:
    """D-PSGD with this step."""
    labels = {"algorithm": "dpsgd", "view": view.value, "values": {"algorithm.eta": eta}}
    experiment = experiment or experiment_of(comparison, dpsgd(eta, view))
    cell = Cell(labels, experiment, CompareLook(TARGETS, end), comparison.path.parent)
    return row_of(simulate(cell), of, {view.value: view})


@pytest.fixture
def problem(comparison: Comparison) -> Problem:
    return make_setting(experiment_of(comparison, dpsgd(1.0)), comparison.path.parent).problem


@pytest.fixture
def stick(comparison: Comparison) -> Yardstick:
    return yardstick_of(make_setting(experiment_of(comparison, dpsgd(1.0)), comparison.path.parent))


def test_the_yardstick_begins_at_log_two_and_nothing_is_below_the_optimum(problem: Problem, stick: Yardstick) -> None:
    assert stick.start == pytest.approx(np.log(2.0))
    best = known_optimum(problem).model
    nearby = [best + 0.01 * direction for direction in np.eye(best.size)]
    assert all(problem.objective(model) > stick.best for model in nearby)


def test_a_run_has_a_point_every_so_many_iterations_to_its_end(comparison: Comparison) -> None:
    row = run(comparison, 1.0)
    assert {mark.iteration for mark in row.marks} >= set(range(0, 65, 5))
    assert all(mark.rounds == mark.iteration for mark in row.marks), "a round at each iteration"
    assert row.marks[0].left == pytest.approx(1.0)
    assert left_at(row.marks[-1]) < 0.1
    assert row.marks[-1].bytes > row.marks[1].bytes > row.marks[0].bytes == 0
    assert all(mark.accuracy is not None and mark.seconds is not None for mark in row.marks)


def test_a_tuning_run_ends_at_the_tightest_target_or_after_its_iterations(comparison: Comparison) -> None:
    whole = run(comparison, 1.0)
    at_target = run(comparison, 1.0, End(TARGETS[0]))
    before = [mark for mark in at_target.marks[:-1] if mark.iteration % 5 == 0]
    assert left_at(at_target.marks[-1]) <= 0.3 < left_at(before[-1])
    assert at_target.marks == whole.marks[: len(at_target.marks)]
    cut = run(comparison, 1.0, End(Target("suboptimality", 1e-9), iterations=10))
    assert cut.marks[-1].iteration == 10


def test_an_algorithm_that_always_diverges_is_said_to(tmp_path: Path) -> None:
    comparison = comparison_of(tmp_path, ("kind: logistic", "kind: linear"), ("[0.3, 1.0]}}", "[1e6, 1e7]}}"))
    rows = [run(comparison, eta) for eta in (1e6, 1e7)]
    assert [row.status for row in rows] == ["diverged", "diverged"]
    [choice] = choose(comparison, tunables(comparison), rows)
    assert not choice.is_usable
    assert remark(choice) == "all of them diverged: try smaller steps"


def test_a_target_is_read_at_the_iteration_at_which_it_is_reached(comparison: Comparison) -> None:
    every = replace(comparison, check_every=1)
    ways: tuple[Of, ...] = ("nodes", "mean")
    for of in ways:
        coarse, fine = (run(some, 1.0, of=of) for some in (comparison, every))
        assert len(coarse.marks) < len(fine.marks)
        for target in TARGETS:
            found, known = to_target(coarse, target), to_target(fine, target)
            assert found is not None
            assert found == known


def test_the_nodes_own_models_are_further_away_than_their_mean(comparison: Comparison) -> None:
    of_nodes = run(comparison, 1.0, of="nodes")
    of_mean = run(comparison, 1.0, of="mean")
    last, other = of_nodes.marks[-1], of_mean.marks[-1]
    assert last.left == last.nodes
    assert other.left == other.mean == last.mean
    assert last.worst is not None
    assert last.worst > left_at(last) > left_at(other)


def baseline(kind: Baseline, comparison: Comparison) -> CompareRow:
    view = CompareView.AS_PUBLISHED
    labels = {"algorithm": kind.value, "view": view.value, "values": {"eta": 1.0, "gamma": 1.0}}
    look = BaselineLook(TARGETS, None, kind, 1.0, 1.0)
    cell = Cell(labels, experiment_of(comparison, dpsgd(1.0)), look, comparison.path.parent)
    return row_of(simulate(cell), "nodes", {view.value: view})


def test_no_communication_is_every_node_alone_and_sends_nothing(
    comparison: Comparison, problem: Problem, stick: Yardstick
) -> None:
    row = baseline(Baseline.ALONE, comparison)
    models = np.zeros((6, 20))
    for k in range(60):
        models -= np.stack([problem.local(i).gradient(models[i], k) for i in range(6)])
    own = np.mean([problem.objective(model) for model in models])
    last = row.marks[-1]
    assert (last.iteration, last.rounds, last.bytes, last.seconds) == (60, 0.0, 0.0, None)
    assert last.left == pytest.approx(stick.left(float(own)))
    assert last.mean == pytest.approx(stick.left(problem.objective(models.mean(axis=0))))


def test_one_node_with_all_data_descends_on_f_itself(
    comparison: Comparison, problem: Problem, stick: Yardstick
) -> None:
    row = baseline(Baseline.TOGETHER, comparison)
    model = np.zeros(20)
    for k in range(60):
        model = model - np.mean([problem.local(i).gradient(model, k) for i in range(6)], axis=0)
    assert row.marks[-1].left == pytest.approx(stick.left(problem.objective(model)))
    assert left_at(row.marks[-1]) < left_at(baseline(Baseline.ALONE, comparison).marks[-1])


def test_bytes_of_algorithms_with_replicas_are_those_of_the_edges_that_take_part(tmp_path: Path) -> None:
    mutual = ("participation: 50%", "participation: 50%, draw: mutual")
    comparison = comparison_of(tmp_path, ("{kind: dpsgd}", "{kind: choco}"), mutual)
    for view, share in ((CompareView.AS_PUBLISHED, 1.0), (views(comparison)[1], 0.25)):
        last = run(comparison, 0.3, view=view).marks[-1]
        assert last.bytes / last.metrics[SENT] == pytest.approx(share, abs=0.15)  # of 30 rounds of 12 links


def test_a_simulated_run_in_which_nobody_hears_anybody_says_so(comparison: Comparison) -> None:
    assert run(comparison, 1.0).health == "sound"
    slow = ["links={delay: 900ms}", "exchange={patience: 10ms}", "compute={step: 1ms}"]
    [variant] = load_text(to_yaml(experiment_of(comparison, dpsgd(1.0))), Path("x"), slow)
    row = run(comparison, 1.0, experiment=variant.experiment)
    assert row.health == "broken"
    assert "nobody hears anybody" in row.health_reason


def test_experiments_that_differ_in_their_name_only_are_one_run(comparison: Comparison) -> None:
    experiment, look = experiment_of(comparison, dpsgd(1.0)), CompareLook(TARGETS)
    one, other = (Cell({}, experiment.model_copy(update={"name": name}), look) for name in ("a", "b"))
    assert one.key("simulate") == other.key("simulate") != one.key("local")
    assert one.key("simulate") != replace(one, look=CompareLook(TARGETS[:1])).key("simulate"), (
        "looked at in another way"
    )
    assert one.key("simulate") != replace(one, experiment=experiment_of(comparison, dpsgd(0.3))).key("simulate")
