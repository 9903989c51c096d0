"""What nodes have said before: a message that comes twice is heard once, and nobody says more than a run can hold.

A connection that breaks may deliver a message, and the node, which cannot know, sends it again; or it may lose some.
The records before a snapshot come before it, so that nobody sends snapshots of iterations that are still to come.
"""

from collections import Counter

from contract.counters import MOST_COUNTED
from contract.data_delivery import PIECE_BYTES
from contract.rpc import control_pb2 as pb
from orchestrator.control.field_ranges import ControlRefused
from orchestrator.control.totals import Who

_TURNS = 4
"""Reports of an event of the plan by one process: it begins and ends, each perhaps said twice."""
_MORE_TURNS = 100


class NodeHistory:
    def __init__(self) -> None:
        self._next: dict[Who, int] = {}
        """The first iteration whose record is not there yet."""
        self._piece: dict[Who, tuple[int, int]] = {}
        """The newest piece of a snapshot: iteration and offset."""
        self._broken: set[Who] = set()
        """Whose connection broke: records may be lost."""
        self._data: Counter[Who] = Counter()
        """Where the next piece of its samples begins."""
        self._bytes: Counter[int] = Counter()
        self._turns: Counter[Who] = Counter()

    def begins(self, who: Who, iteration: int) -> None:
        """A node that comes back begins there."""
        self._next[who] = iteration

    def broke(self, who: Who) -> None:
        """A connection broke and is there again."""
        self._broken.add(who)

    def is_new(self, who: Who, message: pb.FromNode, events: int) -> bool:
        """Whether it was not heard before; ControlRefused if it is too much. `events`: of the plan."""
        match message.WhichOneof("kind"):
            case "report" if message.report.records:
                return self._records(who, message.report)
            case "snapshot" if not message.snapshot.result:
                return self._snapshot(who, message.snapshot)
            case "data_wanted":
                self._next_piece(who, message.data_wanted.offset)
            case "fault":
                if self._turns[who] >= _TURNS * events + _MORE_TURNS:
                    raise ControlRefused("too_many", f"more than {self._turns[who]} reports of faults")
                self._turns[who] += 1
        return True

    def _next_piece(self, who: Who, offset: int) -> None:
        if offset != self._data[who]:
            raise ControlRefused("bad_number", f"samples from byte {offset} on, and {self._data[who]} is the next")
        self._data[who] += PIECE_BYTES

    def _records(self, who: Who, report: pb.Report) -> bool:
        first, last, expected = report.records[0].iteration, report.records[-1].iteration, self._next.get(who, 0)
        if last < expected:
            return False
        if first < expected:
            raise ControlRefused("bad_iteration", f"records from iteration {first} on, and {expected} is the next")
        size = sum(record.bytes for record in report.records)
        if self._bytes[who[0]] + size > MOST_COUNTED:
            raise ControlRefused("bad_number", f"records of more than {MOST_COUNTED} bytes in all")
        self._next[who] = last + 1
        self._bytes[who[0]] += size
        return True

    def _snapshot(self, who: Who, chunk: pb.SnapshotChunk) -> bool:
        reached, k, piece = self._next.get(who, 0), chunk.iteration, (chunk.iteration, chunk.offset)
        newest = self._piece.get(who, (-1, 0))
        if k > reached and who not in self._broken:
            raise ControlRefused("bad_iteration", f"a snapshot of iteration {k}, and its records end before {reached}")
        if k < newest[0]:
            raise ControlRefused("bad_iteration", f"a snapshot of iteration {k} after that of {newest[0]}")
        if k > reached or piece <= newest:
            return False
        self._piece[who] = piece
        return True
