"""From an experiment to everything a run needs: graph, data, periods, draws.

A pure function, but for the file of an edge list and a look at how much memory the machine has. The simulator
takes the plan whole; a network hands each node its part of it.
"""

import os
from dataclasses import replace
from math import inf
from pathlib import Path

from orchestrator.errors import TooLittleMemory, UnreadableFile
from orchestrator.experiment import Experiment
from pame import problems, topology
from pame.algorithms import Mode, PameSpec
from pame.codec import SupportCoding
from pame.errors import TopologyError
from pame.exchange import ValueType
from pame.links import LinkSpec
from pame.sampling import period
from pame.setting import Compute, Setting
from pame.stopping import PaperRule, StopRules
from pame.topology import Topology
from pame.topology.kinds import EdgeList

_VECTORISED_FROM = 200
_NODES_ASKED_FOR_SMOOTHNESS = 16
_MODELS_PER_NODE = 4
"""Model, average, gradient and message of a node."""


def make_topology(experiment: Experiment, base: Path) -> Topology:
    """The graph; an edge list's file name is relative to `base`, the folder of the experiment file."""
    check_memory(experiment)
    text = None
    if isinstance(experiment.topology, EdgeList):
        path = base / experiment.topology.file
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UnreadableFile(f"topology.file: cannot read {path} ({error}); give the path of a text file") from None
    try:
        return topology.build(experiment.topology, experiment.nodes, experiment.seed, text)
    except TopologyError as error:
        raise TopologyError(f"topology: {error}") from None


def check_memory(experiment: Experiment) -> None:
    """Refuse what cannot fit: the data of all nodes, the test set, the models."""
    problem = experiment.problem
    n, samples = getattr(problem, "n", 0), getattr(problem, "samples", 0)
    numbers = experiment.nodes * (samples + _MODELS_PER_NODE) * n + getattr(problem, "test_samples", 0) * n
    needed, there = 8 * numbers, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > there:
        raise TooLittleMemory(
            f"the data of {experiment.nodes} nodes takes {needed / 2**30:.3g} GiB and this machine has "
            f"{there / 2**30:.3g} GiB: make nodes, problem.samples or problem.n smaller"
        )


def make_setting(experiment: Experiment, base: Path) -> Setting:
    """The experiment, resolved."""
    exchange, messages, stop = experiment.exchange, experiment.messages, experiment.stop
    nodes, seed = experiment.nodes, experiment.seed
    return Setting(
        seed=seed,
        topology=make_topology(experiment, base),
        problem=problems.build(experiment.problem, nodes, seed),
        algorithm=experiment.algorithm,
        periods=tuple(period(seed, node, experiment.period.min, experiment.period.max) for node in range(nodes)),
        stop=StopRules(
            iterations=stop.iterations,
            target=stop.target,
            scale=nodes if stop.objective == "sum" else 1,
            paper=PaperRule(stop.paper.tolerance, stop.paper.every) if stop.paper else None,
            seconds=inf if stop.seconds is None else stop.seconds,
        ),
        mode=Mode(exchange.mode),
        spare=None if exchange.spare == "all" else exchange.spare,
        max_lag=exchange.max_lag,
        exclude_after=exchange.exclude_after,
        patience_s=None if exchange.patience == "adaptive" else exchange.patience,
        coding=None if messages.support == "auto" else SupportCoding[messages.support.upper()],
        values=ValueType[messages.values.upper()],
        message_loss=messages.loss,
        evaluate_every=experiment.evaluate.every,
        compute=_compute(experiment),
        link=_link(experiment),
    )


def make_network_setting(experiment: Experiment, base: Path) -> Setting:
    """The setting for real clocks: a step takes as long as it takes unless the experiment says otherwise."""
    setting = make_setting(experiment, base)
    return setting if experiment.compute else replace(setting, compute=Compute(step_s=0.0))


def choose_driver(experiment: Experiment) -> str:
    """The driver the experiment names; `auto`: under a clock if it has a time model, else the fastest that can."""
    if experiment.simulate.driver != "auto":
        return experiment.simulate.driver
    exchange = experiment.exchange
    if has_time_model(experiment) or exchange.mode == "free" or exchange.spare != 0:
        return "virtual-time"
    if isinstance(experiment.algorithm, PameSpec) and experiment.nodes >= _VECTORISED_FROM:
        return "vectorised"
    return "lock-step"


def has_time_model(experiment: Experiment) -> bool:
    """Whether the experiment says how long things take."""
    return experiment.compute is not None or experiment.links is not None


def warnings(experiment: Experiment, setting: Setting, driver: str | None) -> list[str]:
    """What is allowed but probably not meant; `driver` is None on a network."""
    found = []
    if driver not in ("virtual-time", None) and has_time_model(experiment):
        found.append(f"the {driver} driver has no clock: compute and links are ignored")
    if driver == "virtual-time" and not has_time_model(experiment):
        found.append("no time model given: a step takes 10 ms and links take no time; add compute and links")
    if driver in ("lock-step", "vectorised") and experiment.stop.seconds is not None:
        found.append(f"the {driver} driver has no clock: stop.seconds is ignored; add compute or links")
    steepest = _steepest(setting)
    if steepest is not None:
        found.append(steepest)
    return found


def _steepest(setting: Setting) -> str | None:
    """A step of 2/L_i or more diverges on its own; the nodes with the fewest neighbours take the largest steps."""
    selection = setting.selection()
    nodes = sorted(range(setting.topology.nodes), key=selection.enough)[:_NODES_ASKED_FOR_SMOOTHNESS]
    for node in nodes:
        step = setting.algorithm.first_step(selection.enough(node))
        limit = 2.0 / setting.problem.local(node).smoothness()
        if step >= limit:
            return (
                f"node {node} begins with step size {step:.3g}; from 2/L = {limit:.3g} on, gradient descent diverges "
                "on its own: make the step smaller"
            )
    return None


def _compute(experiment: Experiment) -> Compute:
    compute = experiment.compute
    return Compute(compute.step, compute.jitter, compute.stragglers, compute.slowdown) if compute else Compute()


def _link(experiment: Experiment) -> LinkSpec:
    links = experiment.links
    if links is None:
        return LinkSpec()
    return LinkSpec(links.delay, links.jitter, inf if links.rate == "unlimited" else links.rate)
