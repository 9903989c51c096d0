from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.campaigns.options import CampaignError
from orchestrator.campaigns.studies import STUDIES, Study
from orchestrator.campaigns.studies.grid import READINGS, base_experiment, experiment_of
from orchestrator.experiment import ExperimentError
from orchestrator.experiment.resolve import make_network_setting, make_setting
from pame.algorithms.step_sizes import PenaltyStep
from tests.orchestrator.campaigns.studies.builders import SMALL, small_file
from tests.orchestrator.experiment.faults.builders import links_hit

ROOT = Path(__file__).parents[4]
EVERY = list(STUDIES.values())


def file_of(study: Study) -> Path:
    return ROOT / "experiments" / f"study-{study.name}.yaml"


@pytest.mark.parametrize("study", EVERY, ids=lambda study: study.name)
def test_the_grid_has_every_policy_in_every_condition_with_every_seed(study: Study) -> None:
    base = base_experiment(file_of(study))
    keys = {policy.key for policy in study.policies(base)}
    assert keys == {
        *(f"pame-{spare}-{patience}" for spare in (0, 1, 2, 4, "all") for patience in ("long", "adaptive")),
        "free",
        *(f"{policy}-printed" for policy in ("pame-all-long", "pame-0-long", "free")),
        "dpsgd-long",
        "dpsgd-adaptive",
    }
    cells = study.cells(base, (1, 2))
    assert len(cells) == len({cell.name for cell in cells}) == 2 * len(keys) * len(study.conditions)


@pytest.mark.parametrize("study", EVERY, ids=lambda study: study.name)
def test_every_cell_of_a_grid_can_be_built_and_says_what_its_name_says(study: Study) -> None:
    path = file_of(study)
    base = base_experiment(path)
    for cell in study.cells(base, (3,)):
        experiment = experiment_of(cell, path)
        assert experiment.seed == 3
        assert experiment.nodes == 16
        assert experiment.compute is not None
        assert experiment.compute.step_s == 0.02
        assert experiment.stop.seconds == base.stop.seconds
        assert experiment.algorithm.kind == ("dpsgd" if cell.policy.key.startswith("dpsgd") else "pame")
        assert experiment.exchange.mode == ("free" if cell.policy.key.startswith("free") else "rounds")
        make_setting(experiment, path.parent)


@pytest.mark.parametrize("study", EVERY, ids=lambda study: study.name)
def test_at_most_twelve_cells_run_for_real_within_about_six_minutes(study: Study) -> None:
    base = base_experiment(file_of(study))
    cells = study.real_cells(base, 1)
    assert 1 <= len(cells) == len(set(cells)) <= 12
    assert sum(base.stop.seconds or 0 for _ in cells) <= 300, "the rest is for starting and reports"
    for cell in cells:
        make_network_setting(experiment_of(cell, file_of(study)), ROOT)


@pytest.mark.parametrize(("chosen", "etas"), [({}, (0.03, 0.03)), ({"pame": 0.5, "dpsgd": 0.07}, (0.5, 0.07))])
def test_pame_and_d_psgd_have_the_steps_that_tuning_chose_for_each_or_that_of_the_base(
    tmp_path: Path, chosen: dict[str, float], etas: tuple[float, float]
) -> None:
    path = small_file(tmp_path)
    path.write_text(SMALL.replace("eta: 0.05, gamma: 1.0", "eta: 0.03, gamma: 1.25"))
    study = replace(STUDIES["stragglers"], etas=chosen)
    for cell in study.cells(base_experiment(path), (1,)):
        step = experiment_of(cell, path).algorithm.step  # type: ignore[attr-defined]
        if cell.policy.key.endswith("-printed"):
            assert step == PenaltyStep(sigma0=1.0, gamma=1.005), "nothing is tuned in it"
        else:
            assert (step.eta, step.gamma) == (etas[cell.policy.key.startswith("dpsgd")], 1.25)


def test_each_reading_has_its_policy_with_both_steps() -> None:
    study = STUDIES["link-failure"].small()
    policies = {policy.key: policy.settings for policy in study.policies(base_experiment(file_of(study)))}
    assert {reading.policy for reading in READINGS} == set(policies) - {"dpsgd-long"}
    for reading in READINGS[:3]:
        tuned, printed = policies[reading.policy], policies[f"{reading.policy}-printed"]
        assert tuned[1:] == printed[1:], "they differ in the step only"


def test_a_small_study_has_few_cells_and_two_for_real() -> None:
    study = STUDIES["stragglers"].small()
    base = base_experiment(file_of(study))
    assert len(study.cells(base, (1,))) == 14
    assert [cell.name for cell in study.real_cells(base, 1)] == [
        "pame-all-long_30-at-10x_seed-1",
        "dpsgd-long_30-at-10x_seed-1",
    ]


def test_slow_nodes_and_failing_links_are_those_of_the_condition() -> None:
    stragglers, failing = STUDIES["stragglers"], STUDIES["link-failure"]
    path = file_of(stragglers)
    [cell] = [cell for cell in stragglers.cells(base_experiment(path), (1,)) if cell.name == "free_30-at-50x_seed-1"]
    setting = make_setting(experiment_of(cell, path), path.parent)
    assert len(setting.compute.slow_nodes(1, 16)) == 5
    assert setting.compute.slowdown == 50
    path = file_of(failing)
    cells = {cell.name: cell for cell in failing.cells(base_experiment(path), (1,))}
    setting = make_setting(experiment_of(cells["free_links-50_seed-1"], path), path.parent)
    assert len({link for event in setting.plan for link in links_hit(event)}) == 64, "half of 64 edges, both ways"
    assert make_setting(experiment_of(cells["free_messages-30_seed-1"], path), path.parent).messages.loss == 0.3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("compute: {step: 10ms}", ""), "give compute.step and stop.seconds"),
        ((", seconds: 1.5s", ""), "give compute.step and stop.seconds"),
        (("kind: fixed, eta: 0.05, gamma: 1.0", "kind: penalty"), "step.kind: fixed"),
        (("period: 1..3", "period: [1, 2]"), "a sweep cannot be the base"),
        (
            ("kind: linear, n: 12, samples: 20, test_samples: 50, truth_shift: 0.2", "kind: image-classification"),
            "the optimum, which nobody knows of image-classification",
        ),
    ],
)
def test_a_file_that_cannot_be_the_base_of_a_study_is_refused(
    tmp_path: Path, change: tuple[str, str], words: str
) -> None:
    path = tmp_path / "base.yaml"
    path.write_text(SMALL.replace(*change))
    with pytest.raises(CampaignError, match=words):
        base_experiment(path)


def test_a_condition_with_a_mistake_is_an_error_of_the_experiment(tmp_path: Path) -> None:
    study = STUDIES["stragglers"]
    path = small_file(tmp_path)
    cell = study.cells(base_experiment(path), (1,))[0]
    wrong = replace(cell, condition=replace(cell.condition, settings=("compute.stragglers=many",)))
    with pytest.raises(ExperimentError, match="stragglers"):
        experiment_of(wrong, path)
