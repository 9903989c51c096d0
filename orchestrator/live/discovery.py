"""The nodes for Prometheus, by its HTTP service discovery: no Docker socket, and the labels carry the node index."""

from collections.abc import Iterable
from typing import Any

from orchestrator.control.members import Member

NO_INDEX = "-"
"""The label of a member that is no node: it waits for the next run, or has not been in the last one."""


def targets(members: Iterable[Member]) -> list[dict[str, Any]]:
    """One group per member that is there and has metrics; `node` is its index in this run, or between runs in the last.

    No two members have the same index at one time, so that figures by `node` are those of one process.
    """
    return [
        {
            "targets": [member.metrics_address],
            "labels": {
                "node": NO_INDEX if member.last_index is None else str(member.last_index),
                "member": member.name,
            },
        }
        for member in members
        if member.alive and member.metrics_address
    ]
