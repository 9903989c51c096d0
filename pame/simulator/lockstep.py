"""The lock-step driver: every node takes iteration k, then every node takes iteration k + 1.

Messages arrive at once, so there is nothing to wait for. It is the reference that the network must equal bit for bit
(`rounds`, `spare: 0`, `max_lag: 0`).
"""

from collections.abc import Callable, Sequence

import numpy as np

from pame.algorithms import Algorithm, Delivery, Received
from pame.byte_account import ByteAccount, Fate
from pame.evaluate import Evaluator
from pame.message_check import MessageCheck
from pame.observe import Observer, Record, RunOutcome
from pame.participant import staleness
from pame.resolved_run import ResolvedRun
from pame.simulator.driver_check import check
from pame.simulator.sending import post

Each = Callable[[Callable[[Algorithm], None], Sequence[Algorithm]], None]
"""Does something with every node of a list; in which order, or at once, does not matter."""


def one_by_one(do: Callable[[Algorithm], None], nodes: Sequence[Algorithm]) -> None:
    for node in nodes:
        do(node)


def run_lock_step(setting: ResolvedRun, observer: Observer, ledger: ByteAccount, each: Each = one_by_one) -> RunOutcome:
    """`each`: how what takes time is done with all nodes."""
    check("lock-step", setting)
    run = _LockStepRun(setting, observer, ledger, each)
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

    def __init__(self, setting: ResolvedRun, observer: Observer, ledger: ByteAccount, each: Each) -> None:
        self._setting = setting
        self._each = each
        self._observer = observer
        self._ledger = ledger
        self._evaluator = Evaluator(setting, ledger, observer)
        self._nodes = setting.nodes()
        self._check = MessageCheck(setting, self._nodes)
        self._inboxes: list[list[Received]] = [[] for _ in self._nodes]

    def evaluate(self, k: int) -> RunOutcome | None:
        """The end of the run, if w^k is one."""
        if not self._evaluator.due(k):
            return None
        models = np.stack([node.model for node in self._nodes])
        reason = self._evaluator.evaluate(models, k)
        return None if reason is None else RunOutcome(models, k, None, reason, self._ledger.clean)

    def account(self) -> None:
        """What is counted at the end."""
        self._ledger.desynchronised = sum(node.desynchronised for node in self._nodes)

    def iterate(self, k: int) -> None:
        """All nodes send, then all aggregate, then all step."""
        self._each(lambda node: node.prepare(k), self._nodes)
        setting, check, ledger = self._setting, self._check, self._ledger
        posted = [post(setting, check, ledger, node, sender, k) for sender, node in enumerate(self._nodes)]
        for sent in filter(None, posted):
            for receiver in sent.receivers:
                self._inboxes[receiver].append(sent.envelope)
        records = []
        for index, mail in enumerate(posted):
            record = self._aggregate(index, k)
            if mail is not None:
                copies = len(mail.receivers)
                record = record._replace(messages=copies, bytes=copies * mail.envelope.size, lost=mail.lost)
            records.append(record)
        self._each(lambda node: node.step(k), self._nodes)
        self._observer.recorded(records)

    def _aggregate(self, index: int, k: int) -> Record:
        node, inbox = self._nodes[index], self._inboxes[index]
        wanted = node.wanted(k)
        coverage, starved, late = None, False, 0
        if wanted is not None:
            coverage = node.absorb(k, inbox)
            self._evaluator.covered(coverage)
            starved = self._ledger.aggregated(index, inbox, wanted)
        elif node.delivery is Delivery.LATEST:
            self._ledger.received(Fate.LATE, index, inbox)
            late = len(inbox)
        if wanted is not None or node.delivery is Delivery.LATEST:
            self._inboxes[index] = []
        return Record(
            node=index,
            iteration=k,
            wanted=wanted.enough if wanted else 0,
            received=len(inbox) if wanted else 0,
            coverage=coverage,
            starved=int(starved),
            late=late,
            staleness=staleness(k, inbox) if wanted else None,
        )
