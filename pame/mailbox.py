"""What a node has received and not yet used, and which of it a round may use.

`rounds`: at round k only the wanted senders count, at most one message each: the one tagged k; else, if `max_lag` > 0,
the smallest later tag (links keep order, so tag k was dropped), else the newest tag at most `max_lag` rounds old. A
message for a later round stays for that round. What no round can use any more is late: counted, never used.
With `max_lag` = 0 nothing but tag k is ever used, and a message that was dropped on purpose (a public draw) is not
waited for: this keeps a run exact even when messages are lost.

`in_order` algorithms get every message up to tag k, in the order of arrival.

`free`: the newest message per sender since the last aggregation, the first senders to arrive; then all is forgotten.

A mailbox for rounds is bounded per sender and in bytes: whoever puts too much loses its own oldest, nobody else's.
"""

from pame.algorithms import Received, Wanted

PER_SENDER = 64
_BYTES = 64 * 2**20


class Mailbox:
    """A driver `put`s what arrives, and at a round waits until `satisfied`, then `take`s; this one waits for nobody."""

    def __init__(self) -> None:
        self.late: list[Received] = []
        """What no round can use any more; the driver empties it."""
        self.evicted: list[Received] = []
        """What was pushed out by newer messages of the same sender; the driver empties it."""

    def put(self, received: Received) -> None:
        raise NotImplementedError

    def take(self, k: int, wanted: Wanted) -> list[Received]:
        raise NotImplementedError

    def satisfied(self, k: int, wanted: Wanted) -> bool:
        """Whether there is nothing left to wait for at round k."""
        return True

    def missed(self, k: int, wanted: Wanted) -> None:
        """Patience ran out at round k: whoever was still awaited has one miss more. To be called before `take`."""

    def will_not_come(self, sender: int, k: int) -> None:
        """A message was dropped on purpose, by a public draw: nobody waits for it."""

    def suspects(self) -> list[int]:
        """Neighbours nobody waits for until a message from them arrives."""
        return []


class WaitingMailbox(Mailbox):
    """Knows who has been heard from, up to which tag, and who has been missing how often."""

    def __init__(self, exclude_after: int) -> None:
        super().__init__()
        self._exclude_after = exclude_after
        self._newest: dict[int, int] = {}
        """By sender: the tag up to which there is nothing to await."""
        self._misses: dict[int, int] = {}

    def _has(self, sender: int, k: int) -> bool:
        """Whether what round k needs of this sender is there: everything it says up to k has come."""
        return self._newest.get(sender, -1) >= k

    def satisfied(self, k: int, wanted: Wanted) -> bool:
        missing = [sender for sender in wanted.senders if not self._has(sender, k)]
        enough = len(wanted.senders) - len(missing) >= wanted.enough
        return enough or not any(self._awaits(sender, k) for sender in missing)

    def missed(self, k: int, wanted: Wanted) -> None:
        for sender in wanted.senders:
            if not self._has(sender, k) and self._awaits(sender, k):
                self._misses[sender] = self._misses.get(sender, 0) + 1

    def will_not_come(self, sender: int, k: int) -> None:
        self._newest[sender] = max(self._newest.get(sender, -1), k)

    def suspects(self) -> list[int]:
        return sorted(node for node, misses in self._misses.items() if misses >= self._exclude_after)

    def _heard(self, received: Received) -> None:
        self.will_not_come(received.sender, received.iteration)
        self._misses[received.sender] = 0

    def _awaits(self, sender: int, k: int) -> bool:
        """Whether its message for round k may still come and is waited for. Links keep order: a later tag means no."""
        return self._newest.get(sender, -1) < k and self._misses.get(sender, 0) < self._exclude_after


class RoundsMailbox(WaitingMailbox):
    """The mailbox of a node that waits for its rounds, for algorithms that use one message per sender."""

    def __init__(
        self, period: int, max_lag: int, exclude_after: int, per_sender: int = PER_SENDER, most_bytes: int = _BYTES
    ) -> None:
        """At most `per_sender` messages of one sender and, in total, `most_bytes` on the wire."""
        super().__init__(exclude_after)
        self.bytes = 0
        """Of all messages in it, as on the wire."""
        self._period = period
        self._max_lag = max_lag
        self._per_sender = per_sender
        self._most_bytes = most_bytes
        self._arrivals = 0
        self._oldest_usable = 0
        self._messages: dict[int, dict[int, tuple[int, Received]]] = {}
        """By sender and tag: order of arrival, message."""
        self._taken: dict[int, int] = {}
        """By sender: the newest tag used in or after its round."""

    def put(self, received: Received) -> None:
        self._heard(received)
        messages = self._messages.setdefault(received.sender, {})
        is_copy = received.iteration in messages or received.iteration <= self._taken.get(received.sender, -1)
        if is_copy or received.iteration < self._oldest_usable:
            self.late.append(received)
            return
        self._arrivals += 1
        messages[received.iteration] = (self._arrivals, received)
        self.bytes += received.size
        while messages and (len(messages) > self._per_sender or self.bytes > self._most_bytes):
            self.evicted.append(self._remove(received.sender, min(messages)))

    def take(self, k: int, wanted: Wanted) -> list[Received]:
        """The first `enough` usable messages of round k, by arrival; the rest of the past becomes late."""
        usable = [found for sender in wanted.senders if (found := self._usable(sender, k)) is not None]
        taken = [received for _, received in sorted(usable, key=lambda found: found[0])[: wanted.enough]]
        for received in taken:
            if received.iteration <= k:
                self._remove(received.sender, received.iteration)
                self._taken[received.sender] = received.iteration
        self._forget_before(k + self._period - self._max_lag * self._period)
        return taken

    def _has(self, sender: int, k: int) -> bool:
        return self._usable(sender, k) is not None

    def _usable(self, sender: int, k: int) -> tuple[int, Received] | None:
        messages = self._messages.get(sender, {})
        if k in messages or self._max_lag == 0:
            return messages.get(k)
        later = [tag for tag in messages if tag > k]
        earlier = [tag for tag in messages if k - self._max_lag * self._period <= tag < k]
        if later:
            return messages[min(later)]
        return messages[max(earlier)] if earlier else None

    def _forget_before(self, oldest_usable: int) -> None:
        self._oldest_usable = oldest_usable
        for sender, messages in self._messages.items():
            for tag in [tag for tag in messages if tag < oldest_usable]:
                self.late.append(self._remove(sender, tag))

    def _remove(self, sender: int, tag: int) -> Received:
        _, received = self._messages[sender].pop(tag)
        self.bytes -= received.size
        return received


class InOrderMailbox(WaitingMailbox):
    """The mailbox for algorithms that keep replicas: everything is handed over, in order, and nothing is ever late.

    A message lost on purpose breaks a replica whatever the mailbox does; mending it is the algorithm's business.
    """

    def __init__(self, exclude_after: int, waits: bool) -> None:
        super().__init__(exclude_after)
        self._waits = waits
        self._messages: list[Received] = []

    def put(self, received: Received) -> None:
        self._heard(received)
        self._messages.append(received)

    def satisfied(self, k: int, wanted: Wanted) -> bool:
        return not self._waits or super().satisfied(k, wanted)

    def take(self, k: int, wanted: Wanted) -> list[Received]:
        """All messages, in order of arrival; for a node that waits, those of later rounds stay."""
        taken = [received for received in self._messages if received.iteration <= k or not self._waits]
        self._messages = [received for received in self._messages if received.iteration > k and self._waits]
        return taken


class FreeMailbox(Mailbox):
    """The mailbox of a node that never waits, for algorithms that use one message per sender."""

    def __init__(self) -> None:
        super().__init__()
        self._newest: dict[int, Received] = {}

    def put(self, received: Received) -> None:
        """Take a message in; an older one of the same sender is superseded, but keeps its place in the order."""
        if received.sender in self._newest:
            self.late.append(self._newest[received.sender])
        self._newest[received.sender] = received

    def take(self, k: int, wanted: Wanted) -> list[Received]:
        """The first `enough` senders to have arrived; then the mailbox is empty."""
        arrived = list(self._newest.values())
        self._newest.clear()
        self.late += arrived[wanted.enough :]
        return arrived[: wanted.enough]
