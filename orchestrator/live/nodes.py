"""The state of each node in a word; the worst that can be said of it.

awaited    nobody has taken its place yet        silent      nothing heard for a while, its stream is open
joined     there, but not ready                  suspect     some neighbour does not wait for it any more
ready      has its data and its links            restarted   a later incarnation, training
running    training                              dead        its stream is closed
done       did all its iterations
"""

import time
from dataclasses import dataclass
from typing import Literal

from orchestrator.control import NetworkRunState
from orchestrator.control.members import SILENT_S, Member
from orchestrator.control.run_phase import BEFORE_START, Phase
from orchestrator.live.flows import LinkRates

State = Literal["awaited", "joined", "ready", "running", "done", "silent", "suspect", "restarted", "dead"]


@dataclass(frozen=True, slots=True)
class NodeLook:
    """One node; `member` is empty while it is awaited."""

    node: int
    member: str
    state: State
    iteration: int
    incarnation: int
    slow: bool
    """A straggler, by the experiment."""


def look_at_nodes(run: NetworkRunState, flows: LinkRates) -> list[NodeLook]:
    indices = run.indices
    suspects = flows.suspects({(node, member.incarnation) for node, member in indices.taken() if member.alive})
    coming = run.members.within_reach()[: len(indices)] if run.phase is Phase.GATHERING else []
    looks = []
    for node in range(len(indices)):
        member = indices.member(node) or (coming[node] if node < len(coming) else None)
        state = "awaited" if member is None else _state(run, node, member, suspects)
        iteration, incarnation = run.collection.iterations[node], indices.incarnation(node)
        name = "" if member is None else member.name
        looks.append(NodeLook(node, name, state, iteration, incarnation, node in run.slow_nodes))
    return looks


def idle_state(member: Member | None) -> State:
    """Of a member that has nothing to do."""
    if member is None:
        return "awaited"
    if not member.alive:
        return "dead"
    return "silent" if _is_mute(member) else "joined"


def _state(run: NetworkRunState, node: int, member: Member, suspects: set[int]) -> State:
    if not member.alive:
        return "dead"
    if _is_mute(member):
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


def _is_mute(member: Member) -> bool:
    return time.monotonic() - member.heard_at > SILENT_S
