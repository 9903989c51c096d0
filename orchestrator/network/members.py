"""Who has joined: names, addresses, and the way to talk to each of them."""

import asyncio
import re
import time
from collections import Counter
from dataclasses import dataclass, field

from pame.rpc import control_pb2 as pb


@dataclass(eq=False, slots=True)
class Member:
    """One node process; `outbox` is what it will be told."""

    name: str
    address: str
    metrics_address: str
    code_version: str
    pid: int
    joined_at: float = field(default_factory=time.monotonic)
    heard_at: float = field(default_factory=time.monotonic)
    alive: bool = True
    iteration: int = 0
    index: int | None = None
    incarnation: int = 0
    outbox: "asyncio.Queue[pb.ToNode]" = field(default_factory=asyncio.Queue)

    def tell(self, message: pb.ToNode) -> None:
        """Queue a command."""
        self.outbox.put_nowait(message)


class Members:
    """All members by name; the newest join of a name counts."""

    def __init__(self) -> None:
        self._members: dict[str, Member] = {}
        self._changed = asyncio.Event()
        self.refused: Counter[str] = Counter()
        """Joins, by reason."""

    def all(self) -> list[Member]:
        """Everybody who ever joined, in the order of their names."""
        return sorted(self._members.values(), key=lambda member: _natural(member.name))

    def alive(self) -> list[Member]:
        """Those whose stream is open."""
        return [member for member in self.all() if member.alive]

    def get(self, name: str) -> Member | None:
        """The member of that name."""
        return self._members.get(name)

    def add(self, member: Member) -> None:
        """A member joined, or came back as a new process; a former process of that name has no place any more."""
        former = self._members.get(member.name)
        if former is not None and former.alive and former.address != member.address:
            former.tell(pb.ToNode(dismissed=pb.Dismissed(reason="another process has taken this name")))
        self._members[member.name] = member
        self._changed.set()

    def left(self, member: Member) -> None:
        """Its stream is closed."""
        member.alive = False
        self._changed.set()

    async def gather(self, count: int, seconds: float) -> list[Member]:
        """The first `count` live members, as soon as there are so many; fewer if the time is over."""
        deadline = time.monotonic() + seconds
        while len(self.alive()) < count and time.monotonic() < deadline:
            await self.change(deadline - time.monotonic())
        return self.alive()[:count]

    async def settle(self, stable_s: float, seconds: float) -> list[Member]:
        """All live members, once nobody has come or gone for a while."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not await self.change(stable_s) and self.alive():
                break
        return self.alive()

    async def change(self, seconds: float) -> bool:
        """Wait until somebody comes or goes; False if nobody does in this time."""
        self._changed.clear()
        try:
            async with asyncio.timeout(max(seconds, 0)):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True


def _natural(name: str) -> list[tuple[int, str]]:
    """node-2 before node-10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]
