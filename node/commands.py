"""What the orchestrator tells a node, checked before the node acts: a command, or `CommandRefused`.

A command that makes no sense ends nothing but itself.
"""

from google.protobuf.message import DecodeError

from contract import assignment_limits
from contract.assignment import Assigned
from contract.rpc import control_pb2 as pb
from pame.errors import PameError
from pame.fault_effects import Plan
from pame.fault_plan_text import read_plan

_LONGEST_PROBE_S = 60.0
_TEXT = 1000


class CommandRefused(PameError):
    """A command that this node does not carry out."""


def decoded(data: bytes) -> pb.ToNode:
    """The command; an empty one if these bytes are none."""
    try:
        return pb.ToNode.FromString(data)
    except DecodeError:
        return pb.ToNode()


def on_one_line(text: str) -> str:
    """Fit to be shown on a terminal: not too long, and without control characters."""
    cut = text if len(text) <= _TEXT else f"{text[:_TEXT]}..."
    return "".join(one if one.isprintable() else " " if one.isspace() else repr(one)[1:-1] for one in cut)


def check_probe(order: pb.Probe) -> None:
    if not 0.0 <= order.seconds <= _LONGEST_PROBE_S:
        raise CommandRefused(f"a probe of {order.seconds:g} s, and {_LONGEST_PROBE_S:g} s are the most")


def check_neighbours(message: pb.Neighbours, assigned: Assigned) -> None:
    """They must be neighbours of this node."""
    assignment_limits.neighbours(message.neighbours, assigned.setting.topology.nodes, assigned.index)
    known = {peer.index for peer in assigned.peers}
    if strangers := [one.index for one in message.neighbours if one.index not in known]:
        raise CommandRefused(f"node {strangers[0]} is no neighbour of node {assigned.index}")


def read_faults(message: pb.Faults, assigned: Assigned) -> Plan:
    """The events, of nodes that are there."""
    if len(message.plan) > assignment_limits.MOST_TEXT:
        raise CommandRefused(f"a plan of {len(message.plan)} characters")
    plan = read_plan(message.plan)
    assignment_limits.plan(plan, assigned.setting.topology.nodes)
    return plan
