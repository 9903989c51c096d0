"""The experiment: what an experiment file may say, with its defaults. Durations are seconds, rates bits per second.

Topology, problem and algorithm are the registered specs of `pame`, and so are the rules that every node keeps: a new
kind, or a new key of a rule, is here by being there.
"""

import re
from typing import Annotated, Literal, Self

from annotated_types import Ge, Le, Lt, MinLen
from pydantic import AfterValidator, BeforeValidator, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from orchestrator.experiment.checks import beyond, contradiction, contradictions
from orchestrator.experiment.faults.interface import Fault
from orchestrator.experiment.faults.kinds import FAULTS
from orchestrator.experiment.links import LinksSection
from orchestrator.experiment.section import KindUnion, Name, Section, SpecSection
from orchestrator.experiment.units import Expected
from pame.algorithms import SPECS as ALGORITHMS
from pame.algorithms import AlgorithmSpec, PameSpec
from pame.problems import SPECS as PROBLEMS
from pame.problems import LinearSpec, ProblemSpec
from pame.rejoin import State
from pame.rules import Compute, Exchange, Messages
from pame.spec_json import LARGEST_WHOLE
from pame.stopping import StopRules
from pame.topology import SPECS as TOPOLOGIES
from pame.topology import TopologySpec
from pame.topology.kinds import RandomRegular
from pame.units import Count

_MOST_NODES = 100_000
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


class Evaluate(Section):
    """When the models are judged."""

    every: Count = 10
    """Every so many iterations."""
    when: Literal["auto", "during", "after"] = "auto"
    """after: models wait on the disk until the run is over; auto: after for networks if no rule of stop needs f."""
    own_models: bool = True
    """Whether every node's own model is judged, too, not only the mean of all: the mean is nobody's model."""


class RestartSection(Section):
    """What a node that died and came back begins with."""

    state: State = "snapshot"
    """snapshot: its last one at the orchestrator; cold: that of the start; neighbours: the mean of theirs."""


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


def _by_seconds_alone(value: object) -> object:
    if isinstance(value, dict) and value.get("seconds") is not None and "iterations" not in value:
        return {**value, "iterations": None}
    return value


def _with_an_end(stop: StopRules) -> StopRules:
    if stop.iterations is None and stop.seconds is None:
        raise contradiction({"stop.iterations": "nothing would end the run; give iterations or seconds"})
    return stop


class Experiment(Section):
    """One experiment of the PaME testbed."""

    name: Name = "experiment"
    """What the run folder is called; the file's own name if left out."""
    seed: Annotated[int, Ge(0), Lt(2**63)] = 1
    """The same seed gives the same run."""
    nodes: Annotated[int, Ge(2), Le(_MOST_NODES)] = 16
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
    exchange: Annotated[Exchange, SpecSection()] = Exchange()
    """What waiting for neighbours means."""
    messages: Annotated[Messages, SpecSection()] = Messages()
    """How messages are written, and how many are lost."""
    compute: Annotated[Compute, SpecSection()] | None = None
    """How long a step takes; nothing: no time model."""
    links: LinksSection | None = None
    """What links do to messages, in a section or in one word, a preset such as wan; nothing: no time model."""
    faults: Annotated[list[Annotated[Fault, KindUnion(FAULTS)]], MinLen(1)] | None = None
    """What is done to the network on purpose."""
    plan: str | None = None
    """The plan.jsonl of another run, to be done again instead of faults."""
    verify: Verify = Verify()
    """Whether links are measured before a run on a network."""
    evaluate: Evaluate = Evaluate()
    """When the models are judged."""
    stop: Annotated[StopRules, SpecSection(), BeforeValidator(_by_seconds_alone), AfterValidator(_with_an_end)] = (
        StopRules()
    )
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
