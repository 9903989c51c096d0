"""What both ends of an edge can compute of each other's messages without a byte on the wire: the schedule is public."""

from functools import lru_cache

from pame.algorithms.interface import Context

_DRAWS_REMEMBERED = 1024


class ReplicaSchedule:
    """Which messages are lost on purpose, and which are whole because their turn has come."""

    def __init__(self, context: Context, resync_every: int | None) -> None:
        """`resync_every`: every so many rounds a message is whole; None: never for that reason."""
        self._periods = context.selection.periods
        self._resync_every = resync_every
        self.is_lost = lru_cache(maxsize=_DRAWS_REMEMBERED)(context.is_lost)
        """(sender, receiver, iteration)"""

    def previous(self, sender: int, k: int) -> int:
        """The round of a node before that of k; -1: there is none."""
        return max(k - self._periods[sender], -1)

    def last_sent(self, sender: int, receiver: int, k: int) -> int:
        """The last message before that of k which is not lost on purpose; -1: there is none."""
        before = self.previous(sender, k)
        while before >= 0 and self.is_lost(sender, receiver, before):
            before = self.previous(sender, before)
        return before

    def is_up_to_date(self, sender: int, receiver: int, k: int) -> bool:
        """Whether a message of k is not lost; with resyncs none since the last whole surrogate."""
        while k >= 0 and not self.is_lost(sender, receiver, k):
            if self._resync_every is None or self.is_resync(sender, k):
                return True
            k = self.previous(sender, k)
        return k < 0

    def is_resync(self, sender: int, k: int) -> bool:
        rounds = k // self._periods[sender] + 1
        return self._resync_every is not None and rounds % self._resync_every == 0
