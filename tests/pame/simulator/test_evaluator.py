"""Points of the curves, worked out by hand on a two-dimensional bowl."""

from dataclasses import dataclass, replace
from math import inf, nan, sqrt

import numpy as np
import pytest

from pame.algorithms import FixedStep
from pame.byte_account import ByteAccount, Fate
from pame.errors import Diverged
from pame.evaluate import Evaluator
from pame.observe import Evaluation, Record
from pame.problems import LocalObjective, Optimum
from pame.resolved_run import ResolvedRun
from pame.stopping import PaperRule, StopRules
from tests.pame.simulator.harness import PAME, Vector, all_pairs, graph, run, world


@dataclass
class Bowl:
    """f(w) = ||w||^2, or whatever value it is told to have."""

    forced: float | None = None
    n: int = 2
    nodes: int = 2
    metric: str = "depth"

    def objective(self, model: Vector) -> float:
        return float(model @ model) if self.forced is None else self.forced

    def metrics(self, model: Vector) -> dict[str, float]:
        return {"depth": float(model[0])}

    def local(self, node: int) -> LocalObjective:
        raise NotImplementedError

    @property
    def start(self) -> Vector:
        return np.zeros(self.n)

    def optimum(self) -> Optimum:
        raise NotImplementedError


class Points(list[Evaluation]):
    def evaluated(self, evaluation: Evaluation) -> None:
        self.append(evaluation)

    def recorded(self, records: object) -> None:
        raise AssertionError(records)


def evaluator(rules: StopRules, every: int = 4, bowl: Bowl | None = None) -> tuple[Evaluator, Points, ByteAccount]:
    setting = ResolvedRun(1, graph([(0, 1)]), bowl or Bowl(), PAME, (1, 1), rules, evaluate_every=every)
    points, account = Points(), ByteAccount(2)
    return Evaluator(setting, account, points), points, account


MODELS = np.array([[1.0, 0.0], [3.0, 4.0]])
"""The mean is (2, 2); each model is sqrt(5) away from it."""


def test_a_point_has_the_value_at_the_mean_model_and_the_distance_from_it() -> None:
    made, points, account = evaluator(StopRules(100))
    account.add(Fate.SENT, np.array([0, 1]), np.array([1, 0]), np.array([30, 12]))
    account.add(Fate.LOST, np.array([0]), np.array([1]), np.array([500]))
    assert made.evaluate(MODELS, 8, 0.75, "time") is None
    (point,) = points
    assert (point.by, point.iteration, point.seconds, point.bytes) == ("time", 8, 0.75, 42)
    assert point.objective == 8.0
    assert point.consensus == pytest.approx(sqrt(5.0))
    assert point.metrics == {"depth": 2.0}


def test_consensus_is_a_root_mean_square() -> None:
    made, points, _ = evaluator(StopRules(100))
    made.evaluate(np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 0.0]]), 0)
    assert points[0].consensus == pytest.approx(sqrt((1.0 + 1.0 + 4.0) / 3.0))


def test_coverage_is_the_mean_over_the_rounds_since_the_last_point_of_that_curve() -> None:
    made, points, _ = evaluator(StopRules(100))
    made.evaluate(MODELS, 0)
    made.covered(1.0)
    made.covered(2.0)
    made.evaluate(MODELS, 4, 0.1, "iteration")
    made.covered_many(np.array([3.0, 6.0, 6.0]))
    made.evaluate(MODELS, 8, 0.2, "iteration")
    made.evaluate(MODELS, 8, 0.2, "time")
    made.evaluate(MODELS, 12, 0.3, "iteration")
    assert [point.coverage for point in points] == [None, 1.5, 5.0, (1.0 + 2.0 + 3.0 + 6.0 + 6.0) / 5.0, None]


def test_points_are_due_where_the_curves_or_the_stop_rules_want_them() -> None:
    made, _, _ = evaluator(StopRules(10, paper=PaperRule(every=3)), every=4)
    assert [k for k in range(13) if made.due(k)] == [0, 3, 4, 6, 8, 9, 10, 12]


def test_only_a_curve_that_decides_can_end_a_run_or_feed_the_papers_rule() -> None:
    made, _, _ = evaluator(StopRules(100, paper=PaperRule(0.1)), bowl=Bowl(forced=1.0))
    for k in range(6):
        assert made.evaluate(MODELS, k, 0.0, "iteration", decides=False) is None
    assert made.evaluate(MODELS, 6, 0.0, "time") is None
    assert made.evaluate(MODELS, 7, 0.0, "time") is None
    assert made.evaluate(MODELS, 8, 0.0, "time") is not None


def test_an_observer_sees_the_point_that_ends_a_run() -> None:
    made, points, _ = evaluator(StopRules(100, target=10.0))
    assert made.evaluate(MODELS, 4) is not None
    assert len(points) == 1


@pytest.mark.parametrize("value", [nan, inf, 2.1e9])
def test_a_value_that_blew_up_ends_the_run_with_an_error_that_says_what_to_do(value: float) -> None:
    bowl = Bowl(forced=1.0)
    made, points, _ = evaluator(StopRules(100, target=-1.0), bowl=bowl)
    made.evaluate(MODELS, 0)
    bowl.forced = 1.9e9
    made.evaluate(MODELS, 4)
    bowl.forced = value
    with pytest.raises(Diverged, match=r"iteration 8.*step"):
        made.evaluate(MODELS, 8)
    assert len(points) == 3


@pytest.mark.parametrize("driver", ["lock-step", "virtual-time", "vectorised"])
def test_a_step_that_is_far_too_large_ends_every_driver_with_diverged(driver: str) -> None:
    setting = world(all_pairs(3), (2, 2, 2), iterations=200, algorithm=replace(PAME, step=FixedStep(eta=10.0)))
    with pytest.raises(Diverged):
        run(driver, setting, spied=driver != "vectorised")


def test_a_model_that_is_not_finite_names_node_iteration_and_step() -> None:
    spec = replace(PAME, step=FixedStep(eta=1e200, gamma=1.0))
    setting = world(all_pairs(3), (2, 2, 2), iterations=9, algorithm=spec)
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(Diverged, match=r"node 0 .*iteration 1 .*1e\+200"):
        run("lock-step", replace(setting, evaluate_every=1000))


def test_evaluations_of_a_run_agree_with_its_records() -> None:
    found = run("lock-step", world(iterations=10))
    by_hand: list[Record] = [r for r in found.records if 5 <= r.iteration < 10 and r.coverage is not None]
    coverage = [r.coverage for r in by_hand if r.coverage is not None]
    assert found.curve("iteration")[10].coverage == pytest.approx(sum(coverage) / len(coverage))
