"""What a comparison found: everything that its report shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator.campaigns.compare.file import Comparison
from orchestrator.campaigns.compare.measure import CompareRow
from orchestrator.campaigns.compare.tune import Choice
from orchestrator.campaigns.yardstick import Yardstick


@dataclass(frozen=True)
class CompareOutcome:
    comparison: Comparison
    nodes: int
    backend: str
    command: str
    """As a user can repeat it."""
    sticks: Mapping[int, Yardstick]
    """By seed."""
    tuning: Sequence[CompareRow]
    choices: Sequence[Choice]
    simulated: Sequence[CompareRow]
    baselines: Sequence[CompareRow] = ()
    """No communication, and one node with all data; always in the simulator."""
    measured: Sequence[CompareRow] = ()
    """On real nodes."""
    seconds: float = 0.0
    """How long all of it took."""
    trouble: str | None = None
    """Why it is not complete."""

    @property
    def rows(self) -> Sequence[CompareRow]:
        """What is compared: the runs on real nodes, if there are any."""
        return self.measured or self.simulated
