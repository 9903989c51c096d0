"""A real node that lies: next to what it has to say, its stream carries counts, times and models that cannot be."""

import sys
from math import inf, nan

from contract.counter_reports import totals_message
from contract.counters import InCounters, NodeCounters, OutCounters
from contract.rpc import control_pb2 as pb
from node.__main__ import main
from node.control import ControlStream

honest_send = ControlStream.send


def lies(run: int) -> list[pb.FromNode]:
    most = 2**64 - 1
    out, into = OutCounters(sent=most, values_bytes=most), InCounters(received=most)
    counted = NodeCounters(run=run, steps=most, out={0: out}, into={0: into})
    return [
        pb.FromNode(report=totals_message(counted)),
        pb.FromNode(fault=pb.FaultReport(run=run, begins=True, seconds=nan, planned=inf)),
        pb.FromNode(snapshot=pb.SnapshotChunk(run=run, values=b"1234567")),
        pb.FromNode(),
    ]


def send(self: ControlStream, message: pb.FromNode) -> None:
    honest_send(self, message)
    kind = message.WhichOneof("kind")
    if kind in ("report", "snapshot", "finished"):
        for lie in lies(getattr(message, kind).run):
            honest_send(self, lie)


setattr(ControlStream, "send", send)  # noqa: B010
sys.exit(main())
