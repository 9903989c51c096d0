"""What is done to a network on purpose, in the few words that a driver must understand: effects, each in its window.

A fault of an experiment (a partition, a flapping link, churn, ...) is compiled to such a plan (orchestrator/faults).
A window counts seconds of the run, or iterations of the acting node: the sender of a link, the node itself. Windows in
iterations are exact: everybody can compute from the plan which message is not sent, so nobody waits for it. Only what
stops a node (pause, kill, restart) begins with an iteration and lasts seconds, because a stopped node counts none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

Link = tuple[int, int]
"""Sender and receiver."""


@dataclass(frozen=True, slots=True)
class Window:
    """From `begin` (included) to `end` (excluded); inf: until the run ends."""

    begin: float
    end: float = inf
    unit: Literal["seconds", "iterations"] = "seconds"
    lasts_s: float | None = None
    """Of what stops a node when it begins iteration `begin`: for so many seconds; `end` is not known before then."""

    def __contains__(self, moment: float) -> bool:
        return self.begin <= moment < self.end if self.lasts_s is None else moment == self.begin


@dataclass(frozen=True, slots=True)
class CutEffect:
    """Nothing gets through. By seconds, messages wait as a TCP stream would; by iterations, they are not sent."""

    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class DegradeEffect:
    """Links get worse: delay times a factor plus some more, more jitter, packets lost, a share of the rate."""

    links: tuple[Link, ...]
    delay_factor: float = 1.0
    delay_s: float = 0.0
    jitter_s: float = 0.0
    loss: float = 0.0
    rate_factor: float = 1.0


@dataclass(frozen=True, slots=True)
class DropEffect:
    """A share of whole messages is not sent: a public draw, as for `messages.loss`."""

    links: tuple[Link, ...]
    share: float


@dataclass(frozen=True, slots=True)
class SlowEffect:
    """Steps take so many times as long."""

    nodes: tuple[int, ...]
    factor: float


@dataclass(frozen=True, slots=True)
class PauseEffect:
    """Nodes stand still, and go on at the end of the window."""

    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KillEffect:
    """Nodes are killed, and come back at the end of the window."""

    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RestartEffect:
    """Nodes are told to leave, and come back at the end of the window."""

    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ContainerKillEffect(KillEffect):
    """Whole containers are killed, by the orchestrator through Docker, and started at the end of the window."""


@dataclass(frozen=True, slots=True)
class ContainerRestartEffect(RestartEffect):
    """Whole containers are stopped, by the orchestrator through Docker, and started at the end of the window."""


@dataclass(frozen=True, slots=True)
class CpuQuotaEffect(SlowEffect):
    """Docker gives a container 1/factor of a core: what needs a whole one takes so many times as long."""


LinkEffect = CutEffect | DegradeEffect | DropEffect
StoppingEffect = PauseEffect | KillEffect | RestartEffect
"""Nodes stand still, or are away."""
Effect = LinkEffect | SlowEffect | StoppingEffect | ContainerKillEffect | ContainerRestartEffect | CpuQuotaEffect


@dataclass(frozen=True, slots=True)
class FaultEvent:
    """One effect in its window; `fault` is the word of the experiment that it comes from, `number` its place there."""

    number: int
    fault: str
    effect: Effect
    window: Window

    @property
    def links(self) -> tuple[Link, ...]:
        """None if it is about nodes."""
        return self.effect.links if isinstance(self.effect, LinkEffect) else ()

    @property
    def nodes(self) -> tuple[int, ...]:
        """None if it is about links."""
        return () if isinstance(self.effect, LinkEffect) else self.effect.nodes

    @property
    def acting(self) -> list[int]:
        """The nodes that carry it out, ascending: the senders of links, or the nodes themselves."""
        return sorted({*self.nodes, *(sender for sender, _ in self.links)})


Plan = Sequence[FaultEvent]


def is_by_docker(event: FaultEvent) -> bool:
    """Whether the orchestrator carries it out, and nodes need not know of it."""
    return isinstance(event.effect, ContainerKillEffect | ContainerRestartEffect | CpuQuotaEffect)


def for_nodes(plan: Plan) -> Plan:
    return tuple(event for event in plan if not is_by_docker(event))
