"""Messages through the in-process shaper: the links that carry messages of runs, with a method of their own."""

import time

from contract.assignment import Assigned, Peer
from contract.counters import OutCounters
from contract.credentials import Credentials
from contract.rpc import exchange_pb2 as pb
from node.conditions import NodeConditions
from node.link import OutLink
from node.link_stream import PROBE
from node.wire_message import WireMessage
from pame.codec import Sizes

UNCOUNTED = 0
"""The number of a probe that only opens the way."""
_LIMIT = 64 * 2**20
_MOST_BYTES = 32 * 2**20
_CONNECT_S = 3.0
_TRAIN = 5
_LEAST_MESSAGE_S = 0.05
_TRIP_SLACK_S = 0.02


class ProbeStream(OutLink):
    """One neighbour, reached as in a run."""

    def __init__(
        self, assigned: Assigned, peer: Peer, conditions: NodeConditions, credentials: Credentials | None
    ) -> None:
        super().__init__(peer, _LIMIT, conditions, OutCounters(), credentials, PROBE, assigned.secret)
        self._assigned = assigned
        self._sent = 0

    async def connect(self) -> bool:
        """Whether the neighbour answers, before long."""
        self._send(UNCOUNTED, b"")
        await self.drain(_CONNECT_S)
        return self.is_idle

    async def pings(self, number: int, seconds: float, fewest: int) -> int:
        """One after another, so that none waits for another; how many.

        A busy machine takes longer for the fewest that are of use: it gets the time, within a limit.
        """
        began, count = time.monotonic(), 0
        while (spent := time.monotonic() - began) < seconds or (count < fewest and spent < seconds + _CONNECT_S):
            self._send(number, b"")
            count += 1
            await self.drain(_CONNECT_S)
            if not self.is_idle:
                break
        return count

    async def train(self, number: int, rate_bps: float, trip_s: float) -> tuple[int, int]:
        """Back to back, each so long that receipts are there before the link runs dry; how many, and their bytes."""
        each_s = max(_LEAST_MESSAGE_S, trip_s + _TRIP_SLACK_S)
        filling = bytes(min(int(rate_bps * each_s / 8), _MOST_BYTES))
        sizes = [self._send(number, filling) for _ in range(_TRAIN)]
        await self.drain(_CONNECT_S + _TRAIN * each_s)
        return _TRAIN, sizes[-1]

    def _send(self, number: int, filling: bytes) -> int:
        self._sent += 1
        probe = pb.ProbeMessage(
            run=self._assigned.run, sender=self._assigned.index, number=number, sent_ns=time.time_ns(), filling=filling
        )
        data = probe.SerializeToString()
        self.push(WireMessage(self._sent, data, Sizes()))
        return len(data)
