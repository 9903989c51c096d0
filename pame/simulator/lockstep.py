"""The lock-step driver: every node takes iteration k, then every node takes iteration k + 1.

Messages arrive at once, so there is nothing to wait for. It is the reference that the network must equal bit for bit
(`rounds`, `spare: 0`, `max_lag: 0`).
"""

from collections.abc import Callable, Sequence

import numpy as np

from pame.algorithms import Delivery, Received, Wanted
from pame.byte_account import ByteAccount, Fate
from pame.evaluate import Evaluator
from pame.message_check import MessageCheck
from pame.observe import Observer, Record, RunOutcome
from pame.participant import staleness
from pame.resolved_run import ResolvedRun
from pame.simulator.driver_check import check
from pame.simulator.sending import Posted, post

Each = Callable[[Callable[[int], None], Sequence[int]], None]
"""Does something with every node of a list; in which order, or at once, does not matter."""


def one_by_one(do: Callable[[int], None], nodes: Sequence[int]) -> None:
    for node in nodes:
        do(node)


def run_lock_step(
    setting: ResolvedRun, observer: Observer, account: ByteAccount, each: Each = one_by_one
) -> RunOutcome:
    """`each`: how what takes time is done with all nodes."""
    check("lock-step", setting)
    run = _LockStepRun(setting, observer, account, each)
    k = 0
    while True:
        outcome = run.evaluate(k)
        if outcome is not None:
            run.account()
            return outcome
        run.iterate(k)
        k += 1


class _LockStepRun:
    """The nodes of one run, and what each has received and not yet absorbed."""

    def __init__(self, setting: ResolvedRun, observer: Observer, account: ByteAccount, each: Each) -> None:
        self._setting = setting
        self._each = each
        self._observer = observer
        self._account = account
        self._evaluator = Evaluator(setting, account, observer)
        self._nodes = setting.nodes()
        self._check = MessageCheck(setting, self._nodes)
        self._inboxes: list[list[Received]] = [[] for _ in self._nodes]

    def evaluate(self, k: int) -> RunOutcome | None:
        """The end of the run, if w^k is one."""
        if not self._evaluator.due(k):
            return None
        models = np.stack([node.model for node in self._nodes])
        reason = self._evaluator.evaluate(models, k)
        return None if reason is None else RunOutcome(models, k, None, reason, self._account.clean)

    def account(self) -> None:
        """What is counted at the end."""
        self._account.desynchronised = sum(node.desynchronised for node in self._nodes)

    def iterate(self, k: int) -> None:
        """All nodes send, then all aggregate and step: nobody changes what it has sent."""
        nodes, numbers = self._nodes, range(len(self._nodes))
        self._each(lambda node: nodes[node].prepare(k), numbers)
        posted = self._send(k)
        wanted = [node.wanted(k) for node in nodes]
        records = [self._received(node, k, wanted[node], posted[node]) for node in numbers]
        coverage: list[float | None] = [None] * len(nodes)

        def aggregate_and_step(node: int) -> None:
            if wanted[node] is not None:
                coverage[node] = nodes[node].absorb(k, self._inboxes[node])
            nodes[node].step(k)

        self._each(aggregate_and_step, numbers)
        for node, covered in enumerate(coverage):
            if covered is not None:
                self._evaluator.covered(covered)
            if wanted[node] is not None or nodes[node].delivery is Delivery.LATEST:
                self._inboxes[node] = []
        self._observer.recorded(
            [record._replace(coverage=covered) for record, covered in zip(records, coverage, strict=True)]
        )

    def _send(self, k: int) -> list[Posted | None]:
        setting, check, account = self._setting, self._check, self._account
        posted = [post(setting, check, account, node, sender, k) for sender, node in enumerate(self._nodes)]
        for sent in filter(None, posted):
            for receiver in sent.receivers:
                self._inboxes[receiver].append(sent.envelope)
        return posted

    def _received(self, node: int, k: int, wanted: Wanted | None, mail: Posted | None) -> Record:
        """Enters what came into the account, before it is averaged."""
        inbox, starved, late = self._inboxes[node], False, 0
        if wanted is not None:
            starved = self._account.aggregated(node, inbox, wanted)
        elif self._nodes[node].delivery is Delivery.LATEST:
            self._account.received(Fate.LATE, node, inbox)
            late = len(inbox)
        copies = len(mail.receivers) if mail else 0
        return Record(
            node=node,
            iteration=k,
            wanted=wanted.enough if wanted else 0,
            received=len(inbox) if wanted else 0,
            starved=int(starved),
            late=late,
            messages=copies,
            bytes=copies * mail.envelope.size if mail else 0,
            lost=mail.lost if mail else 0,
            staleness=staleness(k, inbox) if wanted else None,
        )
