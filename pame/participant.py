"""One node between its algorithm and its driver: mailbox, patience, and where it is in its iteration.

The clock is the driver's: virtual time in the simulator, real time in a gRPC node.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from pame.algorithms import Algorithm, Received, Wanted
from pame.observe import Record
from pame.resolved_run import ResolvedRun

_ROUNDS_REMEMBERED = 64


def staleness(k: int, averaged: Sequence[Received]) -> float | None:
    """Mean age in iterations of what a node averages at its iteration k: max(0, k - tag) each; None without any.

    A message from ahead counts as fresh: in `free`, where clocks differ, negative ages would make up for old ones.
    """
    return sum(max(0, k - message.iteration) for message in averaged) / len(averaged) if averaged else None


class Sent(NamedTuple):
    """What a node sent since its last record, and how many messages it lost on purpose instead."""

    messages: int = 0
    bytes: int = 0
    lost: int = 0


class Participant:
    def __init__(self, setting: ResolvedRun, index: int, algorithm: Algorithm) -> None:
        self.index = index
        self.algorithm = algorithm
        self.k = 0
        self.expired = 0
        self.wanted: Wanted | None = None
        self.waiting: Wanted | None = None
        self.patience = setting.exchange.patience()
        self._mailbox = setting.mailbox(index, algorithm.delivery)
        self.coverage: float | None = None
        self.staleness: float | None = None
        self.starved = False
        self._began = 0.0
        self._waited_s = 0.0
        self._round_began: dict[int, float] = {}
        self._early: Counter[int] = Counter()
        self._received = 0

    def begin(self, now: float, wanted: Wanted | None, lost: Sequence[int]) -> None:
        """Iteration k has begun; at a round the node waits, but not for senders who lost theirs."""
        self._began = now
        self.wanted = self.waiting = wanted
        self._received = 0
        self.coverage = None
        self.staleness = None
        self.starved = False
        for sender in lost:
            self._mailbox.will_not_come(sender, self.k)
        early = self._early.pop(self.k, 0)
        if wanted is not None:
            self._remember_round(now, early)

    def deliver(self, envelope: Received, now: float) -> None:
        if envelope.iteration in self._round_began:
            self.patience.arrived_after(now - self._round_began[envelope.iteration])
        elif envelope.iteration > self.k:
            self._early[envelope.iteration] += 1
        self._mailbox.put(envelope)

    def satisfied(self) -> bool:
        return self.waiting is None or self._mailbox.satisfied(self.k, self.waiting)

    def expire(self) -> None:
        self.expired += 1
        if self.waiting is not None:
            self._mailbox.missed(self.k, self.waiting)

    def end_of_wait(self, now: float) -> list[Received]:
        """The messages of this round; none if it is not a round."""
        self._waited_s = now - self._began
        self.waiting = None
        received = [] if self.wanted is None else self._mailbox.take(self.k, self.wanted)
        self._received = len(received)
        self.staleness = staleness(self.k, received)
        return received

    def unused(self) -> tuple[list[Received], list[Received]]:
        late, self._mailbox.late = self._mailbox.late, []
        evicted, self._mailbox.evicted = self._mailbox.evicted, []
        return late, evicted

    def suspects(self) -> list[int]:
        return self._mailbox.suspects()

    def _remember_round(self, now: float, early: int) -> None:
        """Patience learns from how long after this moment messages of the round arrive; early ones took no waiting."""
        self._round_began[self.k] = now
        if len(self._round_began) > _ROUNDS_REMEMBERED:
            del self._round_began[next(iter(self._round_began))]
        for _ in range(early):
            self.patience.arrived_after(0.0)

    def record(self, now: float, late: int, sent: Sent) -> Record:
        """What this iteration was like; `sent`: since the last record."""
        return Record(
            node=self.index,
            iteration=self.k,
            seconds=now,
            waited_s=self._waited_s,
            wanted=self.wanted.enough if self.wanted else 0,
            received=self._received,
            coverage=self.coverage,
            starved=int(self.starved),
            late=late,
            messages=sent.messages,
            bytes=sent.bytes,
            lost=sent.lost,
            staleness=self.staleness,
        )
