"""How long a node waits for its neighbours at a round before it goes on with what came.

Adaptive: the median plus four times the spread (median absolute deviation, scaled to a standard deviation) of the true
waits of messages that arrived, late ones too; waits that expired say nothing about when a message comes.
"""

from collections import deque
from statistics import median

FLOOR_S = 0.2
CEILING_S = 30.0
_WINDOW = 64
_ENOUGH = 8
_SPREADS = 4.0
_MAD_TO_DEVIATION = 1.4826


class FixedPatience:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def seconds(self) -> float:
        return self._seconds

    def arrived_after(self, wait_s: float) -> None:
        """Nothing to learn."""


class AdaptivePatience:
    """Learns from the last 64 waits; the ceiling until eight are known."""

    def __init__(self) -> None:
        self._waits: deque[float] = deque(maxlen=_WINDOW)

    def seconds(self) -> float:
        if len(self._waits) < _ENOUGH:
            return CEILING_S
        middle = median(self._waits)
        spread = _MAD_TO_DEVIATION * median(abs(wait - middle) for wait in self._waits)
        return min(max(middle + _SPREADS * spread, FLOOR_S), CEILING_S)

    def arrived_after(self, wait_s: float) -> None:
        """A message of a round arrived `wait_s` after the round began (0 if it was there before)."""
        self._waits.append(max(0.0, wait_s))


Patience = FixedPatience | AdaptivePatience
