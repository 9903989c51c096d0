"""The samples of nodes that have not the data set themselves: each piece is read when it is asked for, and sent.

At most one piece per node is held here, and none is read by the thread that everybody else waits for.
"""

import asyncio
import time

from contract.data_delivery import ShardSource, data_piece
from contract.rpc import control_pb2 as pb
from orchestrator.control.members import Member


class DataDeliveries:
    def __init__(self, run: int, source: ShardSource | None) -> None:
        """`source`: None if the problem needs no data set."""
        self._run, self._source = run, source
        self._tasks: set[asyncio.Task[None]] = set()
        self.newest_at = 0.0
        """When a piece was asked for, by the monotonic clock."""
        self.bytes = 0
        """Sent so far."""
        self.nodes: set[int] = set()
        """To whom."""

    def figures(self) -> dict[str, float]:
        """For the summary; none if the problem needs no data set."""
        return {} if self._source is None else {"delivered_bytes": self.bytes, "delivered_nodes": len(self.nodes)}

    def send(self, index: int, offset: int, member: Member) -> None:
        """The piece of node `index` that begins at this byte."""
        if self._source is not None:
            self.newest_at = time.monotonic()
            task = asyncio.create_task(self._send(self._source, index, offset, member))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _send(self, source: ShardSource, index: int, offset: int, member: Member) -> None:
        content = await asyncio.to_thread(source.content, index, offset)
        self.bytes += len(content)
        self.nodes.add(index)
        member.tell(pb.ToNode(data_piece=data_piece(self._run, offset, content)))
