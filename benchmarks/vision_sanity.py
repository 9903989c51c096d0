"""Whether networks learn as they must: softmax, a small CNN, and 16 nodes against one, on Fashion-MNIST, fixed seeds.

    pame data prepare fashion-mnist
    python -m benchmarks.vision_sanity             about three minutes on two quiet cores

One node is plain stochastic gradient descent through the gradients that every node takes. The 16 nodes (D-PSGD, IID,
random regular graph of degree 4) see as many samples in all; their batches are a quarter of its batches, so that one
iteration of all is four of its batches.
"""

import sys
import time
from collections.abc import Callable, Sequence

from rich.console import Console
from threadpoolctl import threadpool_limits

from benchmarks.printing import print_goals, table_of
from contract.problem_inputs import build_problem
from orchestrator.backends.nodes_on_cores import nodes_on_cores
from pame import topology
from pame.algorithms.dpsgd import DpsgdSpec
from pame.byte_account import ByteAccount
from pame.errors import PameError
from pame.network_specs import CnnSpec, NetworkSpec, SoftmaxSpec
from pame.observe import Evaluation, Record
from pame.problems import ImageClassificationSpec, Problem
from pame.problems.image_classification import ACCURACY
from pame.resolved_run import ResolvedRun
from pame.simulator import run_lock_step
from pame.stopping import StopRules
from pame.topology.kinds import RandomRegular

SEED, SAMPLES, BATCH, EPOCHS, NODES = 1, 60_000, 32, 5, 16
SOFTMAX, CNN, APART = 0.83, 0.88, 0.02


class Accuracies:
    """Of the mean model, at every point."""

    def __init__(self) -> None:
        self.found: list[float] = []

    def evaluated(self, evaluation: Evaluation) -> None:
        self.found.append(evaluation.metrics[ACCURACY])

    def recorded(self, records: Sequence[Record]) -> None:
        """Not watched."""


def problem(model: NetworkSpec, nodes: int, batch: int) -> Problem:
    return build_problem(ImageClassificationSpec(model=model, batch=batch), nodes, SEED)


def alone(model: NetworkSpec, steps_of: Sequence[float]) -> list[float]:
    """Test accuracy after each epoch, each with a step size of its own."""
    made = problem(model, 1, BATCH)
    vector, objective, accuracies = made.start, made.local(0), []
    steps = SAMPLES // BATCH
    for epoch, size in enumerate(steps_of):
        for k in range(epoch * steps, (epoch + 1) * steps):
            vector = vector - size * objective.gradient(vector, k)
        accuracies.append(made.metrics(vector)[ACCURACY])
    return accuracies


def together(eta: float) -> list[float]:
    """The same number of samples, shared out over all nodes: test accuracy of the mean model after each epoch."""
    batch = BATCH // 4
    steps = SAMPLES // (batch * NODES)
    watcher = Accuracies()
    setting = ResolvedRun(
        seed=SEED,
        topology=topology.build(RandomRegular(degree=4), NODES, SEED),
        problem=problem(CnnSpec(), NODES, batch),
        algorithm=DpsgdSpec(eta=eta),
        periods=(1,) * NODES,
        stop=StopRules(EPOCHS * steps),
        evaluate_every=steps,
        own_models=False,
    )
    with nodes_on_cores(setting) as group:
        run_lock_step(setting, watcher, ByteAccount(NODES), group)
    return watcher.found[1:]


RUNS: dict[str, Callable[[], list[float]]] = {
    "softmax regression, one node, eta 0.01 / epoch": lambda: alone(SoftmaxSpec(), (0.01, 0.005, 0.01 / 3)),
    "small CNN, one node, eta 0.05": lambda: alone(CnnSpec(), (0.05,) * EPOCHS),
    "small CNN, 16 nodes, D-PSGD, IID, eta 0.1": lambda: together(0.1),
}


def main() -> int:
    console = Console(width=110)
    table = table_of("Test accuracy after each epoch of Fashion-MNIST", ("", "accuracy", "seconds"), words="")
    last: dict[str, float] = {}
    with threadpool_limits(1):
        for name, run in RUNS.items():
            begin = time.perf_counter()
            accuracies = run()
            last[name] = accuracies[-1]
            shown = " ".join(f"{accuracy:.1%}" for accuracy in accuracies)
            table.add_row(name, shown, f"{time.perf_counter() - begin:.0f}")
    console.print(table)
    softmax, one, many = last.values()
    goals = (
        (f"softmax regression reaches {SOFTMAX:.0%}: {softmax:.1%}", softmax >= SOFTMAX),
        (f"the small CNN reaches {CNN:.0%} within {EPOCHS} epochs: {one:.1%}", one >= CNN),
        (f"16 nodes end within {100 * APART:g} points of one: {many:.1%}", many >= one - APART),
    )
    print_goals(console, goals)
    return 0 if all(reached for _, reached in goals) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PameError as error:
        sys.exit(f"error: {error}")
