"""What algorithms with replicas have in common: a surrogate of each of a node's vectors, and copies at its neighbours.

At its round k node i compresses how far a vector is from its surrogate, and sends that to all its neighbours; it and
they add the very same payload, so that the surrogate s_i and every replica of it have the same bits. Mixing is over
surrogates, sum_j Q_ij (s_j - s_i): a wrong replica is a wrong force for ever. A replica's version is the iteration of
the last message of its original; the schedule is public, so a gap is seen without a byte on the wire. A lost message:

    acknowledged   the next message that is not lost on the same edge makes up for it: it has the update before, too,
                   if that is all that is missing, else it is the whole surrogate
    resync         every R-th round the message is the whole surrogate; a replica that missed an update waits for that
    naive          whatever comes is added

But for `naive`, an edge over which a message of k is lost, either way, or (`resync`) one of whose replicas is behind,
is left out at k by both ends: they can compute it, the forces on them stay opposite, and the mean of all nodes is kept;
all other edges go on. No acknowledgement travels: what is lost on purpose is a public draw. A message is the same for
all receivers, so what one neighbour missed all of them get: with p of the messages lost and d neighbours a message has
an update twice about 1 - (1 - p)^d of the time, and is whole 1 - (1 - p^2)^d of it. While an edge is down nothing is
repeated for it, which would be lost, too; the first message after that is whole.
After a loss that only its sender knows of (by the clock, or for want of room in its queue) both ends leave the edge
out, and its next message is the whole surrogate.

A node that came back sends whole surrogates first, and so do its neighbours; their edges are used when both have done
so. A message that is late is applied late. When patience runs out, this end leaves the edge out, and cannot know
whether the other does, too; a link that is down by the clock for longer than patience is enough for that to happen all
over the network, because its ends hold up their neighbours. Models get over it, but the duals of ANQ-NIDS and the
trackers of BEER would not: what should have flowed into them at that round does so when the message comes (`late`), so
that both ends have it in the end. This is given up, and counted (`desynchronised`), for all but the last 64 rounds, and
for all of them if it turns out that messages are missing. If the other end did not give up the same, as on a link that
was down in one direction only, the mean of all nodes stays wrong.
What a neighbour said is applied at the next round of both, when all of it has surely come, so that the replicas of two
nodes with different periods do not depend on the speed of their link.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from pame.algorithms.base import MixingSpec
from pame.algorithms.interface import Context, Form, Message, Received
from pame.algorithms.mixing import Mixing
from pame.algorithms.selection import Who
from pame.compressors import CompressorSpec, Payload, Sparse, TopK, expand, rounded
from pame.exchange import PartialMessage, Vector, as_sent
from pame.randomness import Key, Purpose

Surrogates = Mapping[str, Vector]

_DRAWS_REMEMBERED = 1024
_ROUNDS_OWED = 64
"""No queue of a node holds more messages."""


@dataclass(frozen=True)
class ReplicaSpec(MixingSpec):
    """Those of mixing, and what every algorithm with replicas may be told.

    compressor: how a node's updates are compressed
    on_loss: acknowledged: the next message on that edge makes up for it; resync: whole vectors come every so often;
        naive: what is lost is lost
    resync_every: with resync, every so many rounds
    """

    compressor: CompressorSpec = field(default_factory=TopK)
    on_loss: Literal["acknowledged", "resync", "naive"] = "acknowledged"
    resync_every: Annotated[int, Ge(1)] = 10

    @property
    def who(self) -> Who:
        """To all neighbours, because all keep a replica."""
        return Who.BROADCAST_SHARED if self.draw == "shared" else Who.BROADCAST


@dataclass
class _Replica:
    """A neighbour's surrogates as they are known here."""

    vectors: Surrogates
    heard: int | None
    """The iteration of its last message, -1 before the first; None: only a whole surrogate helps."""
    sound: bool
    """Whether nothing is missing."""
    told: bool
    """Whether the neighbour knows this node, as far as this node can tell."""
    met: Surrogates
    """The own surrogates at the last round of both."""
    waiting: list[Received] = field(default_factory=list)
    """What it said since then."""
    owed: dict[int, Vector] = field(default_factory=dict)
    """The own surrogate that flows, at the last rounds that passed without its message, for no reason known here."""
    behind: int | None = None
    """The first iteration whose update it lacks, as both ends know; None: it lacks nothing (`acknowledged`)."""


@dataclass(frozen=True, slots=True)
class Late:
    """An edge that this end left out at a round because nothing had come, and what flows over it now that it has."""

    neighbour: int
    iteration: int
    weight: float
    difference: Vector
    """s_j - s_i, as both were at that round."""


class Replicas:
    """The surrogates of one node, and its replicas of its neighbours'."""

    def __init__(self, spec: ReplicaSpec, context: Context, names: Sequence[str], flowing: str | None = None) -> None:
        """`flowing`: the one of these vectors whose differences over edges add up to something that must not be
        missed, if there is one."""
        self._spec = spec
        self._context = context
        self.names = tuple(names)
        self._flowing = flowing
        self._naive = spec.on_loss == "naive"
        self._is_lost = lru_cache(maxsize=_DRAWS_REMEMBERED)(context.is_lost)
        self._mixing = Mixing(context, spec.mixing)
        self._own: Surrogates = {name: np.zeros_like(context.start) for name in names}
        is_new = context.first == 0
        neighbours = context.topology.neighbours(context.node)
        self._of = {j: _Replica(self._own, -1 if is_new else None, is_new, is_new, self._own) for j in neighbours}
        self.outgoing: Message = {}
        self._spoken: Mapping[str, Payload] = {}
        """The updates of the last round, if these were what was sent."""
        self._late: list[Late] = []
        self.desynchronised = 0

    @property
    def vectors(self) -> dict[str, Form]:
        """An update, the one before, or the whole surrogate, of each vector."""
        form = Form(self._spec.compressor.form)
        updates = dict.fromkeys(self.names, form)
        if self._mends:
            again = Form.SPARSE if form is Form.PARTIAL else form
            updates |= {_before(name): again for name in self.names}
        return updates | {_whole(name): Form.DENSE for name in self.names}

    @property
    def bundles(self) -> list[frozenset[str]]:
        """All updates, those of two rounds, or all surrogates."""
        updates, befores = frozenset(self.names), frozenset(map(_before, self.names))
        twice = [updates | befores] if self._mends else []
        return [updates, *twice, frozenset(map(_whole, self.names))]

    @property
    def silences(self) -> list[frozenset[str]]:
        """What there is to send without an update: nothing, or that of the round before."""
        return [frozenset(), *([frozenset(map(_before, self.names))] if self._mends else [])]

    def own(self, name: str) -> Vector:
        """The node's own surrogate."""
        return self._own[name]

    def others(self, name: str) -> dict[int, Vector]:
        """The replicas of the neighbours' surrogates."""
        return {j: replica.vectors[name] for j, replica in self._of.items()}

    def tell(self, k: int, vectors: Surrogates) -> None:
        """At a round: make the message that brings the surrogates nearer to these vectors (to none: an explicit
        nothing)."""
        updates = {name: self._compress(k, name, vector) for name, vector in vectors.items()}
        surrogates = dict(self._own)
        for name, payload in updates.items():
            surrogates[name] = surrogates[name] + expand(payload)
        here = self._context.node
        reached = {j: replica for j, replica in self._of.items() if not self._is_lost(here, j, k)}
        is_whole = self._is_resync(here, k) or any(self._needs_whole(replica, k) for replica in reached.values())
        again = self._spoken if any(replica.behind is not None for replica in reached.values()) else {}
        if is_whole:
            surrogates = {name: as_sent(vector, self._context.values) for name, vector in surrogates.items()}
            self.outgoing = {_whole(name): vector for name, vector in surrogates.items()}
        else:
            self.outgoing = updates | {_before(name): _drawn_no_more(payload) for name, payload in again.items()}
        self._own, self._spoken = surrogates, {} if is_whole else updates
        for j, replica in self._of.items():
            if j in reached:
                replica.behind, replica.told = None, replica.told or is_whole
            elif self._mends and self.outgoing and replica.behind is None:
                replica.behind = k

    def absorb(self, k: int, received: Sequence[Received]) -> None:
        """Apply what came of the neighbours that are at a round, too."""
        here = self._context.node
        self._late = []
        for message in received:
            self._of[message.sender].waiting.append(message)
        for j in self._context.selection.senders(here, k):
            if not self._is_lost(j, here, k):
                replica = self._of[j]
                for message in replica.waiting:
                    self._apply(j, replica, message)
                replica.waiting, replica.met = [], self._own
        if self._flowing is not None and not self._naive:
            for j in self._mixing.edges(k):
                if self._is_expected(j, k) and not self._has_come(j, k):
                    self._owe(j, k, self._own[self._flowing])

    def edges(self, k: int) -> dict[int, float]:
        """The weights of the edges to mix over, once the messages of k are absorbed."""
        return {j: weight for j, weight in self._mixing.edges(k).items() if self._is_usable(j, k)}

    def edges_before(self, k: int) -> dict[int, float]:
        """The same before: what both ends knew of each other after their last round together."""
        here, selection = self._context.node, self._context.selection
        together = {j: k - selection.common_period(here, j) for j in self._of}
        return {j: weight for j, weight in self._mixing.edges(k).items() if self._is_usable(j, together[j])}

    def pull(self, name: str, edges: Mapping[int, float]) -> Vector:
        """sum_j Q_ij (s_j - s_i) over some edges, in ascending order of the node."""
        total = np.zeros_like(self._own[name])
        for j in sorted(edges):
            replica = self._of[j]
            mine = self._own if self._naive else replica.met
            total += edges[j] * (replica.vectors[name] - mine[name])
        return total

    def late(self) -> list[Late]:
        """What came at the last round and should have been there at an earlier one; once."""
        late, self._late = self._late, []
        return late

    def missed(self, neighbour: int) -> None:
        """An update got lost that nobody could foresee: the edge rests, and the next message is the whole surrogate."""
        if not self._naive:
            self._of[neighbour].told = False

    def greet(self, neighbour: int) -> None:
        """A neighbour came back: it knows nothing, and what is known of it is past."""
        replica = self._of[neighbour]
        replica.heard, replica.sound, replica.told, replica.waiting = None, False, False, []
        replica.owed.clear()
        self._late = [late for late in self._late if late.neighbour != neighbour]

    def _compress(self, k: int, name: str, vector: Vector) -> Payload:
        context, place = self._context, self.names.index(name)
        key = Key(context.seed, Purpose.COMPRESSION, context.node, k, place)
        return rounded(self._spec.compressor.compress(vector - self._own[name], key), context.values)

    @property
    def _mends(self) -> bool:
        return self._spec.on_loss == "acknowledged"

    def _needs_whole(self, replica: _Replica, k: int) -> bool:
        """Whether a neighbour must be told everything at k: it lacks more than the updates of the last round."""
        before = self._context.selection.previous(self._context.node, k)
        lacks_more = replica.behind is not None and not (self._spoken and replica.behind == before)
        return lacks_more or not replica.told

    def _apply(self, sender: int, replica: _Replica, received: Received) -> None:
        message, k = received.message, received.iteration
        is_whole = _whole(self.names[0]) in message
        if replica.heard is None and not is_whole:
            return
        if replica.heard is not None and replica.heard != max(self._context.selection.previous(sender, k), -1):
            self._mind_the_gap(sender, replica, k)
        replica.heard = k
        if is_whole:
            replica.vectors = {name: expand(message[_whole(name)]) for name in self.names}
            replica.sound = True
        elif replica.sound:
            before = self._context.selection.previous(sender, k)
            if before >= 0 and self._is_lost(sender, self._context.node, before):
                self._add(replica, message, _before)
            self._add(replica, message, str)
        then = replica.owed.pop(k, None)
        if then is not None and self._flowing is not None and replica.sound:
            difference = replica.vectors[self._flowing] - then
            self._late.append(Late(sender, k, self._mixing.edges(k)[sender], difference))

    def _owe(self, j: int, k: int, own: Vector) -> None:
        owed = self._of[j].owed
        owed[k] = own
        if len(owed) > _ROUNDS_OWED:
            del owed[min(owed)]
            self.desynchronised += 1

    def _add(self, replica: _Replica, message: Message, called: Callable[[str], str]) -> None:
        if called(self.names[0]) in message:
            replica.vectors = {n: replica.vectors[n] + expand(message[called(n)]) for n in self.names}

    def _mind_the_gap(self, sender: int, replica: _Replica, k: int) -> None:
        """What should have come before the message of k did not."""
        is_foreseen = replica.heard == self._last_sent(sender, k)
        if is_foreseen and self._mends:  # this message makes up for it
            return
        replica.sound = replica.sound and self._naive
        self.desynchronised += 1 if is_foreseen else max(1, len(replica.owed))
        if not is_foreseen:
            replica.owed.clear()

    def _last_sent(self, sender: int, k: int) -> int:
        """The last message before that of k which is not lost on purpose; -1: there is none."""
        selection, here = self._context.selection, self._context.node
        before = selection.previous(sender, k)
        while before >= 0 and self._is_lost(sender, here, before):
            before = selection.previous(sender, before)
        return max(before, -1)

    def _is_usable(self, j: int, k: int) -> bool:
        """Whether both ends of an edge knew each other's surrogates after the round k of both."""
        return self._is_expected(j, k) and (self._naive or self._has_come(j, k))

    def _is_expected(self, j: int, k: int) -> bool:
        """Whether they should have, if everything comes that is on its way."""
        replica, here = self._of[j], self._context.node
        is_met = replica.sound and replica.told
        if self._naive or not is_met or k < 0:
            return is_met
        return self._is_up_to_date(j, here, k) and self._is_up_to_date(here, j, k)

    def _has_come(self, j: int, k: int) -> bool:
        heard = self._of[j].heard
        return k < 0 or (heard is not None and heard >= k)

    def _is_up_to_date(self, sender: int, receiver: int, k: int) -> bool:
        """Whether a message of k is not lost; with `resync` none since the last whole surrogate."""
        resyncs, lost = self._spec.on_loss == "resync", self._is_lost
        while k >= 0 and not lost(sender, receiver, k):
            if not resyncs or self._is_resync(sender, k):
                return True
            k = self._context.selection.previous(sender, k)
        return k < 0

    def _is_resync(self, sender: int, k: int) -> bool:
        """Whether the schedule has a whole surrogate at the round k of a node."""
        rounds = k // self._context.selection.periods[sender] + 1
        return self._spec.on_loss == "resync" and rounds % self._spec.resync_every == 0


def _whole(name: str) -> str:
    return f"{name}_whole"


def _before(name: str) -> str:
    return f"{name}_before"


def _drawn_no_more(payload: Payload) -> Payload:
    """An update that is sent again: nobody draws the support of a former iteration, so it must be told."""
    if type(payload) is PartialMessage:
        return Sparse(payload.n, payload.support, payload.values)
    return payload
