"""What a node tells the orchestrator of a run, as it travels: records, totals, faults that begin and end."""

import resource
from typing import Any

from contract.refusals import refusal_number
from contract.rpc import control_pb2 as pb
from contract.socket_counts import SocketCounts
from node.counters import NodeCounters
from pame.observe import Record


def record_message(record: Record) -> pb.Record:
    """What one iteration was like."""
    return pb.Record(
        iteration=record.iteration,
        seconds=record.seconds,
        waited_s=record.waited_s,
        wanted=record.wanted,
        received=record.received,
        coverage=record.coverage,
        starved=bool(record.starved),
        late=record.late,
        messages=record.messages,
        bytes=record.bytes,
        lost=record.lost,
        staleness=record.staleness,
    )


def totals_message(account: NodeCounters) -> pb.Report:
    """What a node has counted since the run began."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return pb.Report(
        run=account.run,
        out=[
            pb.OutLink(
                receiver=receiver,
                messages=link.messages,
                values_bytes=link.sizes.values,
                support_bytes=link.sizes.support,
                stars_bytes=link.sizes.stars,
                framing_bytes=link.sizes.framing,
                protobuf_bytes=link.protobuf_bytes,
                lost=link.lost,
                lost_bytes=link.lost_bytes,
                dropped=link.dropped,
                dropped_bytes=link.dropped_bytes,
                queued=link.queued,
                queued_bytes=link.queued_bytes,
                resent=link.resent,
                resent_bytes=link.resent_bytes,
                acknowledged=link.acknowledged,
                refused=link.refused.total(),
                late=link.late,
                connects=link.connects,
                round_trip_s=link.round_trips.mean,
                longest_round_trip_s=link.round_trips.largest,
                overtime=link.overtime,
                receipts=link.receipts,
                sockets=None if link.sockets is None else _sockets(link.sockets),
            )
            for receiver, link in account.out.items()
        ],
        into=[
            pb.InLink(
                sender=sender,
                messages=link.messages,
                bytes=link.bytes,
                aggregated=link.aggregated,
                late=link.late,
                late_bytes=link.late_bytes,
                evicted=link.evicted,
                refused=link.refused.total(),
                suspect=link.suspect,
                refused_by=[_refused(reason, times) for reason, times in link.refused.items()],
                refused_detail=link.refused_detail,
                absurd=link.absurd,
            )
            for sender, link in account.into.items()
        ],
        totals=pb.NodeTotals(
            starved=account.starved,
            expired=account.expired,
            overran=account.overran,
            steps=account.steps,
            cpu_s=usage.ru_utime + usage.ru_stime,
            resident_bytes=usage.ru_maxrss * 1024,
            refused_strangers=account.strangers.total(),
            snapshot_cpu_s=account.snapshot_s,
            snapshot_bytes=account.snapshot_bytes,
            desynchronised=account.desynchronised,
        ),
    )


def _refused(reason: str, times: int) -> pb.RefusedCount:
    refusal: Any = refusal_number(reason)
    return pb.RefusedCount(refusal=refusal, messages=times)


def _sockets(counts: SocketCounts) -> pb.SocketTotals:
    return pb.SocketTotals(
        bytes_sent=counts.bytes_sent,
        bytes_received=counts.bytes_received,
        segments_out=counts.segments_out,
        segments_in=counts.segments_in,
        retransmitted_segments=counts.retransmitted,
        connections=counts.connections,
        retransmitted_bytes=counts.retransmitted_bytes,
    )
