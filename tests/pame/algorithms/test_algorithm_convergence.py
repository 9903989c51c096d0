"""Where the algorithms end: in a ball that shrinks with the step or at the optimum, and what lost messages change."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from pame.algorithms import (
    ChocoSpec,
    DcdPsgdSpec,
    DfedavgmSpec,
    DfedsamSpec,
    DmgtSvrgSpec,
    DpsgdSpec,
    EpidemicSpec,
    NidsSpec,
    SquarmSpec,
)
from pame.byte_account import Fate
from pame.compressors import AdaptiveQuantizer, Quantize
from pame.problems.base import Matrix
from pame.problems.regression import Regression
from pame.resolved_run import ResolvedRun
from tests.pame.algorithms.builders import (
    ALWAYS,
    ANQ_NIDS,
    BEER,
    NODES,
    AnyReplicaSpec,
    N,
    linear,
    logistic,
    setting_of,
    with_loss,
)
from tests.pame.algorithms.harness import distance, driven, simulated, suboptimality, worst

pytestmark = pytest.mark.slow

Measure = Callable[[ResolvedRun, Matrix], float]
Spec = DpsgdSpec | DfedavgmSpec | DfedsamSpec | EpidemicSpec | NidsSpec | DmgtSvrgSpec | AnyReplicaSpec
THREES, FIVES = (3,) * NODES, (5,) * NODES


@dataclass(frozen=True)
class End:
    """How far a run is from the optimum when it ends."""

    measure: Measure
    spec: Spec
    problem: Regression
    iterations: int
    periods: tuple[int, ...] = ALWAYS

    def left(self, spec: Spec | None = None, **changes: Any) -> float:
        setting = setting_of(spec or self.spec, self.problem, self.periods, **{"iterations": self.iterations} | changes)
        return self.measure(setting, driven(setting)[-1])


def by_kind(value: object) -> str | None:
    return value.spec.kind if isinstance(value, End) else None


LOCAL, ORACLE = (EpidemicSpec(sampling=sampling, fan_out=2, eta=0.5) for sampling in ("local", "oracle"))


@pytest.mark.parametrize(
    ("end", "smaller", "iterations", "most", "share"),
    [
        (End(worst, DpsgdSpec(eta=0.1), linear(samples=30), 400), DpsgdSpec(eta=0.025), 1600, 0.001, 0.5),
        (End(distance, DpsgdSpec(eta=0.1), linear(samples=30), 400), DpsgdSpec(eta=0.025), 1600, 0.05, 0.5),
        (End(distance, ChocoSpec(eta=0.05), linear(), 400), ChocoSpec(eta=0.0125), 1600, 0.05, 0.5),
        (End(distance, DcdPsgdSpec(eta=0.05), linear(), 400), DcdPsgdSpec(eta=0.0125), 1600, 0.05, 0.5),
        (End(distance, SquarmSpec(eta=0.01), linear(), 400), SquarmSpec(eta=0.0025), 1600, 0.1, 0.7),
        (End(worst, LOCAL, logistic(), 300), replace(LOCAL, eta=0.05), 300, 0.3, 0.2),
        (End(worst, ORACLE, logistic(), 300), replace(ORACLE, eta=0.05), 300, 0.3, 0.2),
        (End(worst, DfedavgmSpec(eta=0.1), logistic(), 400, FIVES), DfedavgmSpec(eta=0.01), 400, 0.6, 0.1),
        (End(worst, DfedsamSpec(eta=0.5, rho=0.01), logistic(), 200), DfedsamSpec(eta=0.05, rho=0.01), 200, 0.3, 0.1),
    ],
    ids=by_kind,
)
def test_it_ends_in_a_ball_around_the_optimum_that_shrinks_with_the_step(
    end: End, smaller: Spec, iterations: int, most: float, share: float
) -> None:
    far, near = end.left(), end.left(smaller, iterations=iterations)
    assert far < most
    assert near < share * far


HALF_OF_THEM = DpsgdSpec(eta=0.05, participation=0.5, draw="mutual")


@pytest.mark.parametrize(
    ("end", "most", "naive"),
    [
        (End(worst, DpsgdSpec(), linear(samples=30), 300), 1.1, 100),
        (End(worst, HALF_OF_THEM, logistic(), 400), 1.5, 5),
        (End(worst, DfedavgmSpec(eta=0.02), logistic(), 200, THREES), 1.3, 20),
        (End(worst, DfedsamSpec(eta=0.1), logistic(), 200), 1.3, 20),
        (End(worst, replace(LOCAL, eta=0.1), logistic(), 200), 5, 100),
        (End(worst, replace(ORACLE, eta=0.1), logistic(), 200), 5, 100),
        (End(suboptimality, with_loss(ChocoSpec(eta=0.05), "acknowledged"), linear(), 300), 1.3, 30),
        (End(suboptimality, with_loss(ChocoSpec(eta=0.05), "resync"), linear(), 300), 1.3, 30),
        (End(suboptimality, with_loss(SquarmSpec(eta=0.01), "acknowledged"), linear(), 300), 1.3, 5),
        (End(suboptimality, with_loss(SquarmSpec(eta=0.01), "resync"), linear(), 300), 1.3, 5),
        (End(suboptimality, with_loss(DcdPsgdSpec(eta=0.05), "acknowledged"), linear(), 300), 1.6, 1000),
        (End(suboptimality, with_loss(DcdPsgdSpec(eta=0.05), "resync"), linear(), 300), 1.6, 1000),
    ],
    ids=by_kind,
)
def test_a_tenth_of_the_messages_lost_costs_little_unless_what_is_missing_is_ignored(
    end: End, most: float, naive: float
) -> None:
    without = end.left()
    assert end.left(loss=0.1) < most * without
    assert end.left(replace(end.spec, on_loss="naive"), loss=0.1) > naive * without


@pytest.mark.parametrize(
    ("end", "naive_measure", "naive"),
    [
        (End(worst, NidsSpec(eta=0.8), logistic(), 300), worst, 1e-4),
        (End(worst, DmgtSvrgSpec(eta=0.2), logistic(10), 250), worst, 1e-4),
        (End(worst, with_loss(BEER, "acknowledged"), linear(), 900), suboptimality, 0.1),
        (End(worst, with_loss(BEER, "resync"), linear(), 900), suboptimality, 0.1),
        (End(worst, with_loss(ANQ_NIDS, "acknowledged"), linear(), 400), suboptimality, 0.1),
        (End(worst, with_loss(ANQ_NIDS, "resync"), linear(), 400), suboptimality, 0.1),
    ],
    ids=by_kind,
)
def test_with_a_tenth_of_the_messages_lost_the_optimum_is_still_reached_unless_the_ends_of_an_edge_disagree(
    end: End, naive_measure: Measure, naive: float
) -> None:
    assert end.left(loss=0.1) < 1e-8
    assert replace(end, measure=naive_measure).left(replace(end.spec, on_loss="naive"), loss=0.1) > naive


@pytest.mark.parametrize(
    "end",
    [
        End(worst, NidsSpec(eta=0.8), logistic(), 400),
        End(worst, NidsSpec(eta=0.8, mixing="uniform"), logistic(), 400),
        End(worst, NidsSpec(eta=0.8, participation=0.5), logistic(), 400),
        End(worst, NidsSpec(eta=0.2), logistic(), 400, FIVES),
        End(worst, NidsSpec(eta=0.4), logistic(), 400, (2, 1, 3, 2, 1, 2)),
        End(worst, DmgtSvrgSpec(eta=0.2), logistic(10), 200),
        End(worst, DmgtSvrgSpec(eta=0.2, momentum=0.0), logistic(10), 300),
        End(worst, DmgtSvrgSpec(eta=0.1, momentum=0.5, participation=0.5), logistic(10), 500),
        End(worst, DmgtSvrgSpec(eta=0.1, momentum=0.5), logistic(10), 500, THREES),
    ],
    ids=by_kind,
)
def test_every_node_reaches_the_optimum(end: End) -> None:
    assert end.left() < 1e-8


@pytest.mark.parametrize(("spec", "half", "share"), [(BEER, 300, 0.1), (ANQ_NIDS, 200, 0.05)], ids=["beer", "anq-nids"])
def test_with_compressed_messages_the_optimum_is_reached_linearly(
    spec: AnyReplicaSpec, half: int, share: float
) -> None:
    end = End(distance, spec, linear(), 2 * half)
    assert replace(end, measure=worst).left() < 1e-8
    assert end.left() < share * end.left(iterations=half)


def test_anq_nids_needs_a_few_bits_per_coordinate_and_an_error_that_shrinks() -> None:
    _, account = simulated(setting_of(ANQ_NIDS, iterations=400))
    assert 8 * account.bytes(Fate.SENT) / account.messages(Fate.SENT) / N < 16
    end = End(distance, ANQ_NIDS, linear(), 400)
    assert end.left(replace(ANQ_NIDS, compressor=AdaptiveQuantizer(eta=0.01, shrink=1.0))) > 100 * end.left()


def test_where_edges_are_seldom_active_the_duals_of_nids_do_not_drift_away() -> None:
    end = End(worst, NidsSpec(eta=0.2, participation=0.3), logistic(), 300, (3, 4, 5, 3, 4, 5))
    assert end.left(iterations=3000) < end.left() / 10


def test_momentum_is_faster_at_the_same_step() -> None:
    end = End(worst, DfedavgmSpec(eta=0.005, momentum=0.9), logistic(), 100, FIVES)
    assert end.left() < 0.7 * end.left(DfedavgmSpec(eta=0.005, momentum=0.0))


def test_eight_bits_end_where_whole_models_do_and_three_do_not() -> None:
    end = End(worst, DfedavgmSpec(eta=0.02), logistic(), 300, FIVES)
    whole, fine, coarse = (
        end.left(DfedavgmSpec(eta=0.02, compressor=compressor))
        for compressor in (None, Quantize(bits=8), Quantize(bits=3))
    )
    assert fine < 1.2 * whole
    assert coarse > 1.5 * whole


def test_a_larger_perturbation_of_dfedsam_ends_farther_from_the_optimum() -> None:
    end = End(worst, DfedsamSpec(eta=0.05, rho=0.01), logistic(), 200)
    assert end.left(DfedsamSpec(eta=0.05, rho=1.0)) > 5 * end.left()


def test_dfedsam_is_not_dpsgd_which_takes_the_gradient_before_averaging() -> None:
    end = End(worst, DfedsamSpec(eta=0.5, rho=0.0), logistic(), 50)
    assert end.left() != end.left(DpsgdSpec(eta=0.5))
