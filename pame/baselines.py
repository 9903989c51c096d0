"""What needs no exchange, to compare with: every node alone with its own data, and one node with everybody's.

no communication         w_i <- w_i - eta/gamma^k grad f_i(w_i; batch)             f of the w_i, and of their mean
one node with all data   w   <- w   - eta/gamma^k (1/m) sum_i grad f_i(w; batch)   as many steps, all samples
"""

from enum import Enum

import numpy as np

from pame.algorithms import FixedStep
from pame.algorithms.gradient_step import descend
from pame.byte_account import ByteAccount
from pame.evaluate import Evaluator
from pame.observe import Observer
from pame.resolved_run import ResolvedRun


class Baseline(Enum):
    ALONE = "no communication"
    TOGETHER = "one node with all data"


def run_baseline(kind: Baseline, setting: ResolvedRun, step: FixedStep, observer: Observer) -> None:
    """To the first stop rule; of the setting its algorithm, periods and links do not matter."""
    evaluator = Evaluator(setting, ByteAccount(setting.topology.nodes), observer)
    local = [setting.problem.local(node) for node in range(setting.topology.nodes)]
    models = [setting.start] * (len(local) if kind is Baseline.ALONE else 1)
    k = 0
    while True:
        if evaluator.due(k) and evaluator.evaluate(np.stack(models), k) is not None:
            return
        size = step.size(k, 1)
        if kind is Baseline.ALONE:
            slopes = [objective.gradient(model, k) for objective, model in zip(local, models, strict=True)]
        else:
            slopes = [np.mean([objective.gradient(models[0], k) for objective in local], axis=0)]
        pairs = enumerate(zip(models, slopes, strict=True))
        models = [descend(model, size, slope, node, k) for node, (model, slope) in pairs]
        k += 1
