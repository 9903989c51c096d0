"""Both steps are tuned with the same grid and the same bound on tries."""

from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.campaigns.cell import Stage, Stages
from orchestrator.campaigns.studies import STUDIES
from orchestrator.campaigns.studies.grid import TUNING_SEEDS, StudyCell, base_experiment, experiment_of
from orchestrator.campaigns.studies.measure import StudyRow
from orchestrator.campaigns.studies.tune import Tuned, tune
from tests.orchestrator.campaigns.studies.builders import row, small_file

STUDY = STUDIES["stragglers"]
Made = Callable[[str, float, int], StudyRow]


def tuned(folder: Path, made: Made) -> tuple[tuple[Tuned, ...], list[StudyCell]]:
    """With runs that are made up from policy and eta; and the cells that were asked for."""
    path, asked = small_file(folder), list[StudyCell]()

    def runs_of(cells: list[StudyCell]) -> Stages[list[StudyRow]]:
        asked.extend(cells)
        yield Stage("tuning", ())
        etas = [experiment_of(cell, path).algorithm.step.eta for cell in cells]  # type: ignore[attr-defined]
        return [made(cell.policy.key, eta, cell.seed) for cell, eta in zip(cells, etas, strict=True)]

    tuning = tune(STUDY, base_experiment(path), runs_of)
    try:
        while True:
            next(tuning)
    except StopIteration as end:
        return end.value, asked


def near(best: float) -> Made:
    return lambda policy, eta, _seed: row(policy, "none", 1.0 + abs(eta - best))


def test_both_try_the_same_five_values_without_trouble_on_seeds_of_their_own(tmp_path: Path) -> None:
    found, asked = tuned(tmp_path, near(0.05))
    assert [each.algorithm for each in found] == ["pame", "dpsgd"]
    for each in found:
        assert [eta for eta, _ in each.tried] == pytest.approx([0.0125, 0.025, 0.05, 0.1, 0.2])
        assert (each.eta, each.beyond) == (0.05, None)
    assert {cell.policy.key for cell in asked} == {"pame-all-long", "dpsgd-long"}
    assert {(cell.condition.key, cell.seed) for cell in asked} == {("none", seed) for seed in TUNING_SEEDS}


def test_each_has_its_own_best_and_a_best_at_an_end_is_followed_but_not_for_ever(tmp_path: Path) -> None:
    def made(policy: str, eta: float, seed: int) -> StudyRow:
        return near(0.4)(policy, eta, seed) if policy.startswith("pame") else row(policy, "none", eta)

    (pame, dpsgd), asked = tuned(tmp_path, made)
    assert (pame.eta, len(pame.tried)) == (0.4, 7)
    assert (dpsgd.eta, len(dpsgd.tried)) == pytest.approx((0.0125 / 8, 8))
    assert dpsgd.beyond is not None, "three more, and still at the end"
    assert len(asked) == 15 * len(TUNING_SEEDS)


def test_a_step_that_diverges_later_or_misses_the_target_never_wins(tmp_path: Path) -> None:
    def made(policy: str, eta: float, seed: int) -> StudyRow:
        if eta > 0.15 and seed == TUNING_SEEDS[1]:
            return row(policy, "none", 0.1, status="diverged")
        return row(policy, "none", None if eta < 0.04 else 5.0 - eta, left=eta)

    (pame, _), _ = tuned(tmp_path, made)
    assert pame.eta == pytest.approx(0.1)


def test_if_all_miss_the_one_that_comes_nearest_is_taken(tmp_path: Path) -> None:
    (pame, _), _ = tuned(tmp_path, lambda policy, eta, _: row(policy, "none", None, left=abs(eta - 0.1)))
    assert pame.eta == pytest.approx(0.1)


def test_a_step_that_reaches_the_target_with_more_seeds_is_better_than_a_sooner_one(tmp_path: Path) -> None:
    def made(policy: str, eta: float, seed: int) -> StudyRow:
        if eta > 0.06:
            return row(policy, "none", None if seed == TUNING_SEEDS[0] else 0.5)
        return row(policy, "none", 3.0 - eta)

    (pame, _), _ = tuned(tmp_path, made)
    assert pame.eta == pytest.approx(0.05)


def test_a_small_study_tunes_on_one_seed(tmp_path: Path) -> None:
    cells = STUDY.small().tuning_cells(base_experiment(small_file(tmp_path)), "dpsgd", 0.1)
    assert [cell.seed for cell in cells] == [TUNING_SEEDS[0]]
