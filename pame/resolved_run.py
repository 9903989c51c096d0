"""An experiment in terms of the science: everything a simulator or a node needs, with nothing of files or terminals."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from pame.algorithms import Algorithm, AlgorithmSpec, Context, Delivery, Selection
from pame.codec import Draw, Wire
from pame.conditions import Conditions
from pame.exchange import Vector
from pame.fault_effects import Plan
from pame.links import LinkSpec, crossing_s
from pame.mailbox import FreeMailbox, InOrderMailbox, Mailbox, RoundsMailbox
from pame.observe import ModelStore
from pame.problems import Problem
from pame.rejoin import State
from pame.rules import Compute, Exchange, Messages
from pame.stopping import StopRules
from pame.theory import dense_bits
from pame.topology import Topology


@dataclass(frozen=True)
class Fine:
    """A look at one curve alone, with points at every iteration where f passes one of some values between two points.

    Models of the iterations between are kept until the next point, and judged only then.
    Without values there is nothing between points.
    """

    values: tuple[float, ...]
    by: Literal["iteration", "time"] = "iteration"


@dataclass(frozen=True)
class ResolvedRun:
    """One run, resolved: graph, data, algorithm, periods, the rules that every node keeps, links, faults."""

    seed: int
    topology: Topology
    problem: Problem
    algorithm: AlgorithmSpec
    periods: tuple[int, ...]
    stop: StopRules
    exchange: Exchange = field(default_factory=Exchange)
    messages: Messages = field(default_factory=Messages)
    compute: Compute = field(default_factory=Compute)
    evaluate_every: int = 10
    own_models: bool = True
    """Whether the nodes' own models are judged, beside their mean."""
    fine: Fine | None = None
    """Only for simulators."""
    store: ModelStore | None = None
    """Takes the models of each point, to be judged after the run; None: they are judged at once."""
    target_of_nodes: bool = False
    """Whether the target of `stop` is of the mean over the nodes of f at their own models, not of f(mean model)."""
    link: LinkSpec = field(default_factory=LinkSpec)
    """Of every link that is not among `links`."""
    links: Mapping[tuple[int, int], LinkSpec] = field(default_factory=dict)
    """By sender and receiver."""
    plan: Plan = ()
    """What is done to the network on purpose."""
    restart_state: State = "snapshot"
    """What a node that was away begins with."""

    @cached_property
    def conditions(self) -> Conditions:
        return Conditions(self.seed, self.topology.nodes, self.messages, self.compute, self.link, self.links, self.plan)

    def wire(self, sender: int, iteration: int) -> Wire:
        return Wire(Draw(self.seed, sender, iteration), self.messages.coding, self.messages.value_type)

    @property
    def start(self) -> Vector:
        """w^0."""
        return self.problem.start

    @property
    def slowest_crossing_s(self) -> float:
        """How long a whole model takes over the slowest link."""
        return max(crossing_s(spec, dense_bits(self.problem.n)) for spec in (self.link, *self.links.values()))

    def contacts(self, index: int) -> tuple[int, ...]:
        return self.selection().contacts(index)

    def selection(self) -> Selection:
        spec = self.algorithm
        return Selection(self.seed, self.topology, self.periods, spec.share, self.exchange, spec.who, spec.fan_out)

    def node(self, index: int, selection: Selection, start: Vector | None = None, first: int = 0) -> Algorithm:
        """The algorithm object of one node; `start`: the model it begins with at iteration `first`, if not w^0."""
        return self.algorithm.node(
            Context(
                seed=self.seed,
                node=index,
                topology=self.topology,
                selection=selection,
                objective=self.problem.local(index),
                start=self.start if start is None else start,
                values=self.messages.value_type,
                is_lost=self.conditions.is_lost,
                first=first,
            )
        )

    def nodes(self) -> list[Algorithm]:
        """The algorithm objects of all nodes; they share the draws of who talks to whom."""
        selection = self.selection()
        return [self.node(index, selection) for index in range(self.topology.nodes)]

    def mailbox(self, index: int, delivery: Delivery) -> Mailbox:
        rules = self.exchange
        if delivery is Delivery.IN_ORDER:
            return InOrderMailbox(rules.exclude_after, waits=rules.waits)
        if not rules.waits:
            return FreeMailbox()
        return RoundsMailbox(self.periods[index], rules.max_lag, rules.exclude_after)
