"""A run in the simulator: its yardstick, its curve, and its end."""

from pathlib import Path

import numpy as np
import pytest
from compare_world import SMALL, small_file

from orchestrator.compare import Comparison, load_comparison
from orchestrator.compare.grid import Cell, View
from orchestrator.compare.jobs import Job, make_jobs
from orchestrator.compare.measure import Stick
from orchestrator.compare.run import End, measure_stick, simulate_job
from orchestrator.compare.tables import remark
from orchestrator.compare.tune import choose
from orchestrator.plan import make_setting


def job_of(comparison: Comparison, eta: float) -> Job:
    [job] = make_jobs(comparison, [Cell("dpsgd", View.AS_PUBLISHED, (("algorithm.eta", eta),), 100)])
    return job


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    return load_comparison(small_file(tmp_path))


@pytest.fixture
def stick(comparison: Comparison) -> Stick:
    return measure_stick(job_of(comparison, 1.0).experiment, comparison.folder)


def test_the_yardstick_begins_at_log_two_and_nothing_is_below_the_optimum(comparison: Comparison, stick: Stick) -> None:
    problem = make_setting(job_of(comparison, 1.0).experiment, comparison.folder).problem
    assert stick.start == pytest.approx(np.log(2.0))
    best = problem.optimum().model
    nearby = [best + 0.01 * direction for direction in np.eye(best.size)]
    assert all(problem.objective(model) > stick.best for model in nearby)


def test_a_run_has_a_point_every_so_many_iterations_to_its_end(comparison: Comparison, stick: Stick) -> None:
    row = simulate_job(job_of(comparison, 1.0), comparison.folder, stick)
    assert [mark.iteration for mark in row.marks] == list(range(0, 65, 5))
    assert [mark.rounds for mark in row.marks] == list(range(0, 65, 5)), "a round at each iteration"
    assert row.marks[0].left == pytest.approx(1.0)
    assert row.marks[-1].left < 0.1
    assert row.marks[-1].bytes > row.marks[1].bytes > row.marks[0].bytes == 0
    assert all(mark.accuracy is not None and mark.seconds is not None for mark in row.marks)


def test_a_tuning_run_ends_at_the_tightest_target_or_after_its_iterations(comparison: Comparison, stick: Stick) -> None:
    whole = simulate_job(job_of(comparison, 1.0), comparison.folder, stick)
    at_target = simulate_job(job_of(comparison, 1.0), comparison.folder, stick, End(0.3))
    assert at_target.marks[-1].left <= 0.3 < at_target.marks[-2].left
    assert at_target.marks == whole.marks[: len(at_target.marks)]
    cut = simulate_job(job_of(comparison, 1.0), comparison.folder, stick, End(1e-9, iterations=10))
    assert cut.marks[-1].iteration == 10


def test_an_algorithm_that_always_diverges_is_said_to(tmp_path: Path) -> None:
    text = SMALL.replace("kind: logistic", "kind: linear").replace("[0.3, 1.0]}}", "[1e6, 1e7]}}")
    comparison = load_comparison(small_file(tmp_path, text))
    rows = [simulate_job(job_of(comparison, eta), tmp_path, Stick(1.0, 0.0)) for eta in (1e6, 1e7)]
    assert [row.status for row in rows] == ["diverged", "diverged"]
    [choice] = choose(comparison, rows)
    assert not choice.is_usable
    assert remark(choice) == "all of them diverged: try smaller steps"
