"""The links of a run: what its nodes say that they realise, and what probes find of it before the start."""

import asyncio

from contract.rpc import control_pb2 as pb
from orchestrator.control.verification import Tell, Verifier, asked_of, complaint, said
from orchestrator.experiment import Verify
from orchestrator.results import Status
from orchestrator.results.network_summary import VerifiedLinks
from pame.resolved_run import ResolvedRun

VERIFY_S = 120.0


class LinkCheck:
    """From the first node that is ready to the start."""

    def __init__(self, number: int, setting: ResolvedRun, rules: Verify) -> None:
        self.realised: dict[int, list[pb.RealisedLink]] = {}
        """What became of the properties of the links, by the node that says so."""
        self.verified: VerifiedLinks | None = None
        """What was measured of them."""
        self._number = number
        self._setting = setting
        self._rules = rules
        self._boots: dict[int, str] = {}
        self._verifier: Verifier | None = None

    def ready(self, index: int, ready: pb.Ready) -> None:
        self.realised[index] = list(ready.links)
        self._boots[index] = ready.boot

    def probed(self, index: int, answer: pb.Probed) -> None:
        if self._verifier is not None:
            self._verifier.heard(index, answer)

    def begin(self, tell: Tell) -> asyncio.Task[None] | None:
        """Measure the links; None where there is nothing to measure, or nobody wants to know."""
        asked = asked_of(self._setting, (link for links in self.realised.values() for link in links))
        if not asked or self._rules.when == "never":
            return None
        self._verifier = Verifier(self._number, self._setting, asked, self._boots, tell)
        return asyncio.create_task(self._measure(self._verifier))

    async def _measure(self, verifier: Verifier) -> None:
        self.verified = await verifier.go()

    def end(self) -> tuple[Status, str] | None:
        """How the run ends here, and why; None: it goes on."""
        asked = self._verifier is not None
        if asked and self.verified is None and (self._rules.strict or self._rules.when == "only"):
            return Status.FAILED, f"the links were not measured within {VERIFY_S:g} s: use fewer nodes or links"
        if self.verified is not None and self._rules.strict and (why := complaint(self.verified)):
            return Status.FAILED, why
        if self._rules.when == "only":
            return Status.FINISHED, said(self.verified) if self.verified else "no link to measure"
        return None
