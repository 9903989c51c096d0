"""The comparison file: what it says, and what it answers to mistakes."""

from pathlib import Path

import pytest

from orchestrator.campaigns.compare import load_comparison
from orchestrator.campaigns.compare.grid import CompareCell, CompareView, experiment_of
from orchestrator.experiment import ExperimentError
from tests.orchestrator.campaigns.compare.builders import SMALL, comparison_of, down_to, small_file


def test_a_file_is_read_with_the_paper_s_values_where_it_says_nothing(tmp_path: Path) -> None:
    lines = [line for line in SMALL.splitlines() if not line.startswith(("standardized", "tuning", "seeds", "targets"))]
    found = load_comparison(small_file(tmp_path, "\n".join(lines)))
    assert list(found.entries) == ["pame", "dpsgd", "pame-as-printed"]
    assert (found.of, found.standardized.readings) == ("nodes", "this")
    assert (found.standardized.period.min, found.standardized.period.max) == (3, 7)
    assert found.standardized.participation == 0.2
    assert (found.tuning.seed, found.tuning.runs, found.seeds) == (100, 8, (1, 2, 3))
    assert found.targets == down_to(0.2, 0.1, 0.05)
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
        ("[0.3, 0.1]}", "[0.3], objective: [0.5]}", "targets: give one of suboptimality, accuracy and objective"),
        (SMALL, "nodes: 6\n", "is no comparison file: it has neither base nor algorithms"),
    ],
)
def test_a_mistake_is_answered_with_what_to_do(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in SMALL
    with pytest.raises(ExperimentError) as caught:
        load_comparison(small_file(tmp_path, SMALL.replace(old, new, 1)))
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "small.yaml"))


def test_a_mistake_is_told_with_its_line_also_one_of_an_experiment_that_it_makes(tmp_path: Path) -> None:
    bad = SMALL.replace("  nodes: 6", "  nodes: 6\n  nodez: 7", 1)
    line = bad.splitlines().index("  nodez: 7") + 1
    found = load_comparison(small_file(tmp_path, bad))
    with pytest.raises(ExperimentError) as caught:
        experiment_of(found, CompareCell("dpsgd", CompareView.AS_PUBLISHED, (), 1))
    assert str(caught.value).startswith(f"{tmp_path / 'small.yaml'}:{line}: base.nodez: unknown key")
    bad = SMALL.replace("seeds: [1, 2]", "sedes: [1, 2]", 1)
    line = bad.splitlines().index("sedes: [1, 2]") + 1
    with pytest.raises(ExperimentError, match=rf"small\.yaml:{line}: sedes: unknown key"):
        load_comparison(small_file(tmp_path, bad))


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
    comparison = comparison_of(tmp_path, (old, new))
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
