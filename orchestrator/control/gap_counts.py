"""What queues and mailboxes dropped and replicas lack, as far as nothing was done on purpose when it happened.

Nodes report totals, about once a second; what has grown since the last report is explained if that moment is.
"""

from collections import Counter

from contract.counters import NodeCounters
from orchestrator.control.totals import Who
from orchestrator.results.round_counts import RoundCounts


class GapCounts:
    """Of one run."""

    def __init__(self, rounds: RoundCounts) -> None:
        """`rounds`: knows when something is done on purpose."""
        self.unexplained: Counter[str] = Counter()
        """By the name of their counter: messages that were dropped and evicted, updates that are missing."""
        self._rounds = rounds
        self._before: dict[Who, Counter[str]] = {}

    def heard(self, who: Who, counted: NodeCounters, seconds: float, iteration: int) -> None:
        """The totals of a node, at this time of the run and at this iteration of the node."""
        now, before = _gaps(counted), self._before.get(who, Counter())
        self._before[who] = now
        if self._rounds.is_disturbed(seconds, iteration) or self._rounds.has_stragglers:
            return
        grown = now - before
        if self._rounds.has_loss:
            del grown["desynchronised"]
        self.unexplained += grown


def _gaps(counted: NodeCounters) -> Counter[str]:
    return Counter(
        dropped=sum(link.dropped for link in counted.out.values()),
        evicted=sum(link.evicted for link in counted.into.values()),
        desynchronised=counted.desynchronised,
    )
