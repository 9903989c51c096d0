"""Does it learn? Fixed seeds and generous bounds: these fail if something is badly wrong, not by chance."""

from dataclasses import replace

import numpy as np
import pytest

from pame.algorithms import FixedStep
from pame.links import LinkSpec
from pame.problems import LinearSpec, known_optimum
from pame.resolved_run import ResolvedRun
from pame.rules import Compute, Exchange, Messages
from tests.pame.simulator.harness import DPSGD, PAME, Run, run, world

NODES = 12
PAIRS = [(i, (i + d) % NODES) for i in range(NODES) for d in (1, 2)]
EASY = LinearSpec(n=20, samples=40, nonzeros=0.2, test_samples=20)


def learning(iterations: int = 300) -> ResolvedRun:
    spec = replace(PAME, support=0.3, step=FixedStep(eta=0.1, gamma=1.005))
    return world(PAIRS, tuple(3 + i % 5 for i in range(NODES)), iterations, problem=EASY, algorithm=spec)


def gap(setting: ResolvedRun, found: Run) -> float:
    """The share of the initial suboptimality that is left."""
    best = known_optimum(setting.problem).objective
    start = setting.problem.objective(np.zeros(setting.problem.n))
    return (setting.problem.objective(found.outcome.models.mean(axis=0)) - best) / (start - best)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"messages": Messages(loss=0.3), "exchange": Exchange(patience_s=0.1)},
        {"exchange": Exchange(spare="all"), "compute": Compute(stragglers=0.1)},
        {"exchange": Exchange(mode="free"), "compute": Compute(jitter=0.3)},
    ],
    ids=["clean", "lossy", "first responders", "free"],
)
def test_pame_comes_near_the_optimum(changes: dict[str, object]) -> None:
    setting = replace(learning(), link=LinkSpec(0.005), **changes)  # type: ignore[arg-type]
    found = run("virtual-time", setting)
    assert gap(setting, found) < 0.02


def test_pames_nodes_come_to_agree() -> None:
    setting = learning()
    curve = run("vectorised", setting, spied=False).curve("iteration")
    assert curve[300].consensus < 0.5 * curve[20].consensus


def test_dpsgd_survives_losses_if_the_missing_weight_goes_to_the_node_itself_and_not_if_it_is_dropped() -> None:
    setting = replace(learning(150), algorithm=replace(DPSGD, eta=0.1), periods=(1,) * NODES)
    clean = gap(setting, run("lock-step", setting))
    lossy = replace(setting, messages=Messages(loss=0.2))
    kept = gap(lossy, run("lock-step", lossy))
    naive = replace(lossy, algorithm=replace(DPSGD, eta=0.1, on_loss="naive"))
    dropped = gap(naive, run("lock-step", naive))
    assert kept < 2.0 * clean + 0.001
    assert dropped > 10.0 * kept
