"""All twelve algorithms against their equations in matrix form: node objects, and both simulators."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pytest

from pame.algorithms import (
    SPECS,
    AlgorithmSpec,
    AnqNidsSpec,
    BeerSpec,
    ChocoSpec,
    DcdPsgdSpec,
    DfedavgmSpec,
    DfedsamSpec,
    DmgtSvrgSpec,
    DpsgdSpec,
    EpidemicSpec,
    FixedStep,
    NidsSpec,
    PameSpec,
    PenaltyStep,
    SquarmSpec,
)
from pame.algorithms.replica_node import ReplicaSpec
from pame.byte_account import Fate
from pame.compressors import AdaptiveQuantizer, Quantize, RandomK, Sign, TopK
from pame.links import LinkSpec
from pame.problems.base import Matrix
from pame.resolved_run import ResolvedRun
from pame.rules import Compute, Values
from tests.pame.algorithms.builders import (
    ALWAYS,
    DIFFERENT,
    ITERATIONS,
    NODES,
    UNEQUAL,
    AnyReplicaSpec,
    N,
    OnLoss,
    linear,
    logistic,
    setting_of,
    with_loss,
)
from tests.pame.algorithms.harness import driven, gradients, simulated
from tests.pame.algorithms.matrix_oracle import matrix_history
from tests.pame.algorithms.oracle import edge_weights, q_of

TWOS, THREES = (2,) * NODES, (3,) * NODES
Periods = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    spec: AlgorithmSpec
    periods: Periods = ALWAYS
    loss: float = 0.0
    batch: int | None = None
    values: Values = "float64"
    iterations: int = ITERATIONS

    def __str__(self) -> str:
        return f"{self.spec.kind} {''.join(map(str, self.periods))} {self.loss} {self.batch}"

    def setting(self) -> ResolvedRun:
        on_linear = isinstance(self.spec, ReplicaSpec | PameSpec) or (
            isinstance(self.spec, DpsgdSpec) and self.spec.participation == 1.0
        )
        problem = linear(self.batch) if on_linear else logistic(self.batch)
        return setting_of(self.spec, problem, self.periods, self.iterations, loss=self.loss, values=self.values)


def pame() -> Iterator[Case]:
    for step in (PenaltyStep(sigma0=4.0, gamma=1.01), FixedStep(eta=0.1, gamma=1.01)):
        spec = PameSpec(participation=0.5, support=6, step=step)
        yield Case(spec, DIFFERENT, iterations=30)
        yield Case(spec, DIFFERENT, batch=7, iterations=30)
        yield Case(spec, DIFFERENT, values="float32", iterations=30)
        yield Case(spec, DIFFERENT, loss=0.4, iterations=30)


def dpsgd() -> Iterator[Case]:
    orders: tuple[Literal["mix-first", "step-first"], ...] = ("mix-first", "step-first")
    for order in orders:
        yield Case(DpsgdSpec(eta=0.1, order=order), DIFFERENT, batch=7, iterations=30)
        yield Case(DpsgdSpec(eta=0.1, order=order), DIFFERENT, values="float32", iterations=30)
        for mixing in ("metropolis", "uniform"):
            spec = DpsgdSpec(eta=0.1, gamma=1.01, mixing=mixing, order=order)
            yield from (Case(spec, periods, iterations=30) for periods in (ALWAYS, TWOS, DIFFERENT))
            for on_loss in ("self", "naive"):
                yield Case(replace(spec, gamma=1.0, on_loss=on_loss), (1, 1, 2, 1, 2, 1), loss=0.4, iterations=30)
    for periods, participation in SCHEDULES:
        yield Case(DpsgdSpec(eta=0.5, participation=participation, draw="mutual"), periods, batch=7)
        yield Case(DpsgdSpec(eta=0.5, participation=participation, draw="directed"), periods, batch=7)


def epidemic() -> Iterator[Case]:
    for fan_out in (1, 2, 3, 5):
        for periods in (ALWAYS, TWOS, DIFFERENT):
            for sampling in ("local", "oracle"):
                spec = EpidemicSpec(sampling=sampling, fan_out=fan_out, eta=0.5, gamma=1.01)
                yield Case(spec, periods, batch=7)


SCHEDULES: list[tuple[Periods, float]] = [
    (ALWAYS, 1.0), (TWOS, 1.0), (ALWAYS, 0.5), (TWOS, 0.5), (DIFFERENT, 0.5), (DIFFERENT, 1.0)
]  # fmt: skip
FLOWS_AND_AVERAGES: tuple[DfedavgmSpec | DfedsamSpec | NidsSpec | DmgtSvrgSpec, ...] = (
    DfedavgmSpec(eta=0.2, gamma=1.01, momentum=0.8),
    DfedsamSpec(eta=0.5, gamma=1.01, rho=0.3),
    NidsSpec(eta=0.8, gamma=1.01, dual=0.7),
    DmgtSvrgSpec(eta=0.2, gamma=1.01, momentum=0.4, snapshot_every=6),
)


def flows_and_averages() -> Iterator[Case]:
    for spec in FLOWS_AND_AVERAGES:
        for periods, participation in SCHEDULES:
            for batch in (None, 7):
                yield Case(replace(spec, participation=participation), periods, batch=batch)
    yield Case(NidsSpec(eta=0.8), loss=0.3)
    yield Case(DmgtSvrgSpec(eta=0.2, snapshot_every=6), loss=0.3, batch=7)
    for on_loss in ("self", "naive"):
        yield Case(DfedavgmSpec(eta=0.2, on_loss=on_loss), THREES, loss=0.4)
        yield Case(DfedsamSpec(eta=0.5, rho=0.1, on_loss=on_loss), loss=0.4)
    for periods, participation in SCHEDULES:
        quantized = DfedavgmSpec(eta=0.1, participation=participation, compressor=Quantize(bits=6))
        yield from (Case(quantized, periods, loss=loss) for loss in (0.0, 0.4))


REPLICAS: tuple[AnyReplicaSpec, ...] = (
    ChocoSpec(eta=0.05, gamma=1.01, gam=0.3, compressor=TopK(share=0.2)),
    BeerSpec(eta=0.05, gam=0.3, compressor=TopK(share=0.2)),
    AnqNidsSpec(eta=0.1, compressor=AdaptiveQuantizer(eta=0.01, shrink=0.97), dual=0.7),
    DcdPsgdSpec(eta=0.05),
    SquarmSpec(eta=0.01, momentum=0.8, threshold=300.0, compressor=Sign()),
    SquarmSpec(eta=0.01, momentum=0.8, threshold=300.0, compressor=TopK(share=0.2)),
)
REPLICAS_ON_BATCHES: tuple[AnyReplicaSpec, ...] = (
    ChocoSpec(eta=0.05, gamma=1.01, gam=0.2, compressor=RandomK(share=0.2)),
    ChocoSpec(eta=0.05, gamma=1.01, gam=0.2, compressor=Quantize(bits=4, unbiased=False)),
    ChocoSpec(eta=0.05, gamma=1.01, gam=0.2, compressor=Sign()),
    BeerSpec(eta=0.05, gamma=1.01, gam=0.1, compressor=RandomK(share=0.2)),
    BeerSpec(eta=0.05, gamma=1.01, gam=0.1, compressor=Quantize(bits=4, unbiased=False)),
    AnqNidsSpec(eta=0.1, gamma=1.01, gam=0.5, compressor=AdaptiveQuantizer(eta=0.01, shrink=0.97)),
    DcdPsgdSpec(eta=0.05, gamma=1.01, compressor=RandomK(share=0.8, unbiased=True)),
    SquarmSpec(eta=0.01, gamma=1.01, momentum=0.8, threshold=100.0, growth=0.5),
)


ANSWERS: tuple[tuple[OnLoss, Periods], ...] = (("acknowledged", UNEQUAL), ("resync", UNEQUAL), ("naive", TWOS))


def replicas() -> Iterator[Case]:
    for spec in REPLICAS:
        for periods, participation in ((ALWAYS, 1.0), (ALWAYS, 0.5), (TWOS, 1.0), (TWOS, 0.5), (UNEQUAL, 0.5)):
            yield Case(replace(spec, participation=participation), periods)
        for on_loss, others in ANSWERS:
            yield from (Case(with_loss(spec, on_loss, 3), periods, loss=0.2) for periods in (ALWAYS, others))
    yield from (Case(spec, batch=9) for spec in REPLICAS_ON_BATCHES)


CASES = [*pame(), *dpsgd(), *epidemic(), *flows_and_averages(), *replicas()]


def check(setting: ResolvedRun, expected: list[Matrix]) -> None:
    """Node objects agree at every k; the simulators, with and without a clock, end with the nodes' very bits."""
    nodes = setting.nodes()
    history = driven(setting, nodes)
    assert np.abs(expected[-1]).max() > 0.1
    np.testing.assert_allclose(np.stack(history), np.stack(expected), rtol=0.0, atol=1e-12)
    outcome, account = simulated(setting)
    assert outcome.models.tobytes() == history[-1].tobytes()
    assert (account.messages(Fate.LOST) > 0) == (setting.messages.loss > 0.0)
    slow = replace(setting, link=LinkSpec(0.03, 0.029, 1e6), compute=Compute(jitter=0.8))
    timed, account = simulated(slow, "virtual-time")
    assert timed.models.tobytes() == history[-1].tobytes()
    assert (timed.exact, account.messages(Fate.LATE)) == (outcome.exact, 0)
    if not isinstance(setting.algorithm, ReplicaSpec):
        assert sum(node.desynchronised for node in nodes) == 0


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_algorithm_equals_its_matrix_form(case: Case) -> None:
    setting = case.setting()
    check(setting, matrix_history(setting))


def test_every_algorithm_is_checked() -> None:
    assert {case.spec.kind for case in CASES} == set(SPECS)


def test_pame_is_exact_if_and_only_if_nothing_is_lost() -> None:
    for case in pame():
        assert simulated(case.setting())[0].exact == (case.loss == 0.0)


def test_nids_with_a_round_at_every_iteration_is_the_two_step_recursion_of_the_paper() -> None:
    setting = setting_of(NidsSpec(eta=0.8), logistic())

    def half(k: int) -> Matrix:
        return (np.eye(NODES) + q_of(edge_weights(k, ALWAYS, 1.0))) / 2

    before = np.zeros((NODES, N))
    slopes = gradients(setting, before, 0)
    models = half(0) @ (before - 0.8 * slopes)
    history = [before, models]
    for k in range(1, ITERATIONS):
        now = gradients(setting, models, k)
        before, models = models, half(k) @ (2 * models - before - 0.8 * (now - slopes))
        slopes = now
        history.append(models)
    check(setting, history)


def test_with_a_round_at_every_iteration_momentum_changes_nothing_in_dfedavgm() -> None:
    without, setting = (setting_of(DfedavgmSpec(eta=0.2, momentum=theta), logistic()) for theta in (0.0, 0.9))
    check(setting, matrix_history(without))
