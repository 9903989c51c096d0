"""All twelve algorithms as recursions of matrices, row i of X the model of node i: the models before each iteration.

Written from the papers' equations and the rules of who mixes with whom (`oracle`), never from the nodes' code.
"""

from collections.abc import Iterator, Sequence
from functools import singledispatch
from itertools import count, islice
from math import ceil

import numpy as np

from pame.algorithms import (
    AnqNidsSpec,
    BeerSpec,
    ChocoSpec,
    DcdPsgdSpec,
    DfedavgmSpec,
    DfedsamSpec,
    DmgtSvrgSpec,
    DpsgdSpec,
    EpidemicSpec,
    NidsSpec,
    PameSpec,
    PenaltyStep,
    SquarmSpec,
)
from pame.compressors import expand
from pame.problems.base import Matrix
from pame.randomness import Key, Purpose, subset
from pame.resolved_run import ResolvedRun
from pame.sampling import candidates, support
from pame.topology.regular_draw import regular_neighbours
from tests.pame.algorithms.builders import NEIGHBOURS, NODES, SEED, N
from tests.pame.algorithms.harness import gradients
from tests.pame.algorithms.oracle import Gossip, drawn_weights, edge_weights, q_as_received, q_of, rests


def at_rounds(setting: ResolvedRun, k: int) -> Matrix:
    """A column: 1 for whoever is at a round."""
    return np.array([[float(k % period == 0)] for period in setting.periods])


def as_sent(setting: ResolvedRun, models: Matrix) -> Matrix:
    return models.astype(np.float32).astype(float) if setting.messages.values == "float32" else models


def matrix_history(setting: ResolvedRun) -> list[Matrix]:
    """The models before each iteration, and after the last one."""
    return list(islice(matrix_form(setting.algorithm, setting), setting.stop.last_iteration + 1))


@singledispatch
def matrix_form(spec: object, setting: ResolvedRun) -> Iterator[Matrix]:
    raise NotImplementedError(type(spec).__name__)


@matrix_form.register
def pame(spec: PameSpec, setting: ResolvedRun) -> Iterator[Matrix]:
    """Algorithm 1 with sigma kept as it is printed, and Algorithm 2 coordinate by coordinate."""
    models = np.zeros((NODES, N))
    sigma = spec.step.sigma0 if isinstance(spec.step, PenaltyStep) else 1.0 / spec.step.eta
    assert isinstance(spec.support, int)
    for k in count():
        yield models
        averages, divisors = models.copy(), np.full((NODES, 1), sigma)
        supports = [set(support(SEED, j, k, N, spec.support).tolist()) for j in range(NODES)]
        for i in range(NODES):
            t = max(1, ceil(spec.participation * len(NEIGHBOURS[i])))
            divisors[i] *= t if isinstance(spec.step, PenaltyStep) else 1
            if k % setting.periods[i] == 0:
                chosen = [
                    j for j in candidates(SEED, i, k, NEIGHBOURS[i], t) if not setting.conditions.is_lost(j, i, k)
                ]
                for coordinate in range(N):
                    said = [as_sent(setting, models)[j, coordinate] for j in chosen if coordinate in supports[j]]
                    if said:
                        averages[i, coordinate] = sum(map(float, said)) / len(said)
        models = averages - gradients(setting, averages, k) / divisors
        sigma *= spec.step.gamma


@matrix_form.register
def dpsgd(spec: DpsgdSpec, setting: ResolvedRun) -> Iterator[Matrix]:
    """X <- P X - eta G, or P (X - eta G) if the step comes first; nobody's own model is rounded."""
    models = np.zeros((NODES, N))
    for k in count():
        yield models
        if spec.draw == "mutual":
            weights = edge_weights(k, setting.periods, spec.participation, mixing=spec.mixing)
        else:
            weights = drawn_weights(k, setting.periods, spec.participation, spec.mixing)
        p = q_as_received(weights, k, setting.conditions.is_lost, spec.on_loss)
        own = np.diag(np.diag(p))
        steps = spec.eta / spec.gamma**k * gradients(setting, models, k)
        mixed = models if spec.order == "mix-first" else models - steps
        models = own @ mixed + (p - own) @ as_sent(setting, mixed) - (steps if spec.order == "mix-first" else 0.0)


@matrix_form.register
def dfedavgm(spec: DfedavgmSpec, setting: ResolvedRun) -> Iterator[Matrix]:
    """y^{k+1} = y^k - eta g(y^k) + theta (y^k - y^{k-1}); at a node's round y^{k-1} = y^k."""
    models = before = np.zeros((NODES, N))
    for k in count():
        yield models
        told = models
        if spec.compressor is not None:
            keys = [Key(SEED, Purpose.COMPRESSION, node, k) for node in range(NODES)]
            told = np.stack([expand(spec.compressor.compress(*pair)) for pair in zip(models, keys, strict=True)])
        weights = edge_weights(k, setting.periods, spec.participation)
        p = q_as_received(weights, k, setting.conditions.is_lost, spec.on_loss)
        own = np.diag(np.diag(p))
        y = own @ models + (p - own) @ told
        before = np.where(at_rounds(setting, k) > 0, y, before)
        models = y - spec.eta / spec.gamma**k * gradients(setting, y, k) + spec.momentum * (y - before)
        before = y


@matrix_form.register
def dfedsam(spec: DfedsamSpec, setting: ResolvedRun) -> Iterator[Matrix]:
    models = np.zeros((NODES, N))
    for k in count():
        yield models
        weights = edge_weights(k, setting.periods, spec.participation)
        y = q_as_received(weights, k, setting.conditions.is_lost, spec.on_loss) @ models
        slopes = gradients(setting, y, k)
        uphill = y + spec.rho * slopes / np.linalg.norm(slopes, axis=1, keepdims=True)
        models = y - spec.eta / spec.gamma**k * gradients(setting, uphill, k)


def reached(sampling: str, fan_out: int, k: int) -> Matrix:
    """1 at (i, j) if j sends to i, should both be at a round."""
    sent = np.zeros((NODES, NODES))
    if sampling == "local":
        for j in range(NODES):
            others = [i for i in range(NODES) if i != j]
            for place in subset(Key(SEED, Purpose.EPIDEMIC, j, k), NODES - 1, fan_out):
                sent[others[place], j] = 1.0
    else:
        for i, met in enumerate(regular_neighbours(Key(SEED, Purpose.EPIDEMIC, iteration=k), NODES, fan_out)):
            sent[i, list(met)] = 1.0
    return sent


@matrix_form.register
def epidemic(spec: EpidemicSpec, setting: ResolvedRun) -> Iterator[Matrix]:
    models = np.zeros((NODES, N))
    for k in count():
        yield models
        ahead = models - spec.eta / spec.gamma**k * gradients(setting, models, k)
        both_at_round = at_rounds(setting, k) @ at_rounds(setting, k).T
        weights = reached(spec.sampling, spec.fan_out, k) * both_at_round + np.eye(NODES)
        models = weights / weights.sum(axis=1, keepdims=True) @ ahead


@matrix_form.register
def nids(spec: NidsSpec, setting: ResolvedRun) -> Iterator[Matrix]:
    models = duals = np.zeros((NODES, N))
    seldom = rests(setting.periods, spec.participation) / spec.dual
    for k in count():
        yield models
        eta = spec.eta / spec.gamma**k
        z = models - eta * (gradients(setting, models, k) + duals)
        weights = edge_weights(k, setting.periods, spec.participation, setting.conditions.is_lost)
        duals = duals + (np.eye(NODES) - q_of(weights / seldom)) @ z / (2 * eta)
        models = (np.eye(NODES) + q_of(weights)) @ z / 2


@matrix_form.register
def dmgt_svrg(spec: DmgtSvrgSpec, setting: ResolvedRun) -> Iterator[Matrix]:
    """y <- Q y + g - g of before, as the equations have it."""
    models = before = tracked = estimates = np.zeros((NODES, N))
    for k in count():
        yield models
        if k % spec.snapshot_every == 0:
            snapshot = models
            full = np.stack([setting.problem.local(i).full_gradient(models[i]) for i in range(NODES)])
        now = gradients(setting, models, k) - gradients(setting, snapshot, k) + full
        trackers = tracked + now - estimates
        estimates = now
        q = q_of(edge_weights(k, setting.periods, spec.participation, setting.conditions.is_lost))
        tracked = q @ trackers
        after = q @ models - spec.eta / spec.gamma**k * trackers + spec.momentum * (models - before)
        before, models = models, after


@matrix_form.register
def choco(spec: ChocoSpec, setting: ResolvedRun) -> Iterator[Matrix]:
    gossip, models = Gossip(setting, spec), np.zeros((NODES, N))
    for k in count():
        yield models
        stepped = models - spec.eta / spec.gamma**k * gradients(setting, models, k)
        gossip.exchange(k, stepped)
        models = stepped + spec.gam * gossip.pull(k)


@matrix_form.register
def beer(spec: BeerSpec, setting: ResolvedRun) -> Iterator[Matrix]:
    """With v by the paper's recursion."""
    h, g, models = Gossip(setting, spec, 0), Gossip(setting, spec, 1), np.zeros((NODES, N))
    slopes = trackers = gradients(setting, models, 0)
    for k in count():
        yield models
        h.exchange(k, models)
        g.exchange(k, trackers)
        models = models + spec.gam * h.pull(k) - spec.eta / spec.gamma**k * trackers
        new = gradients(setting, models, k + 1)
        trackers = trackers + spec.gam * g.pull(k) + new - slopes
        slopes = new


@matrix_form.register
def anq_nids(spec: AnqNidsSpec, setting: ResolvedRun) -> Iterator[Matrix]:
    gossip = Gossip(setting, spec)
    models = duals = np.zeros((NODES, N))
    seldom = rests(setting.periods, spec.participation)
    for k in count():
        yield models
        size = spec.eta / spec.gamma**k
        ahead = models - size * (gradients(setting, models, k) + duals)
        gossip.exchange(k, ahead)
        flows = 0.5 * spec.gam * gossip.matrix(k)[:, :, None] * -gossip.agreed
        duals = duals + spec.dual * (flows / seldom[:, :, None]).sum(axis=1) / size
        models = ahead - flows.sum(axis=1)


@matrix_form.register
def dcd_psgd(spec: DcdPsgdSpec, setting: ResolvedRun) -> Iterator[Matrix]:
    """The pull of iteration k is over what was known before it."""
    gossip, models = Gossip(setting, spec), np.zeros((NODES, N))
    for k in count():
        yield models
        stepped = models - spec.eta / spec.gamma**k * gradients(setting, models, k)
        gossip.exchange(k, stepped + gossip.pull(k))
        models = np.where(at_rounds(setting, k) > 0, gossip.own, stepped)


@matrix_form.register
def squarm(spec: SquarmSpec, setting: ResolvedRun) -> Iterator[Matrix]:
    gossip, spoken = Gossip(setting, spec), set()
    models = velocities = np.zeros((NODES, N))
    for k in range(setting.stop.last_iteration):
        yield models
        size = spec.eta / spec.gamma**k
        slopes = gradients(setting, models, k)
        velocities = spec.momentum * velocities + slopes
        stepped = models - size * (spec.momentum * velocities + slopes)
        moved = np.square(stepped - gossip.own).sum(axis=1)
        speaks: Sequence[bool] = (moved > spec.threshold * (k + 1) ** spec.growth * size**2).tolist()
        spoken |= {speaks[i] for i in range(NODES) if gossip.is_round(i, k)}
        gossip.exchange(k, stepped, speaks)
        models = stepped + spec.gam * gossip.pull(k)
    yield models
    assert spoken == {False, True}, "a case in which all speak, or nobody does, shows little"
