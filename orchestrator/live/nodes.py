"""The nodes, for the page and for Prometheus; the state of each in a word, the worst that can be said of it.

awaited    nobody has taken its place yet        paused      a fault holds it
joined     there, but not ready                  silent      nothing heard for a while, its stream is open
ready      has its data and its links            suspect     some neighbour does not wait for it any more
running    training                              restarted   a later incarnation, training
done       did all its iterations                dead        its stream is closed
"""

from collections.abc import Iterable
from typing import Any, Literal

from orchestrator.control import NetworkRunState
from orchestrator.control.members import Member
from orchestrator.control.run_phase import BEFORE_START, Phase
from orchestrator.live.fault_windows import Disturbed
from orchestrator.live.flows import LinkRates, NodeSums

State = Literal["awaited", "joined", "ready", "running", "done", "paused", "silent", "suspect", "restarted", "dead"]


def look_at_nodes(run: NetworkRunState, flows: LinkRates, disturbed: Disturbed) -> list[dict[str, Any]]:
    """`member` and `host` are empty while a node is awaited; `slow`: a straggler, by the experiment or a fault of now;
    `waited`: seconds for neighbours; `sent` and `received`: bytes."""
    indices, sums = run.indices, flows.node_sums()
    suspects = flows.suspects({(node, member.incarnation) for node, member in indices.taken() if member.alive})
    coming = run.members.within_reach()[: len(indices)] if run.phase is Phase.GATHERING else []
    looks = []
    for node in range(len(indices)):
        member = indices.member(node) or (coming[node] if node < len(coming) else None)
        counted = sums.get(node, NodeSums())
        look = {
            "node": node,
            "member": "" if member is None else member.name,
            "host": "" if member is None else member.address.rpartition(":")[0],
            "state": "awaited" if member is None else _state(run, node, member, suspects, disturbed.paused),
            "iteration": run.collection.iterations[node],
            "incarnation": indices.incarnation(node),
            "slow": node in run.slow_nodes or node in disturbed.slowed,
            "waited": round(counted.waited, 3),
            "sent": counted.sent,
            "received": counted.received,
        }
        looks.append(look)
    return looks


def idle_state(member: Member | None) -> State:
    """Of a member that has nothing to do."""
    if member is None:
        return "awaited"
    if not member.alive:
        return "dead"
    return "silent" if member.is_mute else "joined"


def targets(members: Iterable[Member]) -> list[dict[str, Any]]:
    """The nodes for Prometheus, by its HTTP service discovery: no Docker socket. One group per member that is there and
    has metrics; `node` is its index in this run, or between runs in the last, `-` if it has none.

    No two members have the same index at one time, so that figures by `node` are those of one process.
    """
    return [
        {
            "targets": [member.metrics_address],
            "labels": {"node": "-" if member.last_index is None else str(member.last_index), "member": member.name},
        }
        for member in members
        if member.alive and member.metrics_address
    ]


def _state(run: NetworkRunState, node: int, member: Member, suspects: set[int], paused: set[int]) -> State:
    if not member.alive:
        return "dead"
    if node in paused:
        return "paused"
    if member.is_mute:
        return "silent"
    if node not in run.nodes.ready:
        return "joined"
    if run.phase in BEFORE_START:
        return "ready"
    if node in suspects:
        return "suspect"
    if run.collection.iterations[node] >= run.setting.stop.last_iteration:
        return "done"
    return "restarted" if run.indices.incarnation(node) else "running"
