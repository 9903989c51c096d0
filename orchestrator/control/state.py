"""Where the nodes of a run are, for whoever watches."""

from dataclasses import dataclass
from typing import Protocol

from orchestrator.control.run_phase import Phase
from orchestrator.results.health import Health
from pame.observe import Observer


@dataclass(frozen=True, slots=True)
class NetworkState:
    phase: Phase
    nodes: int
    ready: int
    alive: int
    slowest: int
    median: int
    fastest: int
    bytes: int
    late: int
    starved: int
    seconds: float
    health: Health | None = None
    """None: nothing is known yet."""


TOLD = ("ready", "alive", "slowest", "median", "fastest", "bytes", "late", "starved", "seconds")
"""Figures that watchers elsewhere are told under the same name."""


class NetworkObserver(Observer, Protocol):
    def state(self, state: NetworkState) -> None:
        """The network a moment later."""
