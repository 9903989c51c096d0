"""A comparison from its file to its rows."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from orchestrator.campaigns.cell import Cell
from orchestrator.campaigns.compare import Comparison, load_comparison
from orchestrator.campaigns.compare.grid import CompareCell, CompareView, experiment_of, views
from orchestrator.campaigns.compare.measure import (
    BaselineLook,
    CompareLook,
    CompareRow,
    End,
    Of,
    row_of,
    to_suboptimality,
)
from orchestrator.campaigns.compare.tables import remark
from orchestrator.campaigns.compare.tune import choose
from orchestrator.campaigns.curves import SENT
from orchestrator.campaigns.simulate import simulate
from orchestrator.campaigns.yardstick import Yardstick, yardstick_of
from orchestrator.experiment import Experiment, ExperimentError, load_text, to_yaml
from orchestrator.experiment.resolve import make_setting
from pame.baselines import Baseline
from pame.problems import known_optimum
from tests.orchestrator.campaigns.compare.builders import SMALL, small_file


def test_a_file_is_read_with_the_paper_s_values_where_it_says_nothing(tmp_path: Path) -> None:
    lines = [line for line in SMALL.splitlines() if not line.startswith(("standardized", "tuning", "seeds", "targets"))]
    found = load_comparison(small_file(tmp_path, "\n".join(lines)))
    assert list(found.entries) == ["pame", "dpsgd", "pame-as-printed"]
    assert (found.of, found.standardized.readings) == ("nodes", "this")
    assert (found.standardized.period.min, found.standardized.period.max) == (3, 7)
    assert found.standardized.participation == 0.2
    assert (found.tuning.seed, found.tuning.runs, found.seeds) == (100, 8, (1, 2, 3))
    assert found.targets == (0.2, 0.1, 0.05)
    assert (found.accuracy_points, found.check_every) == (1.5, 5)


def test_settings_of_the_base_can_be_overridden(tmp_path: Path) -> None:
    found = load_comparison(small_file(tmp_path), ["nodes=8", "problem.n=30"])
    experiment = experiment_of(found, CompareCell("dpsgd", CompareView.AS_PUBLISHED, (), 1))
    assert (experiment.nodes, getattr(experiment.problem, "n", None)) == (8, 30)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("name: small", "", "name: is missing"),
        ("seeds:", "seed:", "seed: unknown key; did you mean 'seeds'?"),
        ("seeds: [1, 2]", "seeds: []", "seeds: got the list [], expected a list of whole numbers such as [1, 2, 3]"),
        ("  nodes: 6", "  nodes: 6\n  seed: 3", "base.seed: give seeds and tuning.seed instead"),
        ("  nodes: 6", "  nodes: 6\n  period: 3", "base.period: each algorithm has its own, below algorithms"),
        ("  nodes: 6", "  nodes: 6\n  algorithm: {kind: pame}", "base.algorithm: each algorithm has its own"),
        ("{iterations: 60}", "{iterations: 60, target: 0.1}", "base.stop.target: runs go on to stop.iterations"),
        ("{iterations: 60}", "{seconds: 5s}", "base.stop.iterations: algorithms are compared by iterations too"),
        ("seed: 100", "seed: 2", "tuning.seed: 2 is one of the seeds; tune on a seed that is not compared"),
        ("[0.3, 0.1]}", "[0.3, 1.0]}", "targets.suboptimality.1: got 1.0, expected a number above 0 and below 1"),
        ("period: 1,", "", "algorithms.dpsgd.period: is missing; expected a whole number of at least 1, or a range"),
        ("period: 1,", "perod: 1,", "algorithms.dpsgd.perod: unknown key; did you mean 'period'?"),
        ("{algorithm.eta: [0.3, 1.0]}", "{eta: [1]}", "algorithms.dpsgd.tune.eta: only settings of the algorithm"),
        ("{algorithm.eta: [0.3, 1.0]}", "{algorithm.eta: 1}", "tune.algorithm.eta: give a list of values to try"),
        ("algorithm.eta: [0.3", "algorithm.participation: [0.3", "algorithm.participation: the views decide it"),
        ("  dpsgd:", "  d psgd/:", "algorithms.d psgd/: name it with at most 40 letters, digits, - _ ."),
        ("algorithms:", "algorithms: 3\nothers:", "expected a section with an entry per algorithm"),
    ],
)
def test_a_mistake_is_answered_with_what_to_do(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in SMALL
    with pytest.raises(ExperimentError) as caught:
        load_comparison(small_file(tmp_path, SMALL.replace(old, new, 1)))
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "small.yaml"))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("{kind: dpsgd}", "{kind: dpsgdd}", "algorithms.dpsgd.algorithm.kind: unknown kind 'dpsgdd'"),
        ("{kind: dpsgd}", "{kind: dpsgd, mixin: uniform}", "algorithms.dpsgd.algorithm.mixin: unknown key"),
        ("nodes: 6", "nodes: 1", "base.nodes: got 1, expected a whole number of at least 2"),
        ("nodes: 6", "nodes: [6, 8]", "nodes: a list makes no sweep here"),
    ],
)
def test_a_mistake_in_an_experiment_says_below_which_algorithm(tmp_path: Path, old: str, new: str, words: str) -> None:
    comparison = load_comparison(small_file(tmp_path, SMALL.replace(old, new, 1)))
    with pytest.raises(ExperimentError, match=r"small\.yaml") as caught:
        experiment_of(comparison, CompareCell("dpsgd", CompareView.AS_PUBLISHED, (), 1))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "words"),
    [("algorithm.eta=1", "--set algorithm.eta: each algorithm has its own"), ("nodes", "not of the form key=value")],
)
def test_only_the_base_can_be_overridden(tmp_path: Path, setting: str, words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        load_comparison(small_file(tmp_path), [setting])
    assert words in str(caught.value)


def test_an_experiment_file_is_no_comparison(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError) as caught:
        load_comparison(small_file(tmp_path, "nodes: 6\n"))
    assert "is no comparison file: it has neither base nor algorithms" in str(caught.value)


TARGETS = (0.3, 0.1)


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
    cell = Cell(labels, experiment, CompareLook(TARGETS, end), comparison.folder)
    return row_of(simulate(cell), of, {view.value: view})


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    return load_comparison(small_file(tmp_path))


@pytest.fixture
def stick(comparison: Comparison) -> Yardstick:
    return yardstick_of(make_setting(experiment_of(comparison, dpsgd(1.0)), comparison.folder))


def test_the_yardstick_begins_at_log_two_and_nothing_is_below_the_optimum(
    comparison: Comparison, stick: Yardstick
) -> None:
    problem = make_setting(experiment_of(comparison, dpsgd(1.0)), comparison.folder).problem
    assert stick.start == pytest.approx(np.log(2.0))
    best = known_optimum(problem).model
    nearby = [best + 0.01 * direction for direction in np.eye(best.size)]
    assert all(problem.objective(model) > stick.best for model in nearby)


def test_a_run_has_a_point_every_so_many_iterations_to_its_end(comparison: Comparison) -> None:
    row = run(comparison, 1.0)
    assert {mark.iteration for mark in row.marks} >= set(range(0, 65, 5))
    assert all(mark.rounds == mark.iteration for mark in row.marks), "a round at each iteration"
    assert row.marks[0].left == pytest.approx(1.0)
    assert row.marks[-1].left < 0.1
    assert row.marks[-1].bytes > row.marks[1].bytes > row.marks[0].bytes == 0
    assert all(mark.accuracy is not None and mark.seconds is not None for mark in row.marks)


def test_a_tuning_run_ends_at_the_tightest_target_or_after_its_iterations(comparison: Comparison) -> None:
    whole = run(comparison, 1.0)
    at_target = run(comparison, 1.0, End(0.3))
    before = [mark for mark in at_target.marks[:-1] if mark.iteration % 5 == 0]
    assert at_target.marks[-1].left <= 0.3 < before[-1].left
    assert at_target.marks == whole.marks[: len(at_target.marks)]
    cut = run(comparison, 1.0, End(1e-9, iterations=10))
    assert cut.marks[-1].iteration == 10


def test_an_algorithm_that_always_diverges_is_said_to(tmp_path: Path) -> None:
    text = SMALL.replace("kind: logistic", "kind: linear").replace("[0.3, 1.0]}}", "[1e6, 1e7]}}")
    comparison = load_comparison(small_file(tmp_path, text))
    rows = [run(comparison, eta) for eta in (1e6, 1e7)]
    assert [row.status for row in rows] == ["diverged", "diverged"]
    [choice] = choose(comparison, rows)
    assert not choice.is_usable
    assert remark(choice) == "all of them diverged: try smaller steps"


def test_a_target_is_read_at_the_iteration_at_which_it_is_reached(comparison: Comparison) -> None:
    every = replace(comparison, check_every=1)
    ways: tuple[Of, ...] = ("nodes", "mean")
    for of in ways:
        coarse, fine = (run(some, 1.0, of=of) for some in (comparison, every))
        assert len(coarse.marks) < len(fine.marks)
        for target in (0.3, 0.1):
            found, known = to_suboptimality(coarse, target), to_suboptimality(fine, target)
            assert found is not None
            assert found == known


def test_the_nodes_own_models_are_further_away_than_their_mean(comparison: Comparison) -> None:
    of_nodes = run(comparison, 1.0, of="nodes")
    of_mean = run(comparison, 1.0, of="mean")
    last, other = of_nodes.marks[-1], of_mean.marks[-1]
    assert last.left == last.nodes
    assert other.left == other.mean == last.mean
    assert last.worst is not None
    assert last.worst > last.left > other.left


def baseline(kind: Baseline, comparison: Comparison) -> CompareRow:
    view = CompareView.AS_PUBLISHED
    labels = {"algorithm": kind.value, "view": view.value, "values": {"eta": 1.0, "gamma": 1.0}}
    look = BaselineLook(TARGETS, None, kind, 1.0, 1.0)
    cell = Cell(labels, experiment_of(comparison, dpsgd(1.0)), look, comparison.folder)
    return row_of(simulate(cell), "nodes", {view.value: view})


def test_no_communication_is_every_node_alone_and_sends_nothing(comparison: Comparison, stick: Yardstick) -> None:
    row = baseline(Baseline.ALONE, comparison)
    setting = make_setting(experiment_of(comparison, dpsgd(1.0)), comparison.folder)
    models = np.zeros((6, 20))
    for k in range(60):
        models -= np.stack([setting.problem.local(i).gradient(models[i], k) for i in range(6)])
    own = np.mean([setting.problem.objective(model) for model in models])
    last = row.marks[-1]
    assert (last.iteration, last.rounds, last.bytes, last.seconds) == (60, 0.0, 0.0, None)
    assert last.left == pytest.approx(stick.left(float(own)))
    assert last.mean == pytest.approx(stick.left(setting.problem.objective(models.mean(axis=0))))


def test_one_node_with_all_data_descends_on_f_itself(comparison: Comparison, stick: Yardstick) -> None:
    row = baseline(Baseline.TOGETHER, comparison)
    setting = make_setting(experiment_of(comparison, dpsgd(1.0)), comparison.folder)
    model = np.zeros(20)
    for k in range(60):
        model = model - np.mean([setting.problem.local(i).gradient(model, k) for i in range(6)], axis=0)
    assert row.marks[-1].left == pytest.approx(stick.left(setting.problem.objective(model)))
    assert row.marks[-1].left < baseline(Baseline.ALONE, comparison).marks[-1].left


def test_bytes_of_algorithms_with_replicas_are_those_of_the_edges_that_take_part(tmp_path: Path) -> None:
    text = SMALL.replace("{kind: dpsgd}", "{kind: choco}").replace(
        "participation: 50%", "participation: 50%, draw: mutual"
    )
    comparison = load_comparison(small_file(tmp_path, text))
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
    assert one.key("simulate") != replace(one, look=CompareLook((0.3,))).key("simulate"), "looked at in another way"
    assert one.key("simulate") != replace(one, experiment=experiment_of(comparison, dpsgd(0.3))).key("simulate")
