"""Nodes, or whole containers, that are killed or leave in good order, and come back after a while or never."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from orchestrator.experiment.faults.interface import World
from orchestrator.experiment.faults.resolve import choose_nodes
from orchestrator.experiment.faults.selectors import NodeSelector
from orchestrator.experiment.faults.triggers import (
    Moment,
    PositiveSeconds,
    Seconds,
    Span,
    StoppedSeconds,
    Times,
    WindowedFault,
)
from pame.fault_effects import ContainerKillEffect, ContainerRestartEffect, Effect, KillEffect, RestartEffect

_AT = Field(description="When it begins; the beginning of the run if left out.")
_UNTIL = Field(description="With `every`: when it stops repeating; the end of the run if left out.")
_EVERY = Field(description="It happens again after so long, each time; random choices are made anew.")


@dataclass(frozen=True, kw_only=True)
class AbsenceFault(WindowedFault):
    """A fault after which nodes come back.

    nodes: Which nodes.
    keep_connected: Whether the other nodes must still reach each other.
    """

    at: Annotated[Moment | None, _AT] = None
    every: Annotated[Span | None, _EVERY] = None
    until: Annotated[Moment | None, _UNTIL] = None
    back_after: StoppedSeconds | None = None
    nodes: NodeSelector
    keep_connected: bool = False

    takes_away: ClassVar[type[KillEffect | RestartEffect]]

    def times(self) -> Times:
        return replace(super().times(), length="back_after", stops=True)

    def problems(self) -> dict[str, str]:
        """Times, and an end of what does not repeat."""
        found = super().problems()
        if self.until is not None and self.every is None:
            found["until"] = "is when repeating ends, but nothing repeats; give every too, or only back_after"
        return found

    def effect(self, world: World, turn: int) -> Effect:
        return self.takes_away(choose_nodes(self.nodes, world, turn, self.keep_connected))


@dataclass(frozen=True, kw_only=True)
class ContainerAbsenceFault(AbsenceFault):
    """The same by seconds only: Docker knows no iterations."""

    at: Annotated[Seconds | None, _AT] = None
    every: Annotated[PositiveSeconds | None, _EVERY] = None
    until: Annotated[Seconds | None, _UNTIL] = None


@dataclass(frozen=True, kw_only=True)
class Kill(AbsenceFault):
    """Nodes are killed, without a word to anybody.

    back_after: How long until they come back; never if left out.
    """

    kind: Literal["kill"] = "kill"
    takes_away = KillEffect


@dataclass(frozen=True, kw_only=True)
class NodeRestart(AbsenceFault):
    """Nodes leave and come back.

    back_after: How long they are away.
    """

    kind: Literal["restart"] = "restart"
    back_after: StoppedSeconds = 1.0
    takes_away = RestartEffect


@dataclass(frozen=True, kw_only=True)
class ContainerKill(ContainerAbsenceFault):
    """The containers of nodes are killed through the Docker API.

    back_after: How long until they are started again; when the run is over if left out.
    """

    kind: Literal["container-kill"] = "container-kill"
    takes_away = ContainerKillEffect


@dataclass(frozen=True, kw_only=True)
class ContainerRestart(ContainerAbsenceFault):
    """The containers of nodes are stopped and started again through the Docker API.

    back_after: How long they are away.
    """

    kind: Literal["container-restart"] = "container-restart"
    back_after: StoppedSeconds = 1.0
    takes_away = ContainerRestartEffect
