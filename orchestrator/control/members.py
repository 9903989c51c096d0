"""Who has joined: names, addresses, and the way to talk to each of them."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable, Set
from dataclasses import dataclass, field

from contract.rpc import control_pb2 as pb
from contract.tasks import is_set

SILENT_S = 5.0
"""A node that says nothing for so long is not counted on: frozen, or behind a broken connection."""
_LOOK_S = 1.0
_TOLD = 200


@dataclass(eq=False, slots=True)
class Member:
    """One node process; `outbox` is what it will be told."""

    name: str
    address: str
    metrics_address: str
    code_version: str
    pid: int
    capabilities: frozenset[str] = frozenset()
    joined_at: float = field(default_factory=time.monotonic)
    heard_at: float = field(default_factory=time.monotonic)
    alive: bool = True
    iteration: int = 0
    index: int | None = None
    last_index: int | None = None
    """Of the run under way or, between runs, of the last one: what monitoring calls it."""
    incarnation: int = 0
    refused: int = 0
    """Messages in the run under way that were nonsense."""
    joins: int = 0
    """Of this name, during the run under way."""
    certificate_name: str = ""
    """What its neighbours must find in its certificate; empty without TLS."""
    outbox: "asyncio.Queue[pb.ToNode]" = field(default_factory=asyncio.Queue)

    @property
    def is_mute(self) -> bool:
        """Whether nothing has come from it for a while, though its stream may be open."""
        return time.monotonic() - self.heard_at > SILENT_S

    def tell(self, message: pb.ToNode) -> None:
        self.outbox.put_nowait(message)


class Members:
    """All members by name; the newest join of a name counts."""

    def __init__(self) -> None:
        self._members: dict[str, Member] = {}
        self._changed = asyncio.Event()
        self.refused: Counter[str] = Counter()
        """Joins, by reason."""
        self.on_refusal: Callable[[str, str], None] = lambda *_: None
        """Is told once of every member and reason, as long as there are not too many."""
        self._told: set[tuple[str, str]] = set()

    def refuse(self, member: str, reason: str) -> None:
        self.refused[reason] += 1
        if (member, reason) not in self._told and len(self._told) < _TOLD:
            self._told.add((member, reason))
            self.on_refusal(member, reason)

    def all(self) -> list[Member]:
        """Everybody who ever joined, in the order of their names."""
        return sorted(self._members.values(), key=lambda member: _natural(member.name))

    def alive(self) -> list[Member]:
        return [member for member in self.all() if member.alive]

    def within_reach(self, capabilities: Set[str] = frozenset()) -> list[Member]:
        """Those that have been heard a moment ago and can do this."""
        return [member for member in self.alive() if not member.is_mute and capabilities <= member.capabilities]

    def get(self, name: str) -> Member | None:
        return self._members.get(name)

    def add(self, member: Member) -> None:
        """A member joined, or came back as a new process; a former process of that name has no place any more."""
        former = self._members.get(member.name)
        if former is not None and former.alive and former.address != member.address:
            former.tell(pb.ToNode(dismissed=pb.Dismissed(reason="another process has taken this name")))
        if former is not None:
            member.last_index, member.refused = former.last_index, former.refused
            member.joins += former.joins
        self._members[member.name] = member
        self._changed.set()

    def left(self, member: Member) -> None:
        member.alive = False
        self._changed.set()

    async def gather(self, count: int, seconds: float, capabilities: Set[str] = frozenset()) -> list[Member]:
        """The first `count` members within reach, as soon as there are so many; fewer if the time is over, or nobody
        comes any more and there would be enough, if only they could do this."""
        deadline = time.monotonic() + seconds
        while len(self.within_reach(capabilities)) < count and (left := deadline - time.monotonic()) > 0:
            if not await self.change(min(left, _LOOK_S)) and len(self.within_reach()) >= count:
                break
        return self.within_reach(capabilities)[:count]

    async def settle(self, stable_s: float, seconds: float) -> list[Member]:
        """All live members, once nobody has come or gone for a while."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not await self.change(stable_s) and self.within_reach():
                break
        return self.within_reach()

    async def change(self, seconds: float) -> bool:
        """Wait until somebody comes or goes; False if nobody does in this time."""
        self._changed.clear()
        return await is_set(self._changed, max(seconds, 0))


def _natural(name: str) -> list[tuple[int, str]]:
    """node-2 before node-10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]
