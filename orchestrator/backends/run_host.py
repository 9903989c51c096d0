"""Who carries out the runs of a command, if somebody looks at them meanwhile: `orchestrator.live.ShownCommand` does."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol, TypeVar

from orchestrator.control import ControlPlane, NetworkObserver, NetworkRunState
from orchestrator.control.broadcast import Broadcast
from orchestrator.experiment import Experiment
from orchestrator.results import Ending

T = TypeVar("T")


class RunHost(Protocol):
    def carry_out(self, work: Coroutine[Any, Any, T]) -> T:
        """In its own event loop, as `asyncio.run` does."""

    def simulate(
        self,
        experiment: Experiment,
        files: Path,
        folder: Path,
        observer: NetworkObserver,
        run: Callable[[NetworkObserver], Ending],
    ) -> Ending:
        """In the caller's thread; `run` is given who watches, which is not the observer alone."""

    def begins(
        self, experiment: Experiment, number: int, folder: Path, files: Path, control: ControlPlane
    ) -> Broadcast:
        """A run begins; who is to be told of it, too."""

    def made(self, run: NetworkRunState) -> None:
        """It is about to gather its nodes."""

    def ended(self, broadcast: Broadcast, ending: Ending | None) -> None:
        """None: by an error."""
