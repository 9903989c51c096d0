"""What a node reports of a run, as it travels: what each iteration was like, and what was counted.

Of each link, and of the node, the numbers are in the order of the table.
"""

from dataclasses import astuple, fields
from typing import Any, TypeVar

from contract.counters import (
    TABLE,
    CounterEntry,
    Counters,
    InCounters,
    NodeCounters,
    OutCounters,
    SocketCounts,
    totalled,
)
from contract.refusals import refusal_name, refusal_number
from contract.rpc import control_pb2 as pb
from pame.observe import Record

C = TypeVar("C", OutCounters, InCounters, NodeCounters)


def _layout(counters: type[Counters]) -> tuple[tuple[CounterEntry, ...], tuple[CounterEntry, ...]]:
    reported = totalled(counters)
    whole = tuple(entry for entry in reported if entry.unit != "s")
    seconds = tuple(entry for entry in reported if entry.unit == "s")
    if [entry.name for entry in whole + seconds] != [each.name for each in fields(counters)][: len(reported)]:
        raise TypeError(f"the table of {counters.__name__} begins with whole numbers, then come seconds, then the rest")
    return whole, seconds


LAYOUT = {counters: _layout(counters) for counters in TABLE}
"""Which whole numbers are reported, and which times, in their order."""


def record_message(record: Record) -> pb.Record:
    told: dict[str, Any] = record._asdict()
    del told["node"]
    return pb.Record(**told)


def totals_message(node: NodeCounters) -> pb.Report:
    """What a node has counted since the run began."""
    report = pb.Report(run=node.run, totals=_packed(node))
    for receiver, sent in node.out.items():
        report.out.append(_packed(sent, peer=receiver, sockets=astuple(sent.sockets) if sent.sockets else ()))
    for sender, taken in node.into.items():
        by_reason = [
            pb.RefusedCount(refusal=refusal_number(reason), messages=times)
            for reason, times in taken.refused_by.items()
        ]
        report.into.append(_packed(taken, peer=sender, refused_by=by_reason, refused_detail=taken.refused_detail))
    return report


def counters_of(report: pb.Report) -> NodeCounters:
    """And back."""
    node = _unpacked(NodeCounters, report.totals)
    node.run = report.run
    for said in report.out:
        node.out[said.peer] = sent = _unpacked(OutCounters, said)
        sent.sockets = SocketCounts(*said.sockets) if said.sockets else None
    for said in report.into:
        node.into[said.peer] = taken = _unpacked(InCounters, said)
        taken.refused_by = {refusal_name(each.refusal): each.messages for each in said.refused_by}
        taken.refused_detail = said.refused_detail
    return node


def _packed(counters: Counters, **others: Any) -> pb.Counted:
    whole, seconds = LAYOUT[type(counters)]
    return pb.Counted(
        whole=[getattr(counters, entry.name) for entry in whole],
        seconds=[getattr(counters, entry.name) for entry in seconds],
        **others,
    )


def _unpacked(counters: type[C], said: pb.Counted) -> C:
    numbers: list[Any] = said.whole[:] + said.seconds[:]
    return counters(*numbers)
