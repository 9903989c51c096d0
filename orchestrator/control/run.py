"""One run on a network, as the rest of the orchestrator sees it: its state, and what can be done with it."""

import secrets

from contract.rpc import control_pb2 as pb
from orchestrator.control import manual_faults, run_membership, run_messages, run_phases
from orchestrator.control.members import Member
from orchestrator.control.run_state import NetworkRunState
from orchestrator.results import Ending, Status
from pame.fault_effects import Plan


class NetworkRun(NetworkRunState):
    """The service feeds it with what the nodes say."""

    async def go(self) -> Ending:
        return await run_phases.live(self)

    def cancel(self) -> None:
        """A user wants the run to end."""
        self.is_judging_stopped = True
        self.stop(Status.INTERRUPTED, "stopped by the user")

    def fail(self, reason: str) -> None:
        """Something outside the run makes it pointless."""
        self.stop(Status.FAILED, reason)

    def joined(self, member: Member, join: pb.Join) -> None:
        run_membership.member_joined(self, member, join)

    def left(self, member: Member) -> None:
        run_membership.member_left(self, member)

    def heard(self, member: Member, message: pb.FromNode) -> None:
        run_messages.message_heard(self, member, message)

    def inject(self, plan: Plan) -> None:
        manual_faults.inject(self, plan)


def new_number() -> int:
    """Of a run; never 0, and nobody's guess."""
    return secrets.randbits(63) | 1
