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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, TypeVar

import numpy as np
from annotated_types import Ge

from pame.algorithms.base import MixingSpec, SteppingNode
from pame.algorithms.flows import EdgeFlows
from pame.algorithms.interface import Context, Delivery, Message, Received
from pame.algorithms.mixing import Mixing
from pame.algorithms.replica_messages import ReplicaForms, added, before, sent_again, whole
from pame.algorithms.replica_schedule import ReplicaSchedule
from pame.algorithms.replica_state import NeighbourReplica, ReplicaEvent, ReplicaState, Surrogates, ToldEvent, ToldState
from pame.algorithms.selection import Who
from pame.compressors import CompressorSpec, Payload, TopK, expand, rounded
from pame.exchange import Vector, as_sent
from pame.randomness import Key, Purpose

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


@dataclass(frozen=True, slots=True)
class Late:
    """An edge that this end left out at a round because nothing had come, and what flows over it now that it has."""

    neighbour: int
    iteration: int
    weight: float
    difference: Vector
    """s_j - s_i, as both were at that round."""


Spec = TypeVar("Spec", bound=ReplicaSpec)


class ReplicaNode(SteppingNode[Spec]):
    """The routine of every node with replicas; an algorithm says what happens before sending and after absorbing."""

    delivery = Delivery.IN_ORDER
    names: ClassVar[tuple[str, ...]]
    """Of the vectors that have a surrogate."""
    flowing: ClassVar[str | None] = None
    """The one of these whose differences over edges add up to something that must not be missed, if there is one."""

    def __init__(self, spec: Spec, context: Context) -> None:
        super().__init__(spec, context)
        self._naive, self._mends = spec.on_loss == "naive", spec.on_loss == "acknowledged"
        self._forms = ReplicaForms(self.names, spec.compressor, repeats=self._mends)
        self.vectors, self.bundles = self._forms.vectors, self._forms.bundles
        self._schedule = ReplicaSchedule(context, spec.resync_every if spec.on_loss == "resync" else None)
        self._mixing = Mixing(context, spec.mixing)
        zero = np.zeros_like(context.start)
        self._flows = EdgeFlows(zero)
        self._surrogates: Surrogates = dict.fromkeys(self.names, zero)
        known = (ReplicaState.SOUND, ToldState.ALL) if context.first == 0 else (ReplicaState.UNKNOWN, ToldState.NOTHING)
        neighbours = context.topology.neighbours(context.node)
        self._of = {j: NeighbourReplica(self._surrogates, self._surrogates, *known) for j in neighbours}
        self._said: Message = {}
        self._spoken: Mapping[str, Payload] = {}
        """The updates of the last round, if these were what was sent."""
        self._late: list[Late] = []

    def message(self, k: int) -> Message:
        return self._said

    def own(self, name: str) -> Vector:
        return self._surrogates[name]

    def others(self, name: str) -> dict[int, Vector]:
        return {j: replica.vectors[name] for j, replica in self._of.items()}

    def tell(self, k: int, vectors: Surrogates) -> None:
        """At a round: make the message that brings the surrogates nearer to these vectors (to none: an explicit
        nothing)."""
        updates = {name: self._compress(k, name, vector) for name, vector in vectors.items()}
        surrogates = dict(self._surrogates)
        for name, payload in updates.items():
            surrogates[name] = surrogates[name] + expand(payload)
        here = self._context.node
        reached = {j: neighbour for j, neighbour in self._of.items() if not self._schedule.is_lost(here, j, k)}
        is_whole = self._schedule.is_resync(here, k) or any(other.needs_whole for other in reached.values())
        again = self._spoken if any(other.knows is ToldState.LACKS_LAST for other in reached.values()) else {}
        if is_whole:
            surrogates = {name: as_sent(vector, self._context.values) for name, vector in surrogates.items()}
            self._said = {whole(name): vector for name, vector in surrogates.items()}
        else:
            self._said = updates | sent_again(again)
        self._surrogates, self._spoken = surrogates, {} if is_whole else updates
        lost = ToldEvent.LOST_UPDATE if self._spoken else ToldEvent.LOST_OTHER if self._said else ToldEvent.LOST_NOTHING
        for j, neighbour in self._of.items():
            if j in reached:
                neighbour.tell(ToldEvent.WHOLE if is_whole else ToldEvent.UPDATE)
            elif self._mends:
                neighbour.tell(lost)

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        """Apply what came; over how many edges the node can mix."""
        here = self._context.node
        self._late = []
        for message in received:
            self._of[message.sender].waiting.append(message)
        for j in self._context.selection.senders(here, k):
            if not self._schedule.is_lost(j, here, k):
                replica = self._of[j]
                for message in replica.waiting:
                    self._apply(j, replica, message)
                replica.waiting, replica.met = [], self._surrogates
        if self.flowing is not None and not self._naive:
            for j in self._mixing.edges(k):
                if self._is_expected(j, k) and not self._has_come(j, k):
                    self._owe(j, k, self._surrogates[self.flowing])
        return float(len(self.edges(k)))

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
        total = np.zeros_like(self._surrogates[name])
        for j in sorted(edges):
            replica = self._of[j]
            mine = self._surrogates if self._naive else replica.met
            total += edges[j] * (replica.vectors[name] - mine[name])
        return total

    def late(self) -> list[Late]:
        """What came at the last round and should have been there at an earlier one; once."""
        late, self._late = self._late, []
        return late

    def missed(self, neighbour: int, k: int) -> None:
        """An update got lost that nobody could foresee: the edge rests, and the next message is the whole surrogate."""
        if not self._naive:
            self._of[neighbour].tell(ToldEvent.MISSED)

    def greet(self, neighbour: int) -> None:
        """A neighbour came back: it knows nothing and needs whole surrogates, and what is known of it is past. What
        flowed over the edge is gone at its end, so it must go at this one."""
        replica = self._of[neighbour]
        replica.hear(ReplicaEvent.RETURN)
        replica.tell(ToldEvent.RETURN)
        replica.heard, replica.waiting = -1, []
        replica.owed.clear()
        self._late = [late for late in self._late if late.neighbour != neighbour]
        self._flows.forget(neighbour)

    def _is_round(self, k: int) -> bool:
        return self._context.selection.is_round(self._context.node, k)

    def _compress(self, k: int, name: str, vector: Vector) -> Payload:
        context, place = self._context, self.names.index(name)
        key = Key(context.seed, Purpose.COMPRESSION, context.node, k, place)
        return rounded(self._spec.compressor.compress(vector - self._surrogates[name], key), context.values)

    def _apply(self, sender: int, replica: NeighbourReplica, received: Received) -> None:
        message, k, here = received.message, received.iteration, self._context.node
        is_whole = whole(self.names[0]) in message
        if replica.held is ReplicaState.UNKNOWN and not is_whole:
            return
        before_k = self._schedule.previous(sender, k)
        if replica.held is not ReplicaState.UNKNOWN and replica.heard != before_k:
            self._mind_the_gap(sender, replica, k)
        replica.heard = k
        if is_whole:
            replica.vectors = {name: expand(message[whole(name)]) for name in self.names}
        elif replica.held is ReplicaState.SOUND:
            if before_k >= 0 and self._schedule.is_lost(sender, here, before_k):
                replica.vectors = added(replica.vectors, message, before)
            replica.vectors = added(replica.vectors, message)
        replica.hear(ReplicaEvent.WHOLE if is_whole else ReplicaEvent.UPDATE)
        then = replica.owed.pop(k, None)
        if then is not None and self.flowing is not None and replica.held is ReplicaState.SOUND:
            difference = replica.vectors[self.flowing] - then
            self._late.append(Late(sender, k, self._mixing.edges(k)[sender], difference))

    def _owe(self, j: int, k: int, own: Vector) -> None:
        owed = self._of[j].owed
        owed[k] = own
        if len(owed) > _ROUNDS_OWED:
            del owed[min(owed)]
            self._gaps += 1

    def _mind_the_gap(self, sender: int, replica: NeighbourReplica, k: int) -> None:
        is_foreseen = replica.heard == self._schedule.last_sent(sender, self._context.node, k)
        if is_foreseen and self._mends:  # this message makes up for it
            return
        if not self._naive:
            replica.hear(ReplicaEvent.GAP)
        self._gaps += 1 if is_foreseen else max(1, len(replica.owed))
        if not is_foreseen:
            replica.owed.clear()

    def _is_usable(self, j: int, k: int) -> bool:
        """Whether both ends of an edge knew each other's surrogates after the round k of both."""
        return self._is_expected(j, k) and (self._naive or self._has_come(j, k))

    def _is_expected(self, j: int, k: int) -> bool:
        """Whether they should have, if everything comes that is on its way."""
        is_met, here = self._of[j].is_met, self._context.node
        if self._naive or not is_met:
            return is_met
        return self._schedule.is_up_to_date(j, here, k) and self._schedule.is_up_to_date(here, j, k)

    def _has_come(self, j: int, k: int) -> bool:
        return self._of[j].heard >= k
