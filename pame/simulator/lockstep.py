"""The lock-step driver: every node takes iteration k, then every node takes iteration k + 1.

Messages arrive at once, so there is nothing to wait for and nobody is late. It is the reference that the network must
equal bit for bit (`rounds`, `spare: 0`, `max_lag: 0`).
"""

import numpy as np

from pame.algorithms import Algorithm, Received
from pame.simulator.check import check
from pame.simulator.evaluate import Evaluator
from pame.simulator.ledger import Fate, Ledger
from pame.simulator.observe import Observer, Outcome, Record
from pame.simulator.post import Posted, post
from pame.simulator.setting import Setting


def run_lock_step(setting: Setting, observer: Observer, ledger: Ledger) -> Outcome:
    """Run to the first stop rule."""
    check("lock-step", setting)
    nodes = setting.nodes()
    evaluator = Evaluator(setting, ledger, observer)
    k = 0
    while True:
        if evaluator.due(k):
            models = np.stack([node.model for node in nodes])
            reason = evaluator.evaluate(models, k)
            if reason is not None:
                exact = ledger.starved == 0 and ledger.messages(Fate.LOST) == 0
                return Outcome(models, k, None, reason, exact)
        observer.recorded(_iterate(setting, nodes, evaluator, ledger, k))
        k += 1


def _iterate(setting: Setting, nodes: list[Algorithm], evaluator: Evaluator, ledger: Ledger, k: int) -> list[Record]:
    for node in nodes:
        node.prepare(k)
    posted = [post(setting, ledger, node, sender, k) for sender, node in enumerate(nodes)]
    inboxes: list[list[Received]] = [[] for _ in nodes]
    for mail in filter(None, posted):
        for receiver in mail.receivers:
            inboxes[receiver].append(mail.envelope)
    records = [
        _aggregate(node, index, inbox, mail, evaluator, ledger, k)
        for index, (node, inbox, mail) in enumerate(zip(nodes, inboxes, posted, strict=True))
    ]
    for node in nodes:
        node.step(k)
    return records


def _aggregate(
    node: Algorithm,
    index: int,
    inbox: list[Received],
    mail: Posted | None,
    evaluator: Evaluator,
    ledger: Ledger,
    k: int,
) -> Record:
    wanted = node.wanted(k)
    coverage = None
    if wanted is not None:
        coverage = node.absorb(k, inbox)
        evaluator.covered(coverage)
        ledger.aggregated(index, inbox)
    copies = len(mail.receivers) if mail else 0
    return Record(
        node=index,
        iteration=k,
        seconds=None,
        waited_s=None,
        wanted=wanted.enough if wanted else 0,
        received=len(inbox),
        coverage=coverage,
        starved=int(wanted is not None and not inbox),
        late=0,
        messages=copies,
        bytes=copies * mail.envelope.size if mail else 0,
    )
