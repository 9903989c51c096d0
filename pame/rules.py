"""The rules of a run that every node keeps: how it waits, how messages are written, how long a step takes.

They are the sections `exchange`, `messages` and `compute` of an experiment file, and travel to the nodes whole
(`pame.spec_json`). `pame.stopping` has those of `stop`, `pame.links` those of `links`.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge

from pame.codec import SupportCoding
from pame.exchange import ValueType
from pame.patience import AdaptivePatience, FixedPatience, Patience
from pame.randomness import Key, Purpose, subset, uniforms
from pame.units import Count, Seconds, Share

Mode = Literal["rounds", "free"]
Support = Literal["auto", "seed", "gaps", "bitmap", "all"]
Values = Literal["float64", "float32"]


@dataclass(frozen=True)
class Exchange:
    """What "waiting for neighbours" means.

    mode: rounds: wait for the neighbours drawn for this round. free: never wait, average what has come.
    spare: how many more neighbours are asked than are needed: the first to answer count
    max_lag: how many rounds old a message may be and still count; 0: only messages of the very round count
    patience: how long a round waits before it goes on with what has come
    exclude_after: after so many misses in a row nobody waits for a neighbour until it is heard again
    """

    mode: Mode = "rounds"
    spare: Annotated[int, Ge(0)] | Literal["all"] = 0
    max_lag: Annotated[int, Ge(0)] = 0
    patience_s: Seconds | Literal["adaptive"] = 30.0
    exclude_after: Count = 3

    @property
    def waits(self) -> bool:
        return self.mode == "rounds"

    def patience(self) -> Patience:
        return AdaptivePatience() if isinstance(self.patience_s, str) else FixedPatience(self.patience_s)


@dataclass(frozen=True)
class Messages:
    """How messages are written, and how many are lost on purpose.

    support: how the support is coded; auto takes the smallest
    values: the type of the values on the wire
    loss: the share of whole messages that the sender drops
    """

    support: Support = "seed"
    values: Values = "float64"
    loss: Share = 0.0

    @property
    def coding(self) -> SupportCoding | None:
        """None: the smallest."""
        return None if self.support == "auto" else SupportCoding[self.support.upper()]

    @property
    def value_type(self) -> ValueType:
        return ValueType[self.values.upper()]


@dataclass(frozen=True)
class Compute:
    """How long a local step takes.

    step: the time of one local step
    jitter: how much the time of a step varies
    stragglers: the share of the nodes that are slow
    slowdown: how many times longer a step of a slow node takes
    """

    step_s: Seconds = 0.01
    jitter: Share = 0.0
    stragglers: Share = 0.0
    slowdown: Annotated[float, Ge(1)] = 10.0

    def slow_nodes(self, seed: int, nodes: int) -> frozenset[int]:
        """The stragglers: the given share of the nodes, rounded, at least one if the share is not 0."""
        count = min(max(1, round(self.stragglers * nodes)), nodes) if self.stragglers > 0 else 0
        return frozenset(subset(Key(seed, Purpose.STRAGGLERS), nodes, count).tolist())

    def seconds(self, seed: int, node: int, iteration: int, slow: bool) -> float:
        u = float(uniforms(Key(seed, Purpose.COMPUTE, node, iteration), 1)[0]) if self.jitter else 0.5
        return self.step_s * (self.slowdown if slow else 1.0) * (1.0 + self.jitter * (2.0 * u - 1.0))
