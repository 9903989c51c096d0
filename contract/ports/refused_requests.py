"""HTTP requests that were refused, by reason: counted, and said in one line now and then, however many they are."""

import time
from collections import Counter
from collections.abc import Callable, Mapping

MALFORMED, SLOW, CROWDED, WRONG_HOST = "malformed", "slow", "crowded", "wrong_host"
REASONS = (CROWDED, MALFORMED, SLOW, WRONG_HOST)
"""slow: no whole request, or an answer not taken, in time; crowded: gave way to a newer connection."""
_EVERY_S = 60.0


class RefusedRequests:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.counts: Counter[str] = Counter(dict.fromkeys(REASONS, 0))
        self.say: Callable[[Mapping[str, int]], None] | None = None
        """Told all counts so far: with the first refusal, then at most once a minute."""
        self._clock = clock
        self._said_at = float("-inf")
        self._unsaid = False

    def count(self, reason: str) -> None:
        self.counts[reason] += 1
        self._unsaid = True
        if self._clock() - self._said_at >= _EVERY_S:
            self.close()

    def close(self) -> None:
        if self._unsaid and self.say is not None:
            self._said_at, self._unsaid = self._clock(), False
            self.say({reason: count for reason, count in sorted(self.counts.items()) if count})
