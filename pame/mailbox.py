"""What a node has received and not yet used, and which of it a round may use.

`rounds`: at round k only the wanted senders count, at most one message each: the one tagged k; else, if `max_lag` > 0,
the smallest later tag (links keep order, so tag k was dropped), else the newest tag at most `max_lag` rounds old. A
message for a later round stays for that round. What no round can use any more is late: counted, never used.
With `max_lag` = 0 nothing but tag k is ever used, which keeps a run exact even when messages are lost.

`free`: the newest message per sender since the last aggregation, the first senders to arrive; then all is forgotten.
"""

from dataclasses import dataclass, field

from pame.algorithms import Received, Wanted

_PER_SENDER = 16


@dataclass
class _Sender:
    """One neighbour as seen by a mailbox."""

    messages: dict[int, tuple[int, Received]] = field(default_factory=dict)
    """By tag: order of arrival, message."""
    newest_tag: int = -1
    misses: int = 0


class RoundsMailbox:
    """The mailbox of a node that waits for its rounds."""

    def __init__(self, period: int, max_lag: int, exclude_after: int, per_sender: int = _PER_SENDER) -> None:
        self.late: list[Received] = []
        self.evicted = 0
        self._period = period
        self._max_lag = max_lag
        self._exclude_after = exclude_after
        self._per_sender = per_sender
        self._arrivals = 0
        self._oldest_usable = 0
        self._senders: dict[int, _Sender] = {}

    def put(self, received: Received) -> None:
        """Take a message in; a sender that is heard from is no longer suspect."""
        sender = self._senders.setdefault(received.sender, _Sender())
        sender.misses = 0
        sender.newest_tag = max(sender.newest_tag, received.iteration)
        if received.iteration < self._oldest_usable:
            self.late.append(received)
            return
        self._arrivals += 1
        sender.messages[received.iteration] = (self._arrivals, received)
        if len(sender.messages) > self._per_sender:
            del sender.messages[min(sender.messages)]
            self.evicted += 1

    def satisfied(self, k: int, wanted: Wanted) -> bool:
        """Whether there is nothing left to wait for at round k."""
        usable = [self._usable(sender, k) is not None for sender in wanted.senders]
        return sum(usable) >= wanted.enough or not any(
            not there and self._awaited(sender, k) for sender, there in zip(wanted.senders, usable, strict=True)
        )

    def take(self, k: int, wanted: Wanted) -> list[Received]:
        """The first `enough` usable messages of round k, by arrival; the rest of the past becomes late."""
        found = [(sender, usable) for sender in wanted.senders if (usable := self._usable(sender, k)) is not None]
        found.sort(key=lambda pair: pair[1][0])
        taken = [received for _, (_, received) in found[: wanted.enough]]
        for received in taken:
            if received.iteration <= k:
                del self._senders[received.sender].messages[received.iteration]
        self._forget_before(k + self._period - self._max_lag * self._period)
        return taken

    def missed(self, k: int, wanted: Wanted) -> None:
        """Patience ran out at round k: whoever was still awaited has one miss more. To be called before `take`."""
        for node in wanted.senders:
            if self._usable(node, k) is None and self._awaited(node, k):
                self._senders.setdefault(node, _Sender()).misses += 1

    def suspects(self) -> list[int]:
        """Neighbours nobody waits for until a message from them arrives."""
        return sorted(node for node, sender in self._senders.items() if sender.misses >= self._exclude_after)

    def _awaited(self, node: int, k: int) -> bool:
        """Whether a message of this sender for round k may still come. Links keep order: a later tag means no."""
        sender = self._senders.get(node)
        return sender is None or (sender.newest_tag < k and sender.misses < self._exclude_after)

    def _usable(self, node: int, k: int) -> tuple[int, Received] | None:
        sender = self._senders.get(node)
        if sender is None:
            return None
        if k in sender.messages or self._max_lag == 0:
            return sender.messages.get(k)
        later = [tag for tag in sender.messages if tag > k]
        earlier = [tag for tag in sender.messages if k - self._max_lag * self._period <= tag < k]
        if later:
            return sender.messages[min(later)]
        return sender.messages[max(earlier)] if earlier else None

    def _forget_before(self, oldest_usable: int) -> None:
        self._oldest_usable = oldest_usable
        for sender in self._senders.values():
            for tag in [tag for tag in sender.messages if tag < oldest_usable]:
                self.late.append(sender.messages.pop(tag)[1])


class FreeMailbox:
    """The mailbox of a node that never waits."""

    def __init__(self) -> None:
        self.late: list[Received] = []
        self._newest: dict[int, Received] = {}

    def put(self, received: Received) -> None:
        """Take a message in; an older one of the same sender is superseded, but keeps its place in the order."""
        if received.sender in self._newest:
            self.late.append(self._newest[received.sender])
        self._newest[received.sender] = received

    def take(self, wanted: Wanted) -> list[Received]:
        """The first `enough` senders to have arrived; then the mailbox is empty."""
        arrived = list(self._newest.values())
        self._newest.clear()
        self.late += arrived[wanted.enough :]
        return arrived[: wanted.enough]
