"""What has stopped nodes at an iteration, as they told: a node that comes back may pass there again, and goes on."""

from math import inf

from contract.rpc import control_pb2 as pb
from pame.fault_effects import Plan, StoppingEffect
from pame.fault_plan_text import plan_lines, read_plan


class FiredFaults:
    def __init__(self) -> None:
        self._begun: dict[tuple[int, int, float], float] = {}
        """When, by node, number of the fault, and planned iteration."""

    def heard(self, node: int, report: pb.FaultReport) -> None:
        """A fault begins or ends at a node."""
        if report.begins and report.by_iteration:
            self._begun[node, report.number, report.planned] = report.seconds

    def left(self, node: int, plan: str) -> str:
        """A plan without what has stopped this node already."""
        struck = {(number, begin) for who, number, begin in self._begun if who == node}
        if not struck:
            return plan
        lasting = (e for e in read_plan(plan) if e.window.lasts_s is None or (e.number, e.window.begin) not in struck)
        return "\n".join(plan_lines(tuple(lasting)))

    def active(self, plan: Plan, seconds: float) -> int:
        """How many events of the plan hold a node stopped that they have struck at an iteration."""
        return sum(
            any(
                seconds < self._begun.get((node, event.number, event.window.begin), -inf) + event.window.lasts_s
                for node in event.effect.nodes
            )
            for event in plan
            if event.window.lasts_s is not None and isinstance(event.effect, StoppingEffect)
        )
