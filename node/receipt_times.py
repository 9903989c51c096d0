"""What the receipts of a link tell of it: the shortest round trip, how fast it carries bytes, what the machine adds.

The way is the time by which a message was handed over too late, and half of the time to its receipt. It is the median
of many, for one that follows the last few would itself be jitter.
"""

from collections import deque
from math import inf
from statistics import median_low

from node.link_queue import Outgoing

_REMEMBERED = 16
_WAYS_REMEMBERED = 64


class ReceiptTimes:
    """Of one link, over all its streams."""

    def __init__(self) -> None:
        self.shortest_s = inf
        """From leaving the queue to a receipt; inf: there was none."""
        self.way_s = 0.0
        """Half of the messages took at most so long to arrive, without the wire."""
        self._rates: deque[float] = deque(maxlen=_REMEMBERED)
        self._ways: deque[float] = deque(maxlen=_WAYS_REMEMBERED)

    def add(self, newest: Outgoing, now: float, acknowledged_bytes: int, is_first: bool) -> float:
        """A receipt came; `newest`: of the messages that it acknowledges; `is_first`: of its stream, which had to be
        connected. The round trip."""
        trip = max(now - max(newest.left_at, newest.at), 1e-6)
        self.shortest_s = min(self.shortest_s, trip)
        self._rates.append((acknowledged_bytes - newest.acknowledged_before) / trip)
        if not is_first:
            self._ways.append(newest.overdue_s + (now - newest.handed_at) / 2)
            self.way_s = median_low(self._ways)
        return trip

    def window_bytes(self, rate_bps: float) -> float:
        """Twice the bandwidth-delay product; `rate_bps`: what the link may carry. 0 before the first receipt."""
        return 2.0 * min(max(self._rates), rate_bps / 8) * self.shortest_s if self._rates else 0.0

    def trips_s(self, count: float) -> float:
        """So many of the shortest round trips; 0 before the first receipt."""
        return count * self.shortest_s if self._rates else 0.0
