"""What queues and mailboxes dropped and replicas lack, as far as nothing was done on purpose when it happened.

Nodes report totals, about once a second; what has grown since the last report is explained if that moment is.
"""

from dataclasses import astuple, dataclass
from operator import add

from contract.counters import NodeCounters
from orchestrator.results.round_counts import RoundCounts

Who = tuple[int, int]
"""Node and incarnation."""


@dataclass(frozen=True, slots=True)
class Gaps:
    """Messages that were dropped and evicted, updates that are missing."""

    dropped: int = 0
    evicted: int = 0
    desynchronised: int = 0

    def __add__(self, other: "Gaps") -> "Gaps":
        return Gaps(*map(add, astuple(self), astuple(other)))


class GapCounts:
    """Of one run."""

    def __init__(self, rounds: RoundCounts) -> None:
        """`rounds`: knows when something is done on purpose."""
        self.unexplained = Gaps()
        self._rounds = rounds
        self._before: dict[Who, Gaps] = {}

    def heard(self, who: Who, counted: NodeCounters, seconds: float, iteration: int) -> None:
        """The totals of a node, at this time of the run and at this iteration of the node."""
        now, before = _gaps(counted), self._before.get(who, Gaps())
        self._before[who] = now
        if self._rounds.is_disturbed(seconds, iteration) or self._rounds.has_stragglers:
            return
        lost = 0 if self._rounds.has_loss else now.desynchronised - before.desynchronised
        grown = Gaps(now.dropped - before.dropped, now.evicted - before.evicted, lost)
        self.unexplained += Gaps(max(0, grown.dropped), max(0, grown.evicted), max(0, grown.desynchronised))


def _gaps(counted: NodeCounters) -> Gaps:
    dropped = sum(link.dropped for link in counted.out.values())
    return Gaps(dropped, sum(link.evicted for link in counted.into.values()), counted.desynchronised)
