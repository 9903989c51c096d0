"""A real node that lies: next to what it has to say, its stream carries counts, times and models that cannot be."""

import sys
from math import inf, nan

from contract.rpc import control_pb2 as pb
from node.__main__ import main
from node.control import ControlStream

honest_send = ControlStream.send


def lies(run: int) -> list[pb.FromNode]:
    return [
        pb.FromNode(
            report=pb.Report(
                run=run,
                out=[pb.OutLink(receiver=0, messages=2**64 - 1, values_bytes=2**64 - 1)],
                into=[pb.InLink(sender=0, messages=2**64 - 1)],
                totals=pb.NodeTotals(steps=2**64 - 1),
            )
        ),
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
