"""Who is which node of a run: one member per index, its incarnation, and whether it can be counted on."""

from contract.assignment import Peer
from contract.rpc import control_pb2 as pb
from orchestrator.control.members import Member


class IndexTable:
    """The places of one run; whoever takes a place that was taken before is a higher incarnation."""

    def __init__(self, nodes: int) -> None:
        self._members: list[Member | None] = [None] * nodes
        self._incarnations = [0] * nodes

    def __len__(self) -> int:
        return len(self._members)

    def take(self, index: int, member: Member) -> None:
        """This member is that node from now on, in its incarnation."""
        if (former := self._members[index]) is not None:
            former.last_index = None
        member.index, member.incarnation, member.iteration = index, self._incarnations[index], 0
        member.last_index = index
        self._members[index] = member

    def take_over(self, index: int, member: Member) -> int:
        """A successor takes the place; its incarnation."""
        self._incarnations[index] += 1
        self.take(index, member)
        return self._incarnations[index]

    def leave(self) -> None:
        """The run is over: everybody is free for the next."""
        for member in filter(None, self._members):
            member.index = None

    def holds(self, member: Member) -> bool:
        """Whether this very process has an index: a former one of the same name has not."""
        return member.index is not None and self._members[member.index] is member

    def taken(self) -> list[tuple[int, Member]]:
        """Everybody who has an index, alive or not."""
        return [(index, member) for index, member in enumerate(self._members) if member is not None]

    def living(self) -> list[Member]:
        """Members whose stream is open."""
        return [member for _, member in self.taken() if member.alive]

    def alive(self) -> set[int]:
        return {index for index, member in self.taken() if member.alive}

    def mute(self) -> set[int]:
        """Whose stream is open, but nothing has come for a while."""
        return {index for index, member in self.taken() if member.alive and member.is_mute}

    def hear_everybody(self, now: float) -> None:
        """Nobody is to blame for a time in which nobody listened."""
        for member in self.living():
            member.heard_at = now

    def at_least(self, iteration: int) -> set[int]:
        """Live nodes whose last heartbeat was at this iteration or later."""
        return {index for index, member in self.taken() if member.alive and member.iteration >= iteration}

    def held_by(self, name: str) -> int | None:
        """The index that this name has, or had."""
        return next((index for index, member in self.taken() if member.name == name), None)

    def first_free(self) -> int | None:
        """The first index whose node is dead."""
        return min(set(range(len(self._members))) - self.alive(), default=None)

    def incarnation(self, index: int) -> int:
        """Of whoever has this index now."""
        return self._incarnations[index]

    def tell(self, index: int, message: pb.ToNode) -> None:
        """To whoever has this index, if anybody does."""
        if (member := self._members[index]) is not None:
            member.tell(message)

    def peer(self, index: int) -> Peer:
        member = self._members[index]
        address, name = (member.address, member.certificate_name) if member else ("", "")
        return Peer(index, address, self._incarnations[index], name)

    def member(self, index: int) -> Member | None:
        """Who has this index, alive or not."""
        return self._members[index]
