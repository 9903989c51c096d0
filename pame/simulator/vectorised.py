"""PaME for thousands of nodes: all models in one array, all draws of an iteration at once.

Same draws as the algorithm objects, equal to rounding. Who averages whom at iteration k is a sparse 0/1 matrix S
(receivers x senders), the supports a mask M, and with W the models:

    lambda = S M,    v = S (M * W) / lambda  where lambda > 0, else W,    W <- v - step * grad(v)

What limits it: memory holds the data, nodes * samples * n doubles, and a full local batch reads all of it twice per
iteration.
"""

from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pame.algorithms import PameSpec
from pame.algorithms.gradient_step import check_finite
from pame.byte_account import ByteAccount
from pame.evaluate import Evaluator
from pame.exchange import as_sent
from pame.message_check import MessageCheck
from pame.observe import Observer, RunOutcome
from pame.problems.base import StackedProblem
from pame.randomness import Purpose
from pame.randomness.many import subsets_of_nodes, uniforms_of_links
from pame.resolved_run import ResolvedRun
from pame.sampling import participation
from pame.simulator.driver_check import check
from pame.simulator.vectorised_account import IterationExchange, enter, records

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]


def run_vectorised(setting: ResolvedRun, observer: Observer, account: ByteAccount) -> RunOutcome:
    check("vectorised", setting)
    spec = cast(PameSpec, setting.algorithm)
    problem = cast(StackedProblem, setting.problem).stacked()
    evaluator = Evaluator(setting, account, observer)
    enough = np.array([participation(spec.share, degree) for degree in setting.topology.degrees.tolist()])
    periods = np.array(setting.periods)
    message_check = MessageCheck(setting, [setting.node(0, setting.selection())])
    models = np.tile(setting.start, (setting.topology.nodes, 1))
    k = 0
    while True:
        if evaluator.due(k):
            reason = evaluator.evaluate(models, k)
            if reason is not None:
                return RunOutcome(models, k, None, reason, account.clean)
        active = np.flatnonzero(k % periods == 0)
        exchange = _exchange(setting, models, active, enough, spec.support_size(models.shape[1]), k)
        coverage = _average(models, exchange)
        evaluator.covered_many(coverage)
        sizes = enter(setting, message_check, account, exchange, k)
        observer.recorded(records(models.shape[0], enough, exchange, coverage, sizes, k))
        steps = np.array([spec.step.size(k, t) for t in range(1, int(enough.max()) + 1)])[enough - 1]
        gradient = problem.gradient(models, k)
        gradient *= steps[:, None]
        models -= gradient
        if not np.isfinite(models.sum()):
            for node, model in enumerate(models):
                check_finite(model, node, k, float(steps[node]))
        k += 1


def _exchange(
    setting: ResolvedRun, models: Matrix, active: Indices, enough: Indices, s: int, k: int
) -> IterationExchange:
    """All draws of one iteration, for the nodes that aggregate: candidates, supports, lost messages."""
    receivers, candidates = _candidates(setting, active, enough, k)
    senders = np.unique(candidates)
    u = np.ones(receivers.size)
    if setting.messages.loss > 0:
        u = uniforms_of_links(setting.seed, Purpose.MESSAGE_LOSS, candidates, receivers, k)
    return IterationExchange(
        active=active,
        senders=senders,
        mask=subsets_of_nodes(setting.seed, Purpose.SUPPORT, senders, k, models.shape[1], s),
        revealed=as_sent(models[senders], setting.messages.value_type),
        receiver=np.searchsorted(active, receivers),
        sender=np.searchsorted(senders, candidates),
        reached=u >= setting.messages.loss,
    )


def _candidates(setting: ResolvedRun, active: Indices, enough: Indices, k: int) -> tuple[Indices, Indices]:
    """Receiver and sender of every message, receivers ascending, then senders."""
    offsets, targets = setting.topology.adjacency
    degrees = setting.topology.degrees
    receivers, senders = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for degree in np.unique(degrees[active]).tolist():
        nodes = active[degrees[active] == degree]
        t = int(enough[nodes[0]])
        chosen = np.nonzero(subsets_of_nodes(setting.seed, Purpose.CANDIDATES, nodes, k, degree, t))[1]
        receivers.append(np.repeat(nodes, t))
        senders.append(targets[np.repeat(offsets[nodes], t) + chosen])
    receiver, sender = np.concatenate(receivers), np.concatenate(senders)
    order = np.lexsort((sender, receiver))
    return receiver[order], sender[order]


def _average(models: Matrix, exchange: IterationExchange) -> NDArray[np.float64]:
    """Replace the active nodes' models by their averages; the mean coverage of each."""
    ends = (exchange.receiver[exchange.reached], exchange.sender[exchange.reached])
    shape = (exchange.active.size, exchange.senders.size)
    chosen = sparse.csr_array((np.ones(ends[0].size), ends), shape=shape)
    coverage: Matrix = chosen @ exchange.mask.astype(np.float64)
    total: Matrix = chosen @ np.where(exchange.mask, exchange.revealed, 0.0)
    average = models[exchange.active]
    np.divide(total, coverage, out=average, where=coverage > 0)
    models[exchange.active] = average
    return np.asarray(coverage.mean(axis=1))
