"""What nodes say of the plan, as it stands in events.jsonl: planned and actual time, mechanism, or why it failed."""

from pame.rpc import control_pb2 as pb


def fault_event(node: int, report: pb.FaultReport) -> dict[str, object]:
    """One line of events.jsonl."""
    return {
        "seconds": round(report.seconds, 3),
        "what": "fault failed" if report.failed else "fault begins" if report.begins else "fault ends",
        "node": node,
        "detail": report.detail,
        "number": report.number,
        "planned": {"iteration": int(report.planned)} if report.by_iteration else report.planned,
        "iteration": report.iteration,
        "mechanism": report.mechanism,
    }
