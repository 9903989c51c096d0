"""The experiment: what an experiment file may say, with its defaults. Durations are seconds, rates bits per second.

Topology, problem and algorithm are the registered specs of `pame`: a new kind appears here by being registered there.
"""

import re
from typing import Annotated, Literal, Self

from annotated_types import Ge, Le, Lt, MinLen
from pydantic import GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from orchestrator.experiment.checks import contradiction, contradictions
from orchestrator.experiment.describe import Expected
from orchestrator.experiment.faults.kinds import FAULTS, FaultSpec
from orchestrator.experiment.kind_union import KindUnion
from orchestrator.experiment.limits import MOST_NODES, beyond
from orchestrator.experiment.links import LinksSection
from orchestrator.experiment.section import Count, Duration, Name, Section, Share
from pame.algorithms import SPECS as ALGORITHMS
from pame.algorithms import AlgorithmSpec, PameSpec
from pame.problems import SPECS as PROBLEMS
from pame.problems import LinearSpec, ProblemSpec
from pame.rejoin import State
from pame.spec_json import LARGEST_WHOLE
from pame.topology import SPECS as TOPOLOGIES
from pame.topology import TopologySpec
from pame.topology.kinds import RandomRegular

_RANGE = r"^ *([0-9]{1,18}) *\.\. *([0-9]{1,18}) *$"


class Period(Section):
    """Every how many iterations a node averages: drawn per node, uniform in min..max."""

    min: Annotated[int, Ge(1), Le(LARGEST_WHOLE)]
    """The shortest period."""
    max: Annotated[int, Ge(1), Le(LARGEST_WHOLE)]
    """The longest period."""

    @model_validator(mode="before")
    @classmethod
    def _from_short_form(cls, value: object) -> object:
        if isinstance(value, int):
            return {"min": value, "max": value}
        if isinstance(value, str) and (found := re.fullmatch(_RANGE, value)):
            return {"min": int(found[1]), "max": int(found[2])}
        return value

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise contradiction({"period": f"min {self.min} is above max {self.max}; swap them"})
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        mapping = handler.resolve_ref_schema(handler(schema))
        whole = {"type": "integer", "minimum": 1, "maximum": LARGEST_WHOLE}
        span = {"type": "string", "pattern": _RANGE, "examples": ["3..7"]}
        return {"description": mapping.pop("description"), "anyOf": [whole, span, mapping]}


class ExchangeSection(Section):
    """What "waiting for neighbours" means."""

    mode: Literal["rounds", "free"] = "rounds"
    """rounds: wait for the neighbours drawn for this round. free: never wait, average what has come."""
    spare: Annotated[int, Ge(0)] | Literal["all"] = 0
    """How many more neighbours are asked than are needed: the first to answer count."""
    max_lag: Annotated[int, Ge(0)] = 0
    """How many rounds old a message may be and still count; 0: only messages of the very round count."""
    patience: Duration | Literal["adaptive"] = 30.0
    """How long a round waits before it goes on with what has come."""
    exclude_after: Count = 3
    """After so many misses in a row nobody waits for a neighbour until it is heard again."""


class Messages(Section):
    """How messages are written, and how many are lost on purpose."""

    support: Literal["auto", "seed", "gaps", "bitmap", "all"] = "seed"
    """How the support is coded; auto takes the smallest."""
    values: Literal["float64", "float32"] = "float64"
    """The type of the values on the wire."""
    loss: Share = 0.0
    """The share of whole messages that the sender drops."""


class ComputeSection(Section):
    """How long a local step takes."""

    step: Duration = 0.01
    """The time of one local step."""
    jitter: Share = 0.0
    """How much the time of a step varies."""
    stragglers: Share = 0.0
    """The share of the nodes that are slow."""
    slowdown: Annotated[float, Ge(1)] = 10.0
    """How many times longer a step of a slow node takes."""


class Evaluate(Section):
    """When the models are judged."""

    every: Count = 10
    """Every so many iterations."""
    own_models: bool = True
    """Whether every node's own model is judged, too, not only the mean of all: the mean is nobody's model."""


class PaperStop(Section):
    """The paper's rule: stop when the last three f(mean model) hardly differ."""

    tolerance: Annotated[float, Ge(0)] = 1e-3
    """Their standard deviation is below this."""
    every: Count = 1
    """Checked every so many iterations."""


class Stop(Section):
    """When a run ends: whichever comes first."""

    iterations: Count | None = 300
    """After so many iterations; if only seconds are given, there is no such limit."""
    target: float | None = None
    """When f(mean model) is at or below this."""
    objective: Literal["mean", "sum"] = "mean"
    """What f is for these rules: the mean of the nodes' objectives, or their sum, as in the paper."""
    paper: PaperStop | None = None
    """When the paper's rule says so."""
    seconds: Duration | None = None
    """After so much time: simulated in the simulator, real on a network, where there is always a limit (one hour)."""

    @model_validator(mode="before")
    @classmethod
    def _by_seconds_alone(cls, value: object) -> object:
        if isinstance(value, dict) and value.get("seconds") is not None and "iterations" not in value:
            return {**value, "iterations": None}
        return value

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.iterations is None and self.seconds is None:
            raise contradiction({"stop.iterations": "nothing would end the run; give iterations or seconds"})
        return self


class RestartSection(Section):
    """What a node that died and came back begins with."""

    state: State = "snapshot"
    """snapshot: its last one at the orchestrator; cold: zero; neighbours: the mean of its neighbours' last."""


class Verify(Section):
    """Whether links are what they should be."""

    when: Literal["before", "only", "never"] = "before"
    """before: measure the links before the run; only: measure them and end; never: take them as they are."""
    strict: bool = False
    """Whether a link that is not as asked ends the run before it begins."""


class Security(Section):
    """Who can listen in."""

    tls: bool | None = None
    """Whether neighbours talk over mutual TLS; nothing: as the network does. false is for benchmarks."""


class Simulate(Section):
    """How the simulator runs the experiment."""

    driver: Literal["auto", "lock-step", "vectorised", "virtual-time"] = "auto"
    """Which of its drivers; auto takes the fastest that can."""


class Experiment(Section):
    """One experiment of the PaME testbed."""

    name: Name = "experiment"
    """What the run folder is called; the file's own name if left out."""
    seed: Annotated[int, Ge(0), Lt(2**63)] = 1
    """The same seed gives the same run."""
    nodes: Annotated[int, Ge(2), Le(MOST_NODES)] = 16
    """How many nodes take part."""
    topology: Annotated[TopologySpec, KindUnion(TOPOLOGIES, "random-regular")] = RandomRegular(degree=4)
    """Who is whose neighbour."""
    problem: Annotated[ProblemSpec, KindUnion(PROBLEMS, "linear")] = LinearSpec()
    """What is learned, from which data."""
    algorithm: Annotated[AlgorithmSpec, KindUnion(ALGORITHMS, "pame")] = PameSpec()
    """How it is learned."""
    period: Annotated[
        Period, Expected(f"a whole number of 1 to {LARGEST_WHOLE}, or a range such as 3..7 or {{min: 3, max: 7}}")
    ] = Period(min=3, max=7)
    """Every how many iterations a node averages; a range draws one period per node."""
    exchange: ExchangeSection = ExchangeSection()
    """What waiting for neighbours means."""
    messages: Messages = Messages()
    """How messages are written, and how many are lost."""
    compute: ComputeSection | None = None
    """How long a step takes; nothing: no time model."""
    links: LinksSection | None = None
    """What links do to messages, in a section or in one word, a preset such as wan; nothing: no time model."""
    faults: Annotated[list[Annotated[FaultSpec, KindUnion(FAULTS)]], MinLen(1)] | None = None
    """What is done to the network on purpose."""
    plan: str | None = None
    """The plan.jsonl of another run, to be done again instead of faults."""
    verify: Verify = Verify()
    """Whether links are measured before a run on a network."""
    evaluate: Evaluate = Evaluate()
    """When the models are judged."""
    stop: Stop = Stop()
    """When the run ends."""
    restart: RestartSection = RestartSection()
    """What a node that died and came back begins with."""
    security: Security = Security()
    """Who can listen in."""
    simulate: Simulate = Simulate()
    """How the simulator runs it."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if found := beyond(self) or contradictions(self):
            raise contradiction(found)
        return self
