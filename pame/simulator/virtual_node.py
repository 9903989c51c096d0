"""One node under the virtual clock: its algorithm, its mailbox, its patience, and where it is in its iteration."""

from pame.algorithms import Algorithm, Mode, Received, Wanted
from pame.mailbox import FreeMailbox, RoundsMailbox
from pame.patience import Adaptive, Fixed
from pame.simulator.observe import Record
from pame.simulator.post import Posted
from pame.simulator.setting import Setting


class VirtualNode:
    """Bookkeeping of one node; the clock and the other nodes are the driver's business."""

    def __init__(self, setting: Setting, index: int, algorithm: Algorithm) -> None:
        self.index = index
        self.algorithm = algorithm
        self.k = 0
        self.expired = 0
        self.waiting: Wanted | None = None
        self.patience = Adaptive() if setting.patience_s is None else Fixed(setting.patience_s)
        self._mailbox: RoundsMailbox | FreeMailbox = (
            RoundsMailbox(setting.periods[index], setting.max_lag, setting.exclude_after)
            if setting.mode is Mode.ROUNDS
            else FreeMailbox()
        )
        self.coverage: float | None = None
        self._began = 0.0
        self._waited_s = 0.0
        self._round_began: dict[int, float] = {}
        self._mail: Posted | None = None
        self._wanted: Wanted | None = None
        self._received = 0

    @property
    def troubled(self) -> bool:
        """Whether a patience ran out or a message was evicted."""
        return self.expired > 0 or (isinstance(self._mailbox, RoundsMailbox) and self._mailbox.evicted > 0)

    def begin(self, now: float, mail: Posted | None, wanted: Wanted | None) -> None:
        """Iteration k begins with a message sent or not; at a round the node starts to wait."""
        self._began = now
        self._mail = mail
        self._wanted = self.waiting = wanted
        self._received = 0
        self.coverage = None
        if wanted is not None:
            self._round_began[self.k] = now

    def deliver(self, envelope: Received, now: float) -> None:
        """A message arrives."""
        if envelope.iteration in self._round_began:
            self.patience.arrived_after(now - self._round_began[envelope.iteration])
        self._mailbox.put(envelope)

    def satisfied(self) -> bool:
        """Whether a waiting node has nothing more to wait for. In `free` nobody ever waits."""
        if self.waiting is None or isinstance(self._mailbox, FreeMailbox):
            return True
        return self._mailbox.satisfied(self.k, self.waiting)

    def expire(self) -> None:
        """Patience ran out."""
        self.expired += 1
        if self.waiting is not None and isinstance(self._mailbox, RoundsMailbox):
            self._mailbox.missed(self.k, self.waiting)

    def end_of_wait(self, now: float) -> list[Received] | None:
        """The messages of this round; None if it is not a round."""
        self._waited_s = now - self._began
        self.waiting = None
        if self._wanted is None:
            return None
        if isinstance(self._mailbox, FreeMailbox):
            received = self._mailbox.take(self._wanted)
        else:
            received = self._mailbox.take(self.k, self._wanted)
        self._received = len(received)
        return received

    def late(self) -> list[Received]:
        """What has become late since the last call."""
        late, self._mailbox.late = self._mailbox.late, []
        return late

    def record(self, now: float, late: int) -> Record:
        """What this iteration was like."""
        copies = len(self._mail.receivers) if self._mail else 0
        return Record(
            node=self.index,
            iteration=self.k,
            seconds=now,
            waited_s=self._waited_s,
            wanted=self._wanted.enough if self._wanted else 0,
            received=self._received,
            coverage=self.coverage,
            starved=int(self._wanted is not None and self._received == 0),
            late=late,
            messages=copies,
            bytes=copies * self._mail.envelope.size if self._mail else 0,
        )
