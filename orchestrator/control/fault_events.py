"""What nodes say of the plan, as it stands in events.jsonl: planned and actual time, mechanism, or why it failed."""

from math import inf

from contract.rpc import control_pb2 as pb
from orchestrator.results.events import EventWord

_HELD = ("property", "asked", "held", "mechanism")


def fault_event(node: int, report: pb.FaultReport) -> dict[str, object]:
    """One line of events.jsonl; `took` and `held`: the acknowledgement of what a kernel or an engine did."""
    what = EventWord.FAULT_BEGINS if report.begins else EventWord.FAULT_ENDS
    line: dict[str, object] = {
        "seconds": round(report.seconds, 3),
        "what": EventWord.FAULT_FAILED if report.failed else what,
        "node": node,
        "detail": report.detail,
        "number": report.number,
        "planned": _planned(report),
        "iteration": report.iteration,
        "mechanism": report.mechanism,
    }
    if report.failed:
        line["failed"] = "begins" if report.begins else "ends"
    if report.HasField("took"):
        line["took"] = round(report.took, 3)
    if report.held:
        line["held"] = [
            {"link": f"{row.sender}>{row.receiver}", **{name: getattr(row, name) for name in _HELD}}
            for row in report.held
        ]
    return line


def _planned(report: pb.FaultReport) -> object:
    """None: with the run; JSON knows no infinity."""
    if report.planned == inf:
        return None
    return {"iteration": int(report.planned)} if report.by_iteration else report.planned
