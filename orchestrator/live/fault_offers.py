"""What can be done by hand to a node or a link of the run under way: each as a fault of an experiment has it.

All that is ever offered is tried first, up to the moment at which nodes would hear of it: what is left, this network
can do.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.control.manual_faults import plan_fault, require_realisable, running
from orchestrator.control.run_state import NetworkRunState
from orchestrator.experiment.faults import FaultError
from pame.fault_effects import SlowEffect, is_by_docker


@dataclass(frozen=True)
class FaultOffer:
    words: str
    fault: str
    """As `pame fault` takes it."""


def offers_for_node(run: NetworkRunState, node: int) -> list[FaultOffer]:
    """FaultError if no run is under way, or has no such node."""
    if not 0 <= node < running(run).experiment.nodes:
        raise FaultError(f"there is no node {node} in this run: it has nodes 0 to {run.experiment.nodes - 1}")
    return [offer for offer in _of_node(node) if _is_possible(run, offer)]


def offers_for_link(run: NetworkRunState, sender: int, receiver: int) -> list[FaultOffer]:
    """The same of an edge, both ways."""
    edges = {tuple(sorted(edge)) for edge in running(run).setting.topology.edges.tolist()}
    if tuple(sorted((sender, receiver))) not in edges:
        raise FaultError(f"there is no link from node {sender} to node {receiver} in this run")
    return [offer for offer in _of_link(sender, receiver) if _is_possible(run, offer)]


def _of_node(node: int) -> Iterator[FaultOffer]:
    at = f"nodes: [{node}]"
    yield FaultOffer("Pause it for 5 seconds", f"{{kind: pause, {at}, for: 5s}}")
    yield FaultOffer("Kill it; it comes back after 5 seconds", f"{{kind: kill, {at}, back_after: 5s}}")
    yield FaultOffer("Kill it for good", f"{{kind: kill, {at}}}")
    yield FaultOffer("Restart it in good order", f"{{kind: restart, {at}, back_after: 1s}}")
    yield FaultOffer("Compute 4 times slower for 10 seconds", f"{{kind: straggler, {at}, factor: 4, for: 10s}}")
    yield FaultOffer("Cut all its links for 10 seconds", f"{{kind: link-down, links: of({node}), for: 10s}}")
    yield FaultOffer(
        "200 ms more delay on all its links for 10 seconds",
        f"{{kind: degrade, links: of({node}), delay: 200ms, for: 10s}}",
    )
    yield FaultOffer(
        "Kill its container; it is started after 5 seconds", f"{{kind: container-kill, {at}, back_after: 5s}}"
    )
    yield FaultOffer(
        "Give its container a tenth of a core for 10 seconds", f"{{kind: cpu-quota, {at}, cpu: 10%, for: 10s}}"
    )


def _of_link(sender: int, receiver: int) -> Iterator[FaultOffer]:
    at = f'links: ["{sender}-{receiver}"]'
    yield FaultOffer("Cut it, both ways, for 10 seconds", f"{{kind: link-down, {at}, for: 10s}}")
    yield FaultOffer("200 ms more delay, both ways, for 10 seconds", f"{{kind: degrade, {at}, delay: 200ms, for: 10s}}")
    yield FaultOffer("Lose 10 % of its packets for 10 seconds", f"{{kind: degrade, {at}, loss: 10%, for: 10s}}")
    yield FaultOffer("Lose half of its messages for 10 seconds", f"{{kind: message-loss, {at}, loss: 50%, for: 10s}}")
    yield FaultOffer("Leave a tenth of its rate for 10 seconds", f"{{kind: degrade, {at}, rate: 10%, for: 10s}}")


def _is_possible(run: NetworkRunState, offer: FaultOffer) -> bool:
    try:
        plan = plan_fault(run, offer.fault)
        require_realisable(run, plan)
    except FaultError:
        return False
    if run.is_on_loopback and any(map(is_by_docker, plan)):  # these nodes are no containers
        return False
    slow = any(type(event.effect) is SlowEffect for event in plan)
    return bool(plan) and not (slow and run.setting.compute.step_s == 0.0)  # no nominal time: nothing to multiply
