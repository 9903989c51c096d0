"""Faults by hand, into a run that goes on; what its nodes cannot carry out is refused before any of them hears it."""

from collections.abc import Mapping
from dataclasses import replace

from contract.rpc import control_pb2 as pb
from orchestrator.control.container_faults import require_docker
from orchestrator.control.node_messages import planned_moments
from orchestrator.control.run_state import NetworkRunState
from orchestrator.control.supervised_faults import require_orders
from orchestrator.experiment.faults import FaultError, kind_of
from pame.fault_effects import DegradeEffect, Plan, for_nodes
from pame.fault_plan_text import plan_lines


def inject(run: NetworkRunState, plan: Plan) -> None:
    """Every node learns of its part, and they stand in the plan. FaultError if nobody can do it."""
    require_docker(plan, in_containers=True)
    require_loss(plan, run.lossless)
    require_orders(plan, [run.indices.member(node) for node in range(len(run.indices))], by_hand=True)
    run.plan = (*run.plan, *plan)
    run.rounds.add(plan)
    run.facts = replace(run.facts, planned=planned_moments(run.plan))
    run.ends_with_the_median = True
    run.collection.has_faults()
    run.folder.write_plan(run.plan)
    run.common.plan = "\n".join(plan_lines(for_nodes(run.plan)))  # for those who come back
    text = "\n".join(plan_lines(for_nodes(plan)))
    for member in run.indices.living():
        member.tell(pb.ToNode(faults=pb.Faults(run=run.number, plan=text)))


def require_loss(plan: Plan, lossless: Mapping[int, str]) -> None:
    """FaultError if packets shall be lost at a node where they cannot; `lossless`: why not, by node, empty if they
    can."""
    for event in plan:
        if not isinstance(event.effect, DegradeEffect) or event.effect.loss == 0:
            continue
        for sender, receiver in event.effect.links:
            if why := lossless.get(sender):
                raise FaultError(
                    f"{kind_of(event)}: packets from node {sender} to node {receiver} cannot be lost here ({why}); use "
                    "message-loss for whole messages"
                )
