"""What a node tells the orchestrator of a run, as it travels: what each iteration was like, and what was counted."""

import resource
from typing import Any

from contract.counter_reports import totals_message
from contract.counters import NodeCounters
from contract.rpc import control_pb2 as pb
from pame.observe import Record


def record_message(record: Record) -> pb.Record:
    told: dict[str, Any] = record._asdict()
    del told["node"]
    return pb.Record(**told)


def counted_message(account: NodeCounters) -> pb.Report:
    """What a node has counted since the run began, and what its process took until now."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    account.cpu_s = usage.ru_utime + usage.ru_stime
    account.resident_bytes = usage.ru_maxrss * 1024
    return totals_message(account)
