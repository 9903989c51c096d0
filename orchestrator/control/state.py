"""Where the nodes of a run are, for whoever watches."""

from dataclasses import dataclass
from typing import Protocol

from orchestrator.control.run_phase import Phase
from orchestrator.results import Ending
from orchestrator.results.health import Health
from pame.observe import Observer, Several


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
    judged: int = 0
    """Points whose models were judged after the run, so far."""
    to_judge: int = 0
    """Of so many; 0: none is judged after the run."""


TOLD = (
    "ready", "alive", "slowest", "median", "fastest", "bytes", "late", "starved", "seconds", "judged", "to_judge",
)  # fmt: skip
"""Figures that watchers elsewhere are told under the same name."""


def judging(ending: Ending, done: int, of: int) -> NetworkState:
    """Of a simulated run that is over, while its models are judged."""
    k = ending.iterations
    return NetworkState(Phase.EVALUATING, 0, 0, 0, k, k, k, 0, 0, 0, ending.seconds or 0.0, judged=done, to_judge=of)


class NetworkObserver(Observer, Protocol):
    def state(self, state: NetworkState) -> None:
        """The network a moment later."""


class SeveralOfNetwork(Several):
    """All of them are told of the same network."""

    def __init__(self, *observers: NetworkObserver) -> None:
        super().__init__(*observers)
        self._of_network = observers

    def state(self, state: NetworkState) -> None:
        for observer in self._of_network:
            observer.state(state)
