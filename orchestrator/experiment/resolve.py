"""From an experiment to everything a run needs: graph, data, periods, draws.

A pure function, but for the files that an experiment names and a look at how much memory the machine has. The simulator
takes the plan whole; a network hands each node its part of it.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from filecmp import cmp
from math import inf
from pathlib import Path

from contract.plugins import plugin_file
from contract.problem_inputs import build_problem
from orchestrator.errors import TooLittleMemory
from orchestrator.experiment import Experiment
from orchestrator.experiment.checks import rule_with_values
from orchestrator.experiment.cost import cost_of
from orchestrator.experiment.faults import FaultError, Horizon, compile_plan, idle_faults
from orchestrator.experiment.link_table import LinkTable, link_table
from orchestrator.experiment.named_files import Files, own_module, text_of
from orchestrator.experiment.plugins import add_plugins
from pame import topology
from pame.algorithms import PameSpec
from pame.errors import ParameterError, TopologyError
from pame.fault_effects import DegradeEffect, Plan
from pame.fault_plan_text import named_nodes, read_plan
from pame.problems import ImageClassificationSpec, Problem, ProblemSpec
from pame.problems.image_classification import ACCURACY, ImageClassification, PartitionedData
from pame.resolved_run import ResolvedRun
from pame.rules import Compute
from pame.sampling import period
from pame.topology import Topology
from pame.topology.kinds import EdgeList

DrawProblem = Callable[[ProblemSpec, int, int], Problem]
"""From a spec, a number of nodes and a seed."""
HARD_STOP_S = 3600.0
"""For experiments that do not say how long they may take."""
_VECTORISED_FROM = 200
_NODES_ASKED_FOR_SMOOTHNESS = 16


def make_topology(experiment: Experiment, files: Files) -> Topology:
    """The graph; `files`: where the file of an edge list is, for instance the folder of the experiment file."""
    check_memory(experiment)
    text = None
    if isinstance(experiment.topology, EdgeList):
        text = text_of("topology.file", experiment.topology.file, files)
    try:
        return topology.build(experiment.topology, experiment.nodes, experiment.seed, text)
    except TopologyError as error:
        raise TopologyError(f"topology: {error}") from None


def check_memory(experiment: Experiment) -> None:
    """Refuse what cannot fit: the data of all nodes, the test set, the models, the graph."""
    needed, there = cost_of(experiment).bytes, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > there:
        raise TooLittleMemory(
            f"the data and models of {experiment.nodes} nodes take {needed / 2**30:.3g} GiB and this machine has "
            f"{there / 2**30:.3g} GiB: make nodes, problem.samples, problem.n or problem.model smaller"
        )


def make_setting(experiment: Experiment, files: Files, draw: DrawProblem = build_problem) -> ResolvedRun:
    """The experiment, resolved; `files`: where those are that it names; `draw`: who makes its problem."""
    nodes, seed = experiment.nodes, experiment.seed
    load_own_module(experiment, files)
    graph = make_topology(experiment, files)
    table = link_table(experiment.links, graph, seed)
    plan = make_plan(experiment, files, graph, table)
    problem = draw(experiment.problem, nodes, seed)
    if experiment.stop.accuracy is not None and problem.metric != ACCURACY:
        raise ParameterError(f"stop.accuracy: {experiment.problem.kind} has no test accuracy: give stop.target")
    return ResolvedRun(
        seed=seed,
        topology=graph,
        problem=problem,
        algorithm=experiment.algorithm,
        periods=tuple(period(seed, node, experiment.period.min, experiment.period.max) for node in range(nodes)),
        stop=experiment.stop,
        exchange=experiment.exchange,
        messages=experiment.messages,
        compute=experiment.compute or Compute(),
        evaluate_every=experiment.evaluate.every,
        own_models=experiment.evaluate.own_models,
        link=table.default,
        links=table.special,
        plan=plan,
        restart_state=experiment.restart.state,
    )


def load_own_module(experiment: Experiment, files: Files) -> None:
    """The user's network lies beside the experiment file; what a client submits names only plugins that are loaded."""
    module = own_module(experiment)
    if module is None or not isinstance(files, Path):
        return
    file, _, name = module.module.rpartition(":")
    loaded, path = plugin_file(file, name), files / file
    is_loaded = loaded is not None and loaded.is_file() and path.is_file() and cmp(loaded, path, shallow=False)
    if path.is_file() and not is_loaded:
        add_plugins([path])


def make_plan(experiment: Experiment, files: Files, graph: Topology, table: LinkTable) -> Plan:
    """What is done to the network, resolved; or the plan of another run, done again."""
    if experiment.plan is not None:
        plan = read_plan(text_of("plan", experiment.plan, files))
        strangers = sorted(set(named_nodes(plan)) - set(range(experiment.nodes)))
        if strangers:
            raise ParameterError(f"plan: it names node {strangers[0]}, and there are {experiment.nodes} nodes")
        return plan
    stop = experiment.stop
    horizon = Horizon(
        HARD_STOP_S if stop.seconds is None else stop.seconds, inf if stop.iterations is None else stop.iterations
    )
    plan = compile_plan(experiment.faults or [], graph, table.regions or None, experiment.seed, horizon)
    for number, why in idle_faults(plan, table.spec).items():
        raise FaultError(f"faults.{number}: {why}")
    return plan


def make_network_setting(experiment: Experiment, files: Files, draw: DrawProblem = build_problem) -> ResolvedRun:
    """The setting for real clocks: a step takes as long as it takes unless the experiment says otherwise."""
    setting = make_setting(experiment, files, draw)
    return setting if experiment.compute else replace(setting, compute=Compute(step_s=0.0))


def choose_driver(experiment: Experiment) -> str:
    """The driver the experiment names; `auto`: under a clock if it has a time model, else the fastest that can."""
    if experiment.simulate.driver != "auto":
        return experiment.simulate.driver
    exchange, by_seconds_alone = experiment.exchange, experiment.stop.iterations is None
    is_timed = has_time_model(experiment) or by_seconds_alone
    if is_timed or has_faults(experiment) or not exchange.waits or exchange.spare != 0:
        return "virtual-time"
    can_stack = not isinstance(experiment.problem, ImageClassificationSpec)
    if can_stack and isinstance(experiment.algorithm, PameSpec) and experiment.nodes >= _VECTORISED_FROM:
        return "vectorised"
    return "lock-step"


def is_judged_after(experiment: Experiment) -> bool:
    """Whether models are kept until the run is over, and judged then."""
    when = experiment.evaluate.when
    if when != "auto":
        return when == "after"
    return isinstance(experiment.problem, ImageClassificationSpec) and not rule_with_values(experiment)


def has_faults(experiment: Experiment) -> bool:
    """Whether something is done to the network on purpose."""
    return bool(experiment.faults) or experiment.plan is not None


def has_time_model(experiment: Experiment) -> bool:
    """Whether the experiment says how long things take."""
    return experiment.compute is not None or experiment.links is not None


def warnings(experiment: Experiment, setting: ResolvedRun, driver: str | None, is_tuned: bool = False) -> list[str]:
    """What is allowed but probably not meant; `driver` is None on a network.

    `is_tuned`: the step was chosen by trying, which says more than a bound.
    """
    found = []
    if driver not in ("virtual-time", None) and has_time_model(experiment):
        found.append(f"the {driver} driver has no clock: compute and links are ignored")
    if driver == "virtual-time" and not has_time_model(experiment):
        found.append("no time model given: a step takes 10 ms and links take no time; add compute and links")
    if driver in ("lock-step", "vectorised") and experiment.stop.seconds is not None:
        found.append(f"the {driver} driver has no clock: stop.seconds is ignored; add compute or links")
    if driver == "virtual-time" and _loses_packets(setting):
        found.append(
            "the simulator loses no packets: links.loss, and the loss of lossy and degrade, are ignored; run on nodes "
            "to see it, as delay, or lose whole messages with messages.loss or message-loss"
        )
    return [*found, *filter(None, (_smallest_shard(setting), None if is_tuned else _steepest(setting)))]


def _smallest_shard(setting: ResolvedRun) -> str | None:
    """A batch is at most the node's samples."""
    problem = setting.problem
    if not (isinstance(problem, ImageClassification) and isinstance(problem.shards, PartitionedData)):
        return None
    sizes = [part.size for part in problem.shards.parts]
    least, batch = min(sizes), problem.spec.batch
    if least >= batch:
        return None
    return (
        f"node {sizes.index(least)} has {least} samples, fewer than problem.batch {batch}: its gradients are of all of "
        "them"
    )


def _loses_packets(setting: ResolvedRun) -> bool:
    always = any(spec.loss for spec in (setting.link, *setting.links.values()))
    return always or any(isinstance(event.effect, DegradeEffect) and event.effect.loss for event in setting.plan)


def _steepest(setting: ResolvedRun) -> str | None:
    """Below 2/L_i a step cannot make f_i grow; the nodes with the fewest neighbours take the largest steps.

    A bound, not a limit: L_i is the largest curvature there can be, which a logistic f_i has nowhere near its optimum.
    """
    selection = setting.selection()
    nodes = sorted(range(setting.topology.nodes), key=selection.enough)[:_NODES_ASKED_FOR_SMOOTHNESS]
    for node in nodes:
        step = setting.algorithm.first_step(selection.enough(node))
        smoothness = setting.problem.local(node).smoothness()
        if smoothness is None:
            return None
        limit = 2.0 / smoothness
        if step >= limit:
            return (
                f"node {node} begins with step size {step:.3g}, above the bound 2/L = {limit:.3g} of its data: it may "
                "diverge; if it does, make the step smaller"
            )
    return None
