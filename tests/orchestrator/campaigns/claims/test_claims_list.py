"""The list of claims: complete, and every experiment of it is one that can be run."""

from itertools import product
from pathlib import Path

import pytest

from orchestrator.campaigns.claims import CLAIMS, ClaimsMode
from orchestrator.campaigns.claims.campaign import ClaimsCampaign
from orchestrator.campaigns.claims.claim import ClaimExperiments, OfComparison, OfStudy, experiment_of
from orchestrator.campaigns.compare.grid import experiment_of as compared_experiment
from orchestrator.campaigns.compare.grid import tuning_cells
from orchestrator.experiment.resolve import choose_driver, make_topology
from orchestrator.results.paired import ENOUGH_SEEDS
from pame.algorithms import FixedStep, PameSpec, PenaltyStep

WITH_EXPERIMENTS = [key for key, claim in CLAIMS.items() if isinstance(claim.source, ClaimExperiments)]


def experiments_of(key: str) -> ClaimExperiments:
    source = CLAIMS[key].source
    assert isinstance(source, ClaimExperiments)
    return source


def test_all_claims_of_the_paper_are_there() -> None:
    assert list(CLAIMS) == [
        "transmission-rate",
        "participation-rate",
        "communication-period",
        "connectivity",
        "large-m",
        "fewest-rounds",
        "half-volume",
        "stragglers",
        "link-failure",
        "time-varying-graphs",
        "linear-rate",
        "data-heterogeneity",
        "natural-images",
    ]
    for claim in CLAIMS.values():
        assert claim.statement.endswith(".")
        assert claim.criterion.startswith("decides")
        assert not claim.criterion.endswith(".")
        assert claim.origin.startswith("In our words; of the paper (arXiv:2603.01730) only the abstract is at hand.")
        assert claim.instead, "what is tested instead, and why"


def test_what_was_fitted_and_to_what_is_said_where_it_is_used() -> None:
    for key in WITH_EXPERIMENTS:
        assert "0.055" in CLAIMS[key].instead, key
        assert "fitted" in CLAIMS[key].instead, key
    assert "prints 320 iterations, which we read as 32" in CLAIMS["large-m"].instead


@pytest.mark.parametrize("key", ["transmission-rate", "participation-rate", "communication-period", "connectivity"])
def test_every_self_comparison_runs_both_steps_on_both_kinds_of_graph(key: str) -> None:
    source = experiments_of(key)
    for mode, nodes in ((ClaimsMode.QUICK, {32}), (ClaimsMode.FULL, {32, 64, 128})):
        seen = set()
        for run in source.runs(mode):
            experiment = experiment_of(key, source.base, run, 1)
            assert isinstance(experiment.algorithm, PameSpec)
            seen.add((experiment.algorithm.step, experiment.topology.kind, experiment.nodes))
        steps = (PenaltyStep(sigma0=1.0, gamma=1.005), FixedStep(eta=0.055, gamma=1.005))
        assert seen == set(product(steps, ("erdos-renyi", "random-regular"), nodes))


def test_quick_mode_gives_verdicts_but_for_what_takes_long_which_is_a_look() -> None:
    few = {key for key, claim in CLAIMS.items() if len(claim.seeds(ClaimsMode.QUICK)) < ENOUGH_SEEDS}
    assert few == {"large-m", "data-heterogeneity", "natural-images"}
    assert all(len(claim.seeds(ClaimsMode.FULL)) >= ENOUGH_SEEDS for claim in CLAIMS.values())


@pytest.mark.parametrize("mode", ClaimsMode)
@pytest.mark.parametrize("key", WITH_EXPERIMENTS)
def test_every_experiment_of_a_claim_validates(key: str, mode: ClaimsMode) -> None:
    source = experiments_of(key)
    runs = source.runs(mode)
    assert len({run.key for run in runs}) == len(runs)
    for run in runs:
        experiment = experiment_of(key, source.base, run, 1)
        expected = "vectorised" if isinstance(experiment.algorithm, PameSpec) else "lock-step"
        assert choose_driver(experiment) == expected
        if experiment.nodes <= 100:
            assert make_topology(experiment, Path()).nodes == experiment.nodes


@pytest.mark.parametrize("key", WITH_EXPERIMENTS)
def test_quick_runs_are_among_the_full_ones(key: str) -> None:
    source = experiments_of(key)
    assert set(source.runs(ClaimsMode.QUICK)) <= set(source.runs(ClaimsMode.FULL))


def test_studies_run_whole_in_full_mode_and_small_in_quick_mode() -> None:
    for key in ("stragglers", "link-failure"):
        claim = CLAIMS[key]
        assert isinstance(claim.source, OfStudy)
        tuning = {ClaimsMode.QUICK: 10, ClaimsMode.FULL: 30}
        quick, full = (ClaimsCampaign((claim,), mode, 1).count_runs() - tuning[mode] for mode in ClaimsMode)
        assert quick == 14
        assert full == 16 * len(claim.source.study.conditions)


@pytest.mark.parametrize(("mode", "n"), [(ClaimsMode.QUICK, 200), (ClaimsMode.FULL, 1000)])
def test_the_comparison_can_be_run_in_both_modes(mode: ClaimsMode, n: int) -> None:
    source = CLAIMS["half-volume"].source
    assert isinstance(source, OfComparison)
    [plan] = source.plans("half-volume", mode, (1, 2, 3)).values()
    assert plan.seeds == (1, 2, 3)
    cells = tuning_cells(plan)
    assert len(cells) == 5 * 2 * plan.tuning.runs + len(plan.printed)  # which has nothing to tune
    for cell in cells:
        experiment = compared_experiment(plan, cell)
        assert choose_driver(experiment) == "lock-step"
        assert experiment.nodes == 32
        assert getattr(experiment.problem, "n", 0) == n


def test_the_least_number_of_runs_is_known_beforehand() -> None:
    alone = ClaimsCampaign((CLAIMS["connectivity"], CLAIMS["stragglers"]), ClaimsMode.QUICK, 3)
    assert alone.count_runs() == 4 * 4 * 3 + 14 * 3 + 10, "five steps each for PaME and D-PSGD, with one seed"
    both = ClaimsCampaign((CLAIMS["fewest-rounds"], CLAIMS["half-volume"]), ClaimsMode.QUICK, 1)
    [plan] = OfComparison().plans("fewest-rounds", ClaimsMode.QUICK, (1,)).values()
    tuning = len(tuning_cells(plan))
    assert both.count_runs() == tuning + 5 * 2 + 1, "the comparison is shared; PaME as printed is as published only"


def test_seeds_are_those_of_the_mode_unless_somebody_wants_others() -> None:
    claim = CLAIMS["large-m"]
    assert claim.seeds(ClaimsMode.QUICK) == (1,)
    assert claim.seeds(ClaimsMode.FULL) == (1, 2, 3)
    assert claim.seeds(ClaimsMode.QUICK, 2) == (1, 2)


def test_claims_that_share_an_experiment_run_it_once() -> None:
    """The base of transmission, participation and connectivity is the same: s/n and nu of 0.2, 30 % as neighbours."""
    keys = ("transmission-rate", "participation-rate", "connectivity")
    [stage] = ClaimsCampaign(tuple(CLAIMS[key] for key in keys), ClaimsMode.QUICK, 1).stages()
    known = [cell.key("simulate") for cell in stage.cells]
    assert len(known) == 3 * 4 * 4
    assert len(set(known)) == len(known) - 2 * 4, "under each of four conditions, three are one"
