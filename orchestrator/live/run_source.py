"""Where the page finds the run under way: an orchestrator that serves (`Submissions`), or a command (`CommandRuns`)."""

from typing import Any, Protocol

from orchestrator.control.broadcast import Broadcast
from orchestrator.control.members import Members
from orchestrator.control.run_state import NetworkRunState
from orchestrator.control.submission_queue import SubmissionQueue
from orchestrator.experiment import Experiment
from orchestrator.experiment.named_files import Files
from orchestrator.live.simulated_run import SimulatedRun


class RunSource(Protocol):
    notice: str
    """A line for whoever looks."""
    current: Broadcast | None
    """The run under way."""
    queue: SubmissionQueue
    nodes_stay: bool
    """Whether the nodes of a run are still there when it is over."""

    @property
    def members(self) -> Members: ...

    @property
    def run(self) -> NetworkRunState | SimulatedRun | None:
        """The run under way, once there is something to see."""

    @property
    def place(self) -> str:
        """What runs what is submitted, in words; empty: nothing does any more."""

    async def find(self, run: int) -> Broadcast | None:
        """A run by its number; 0: the one under way, or else the next, however long that takes."""

    def cancel(self, run: int) -> bool:
        """End a run in order, 0: whichever goes on; False if it is not under way."""

    def submitted(self, folder: str) -> tuple[Experiment, Files] | None:
        """What a run of the last few was begun with, by the name of its folder."""

    def campaign(self) -> dict[str, Any] | None:
        """How far the campaign is of which the runs are a part."""
