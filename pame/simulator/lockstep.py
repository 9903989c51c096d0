"""The lock-step driver: every node takes iteration k, then every node takes iteration k + 1.

Messages arrive at once, so there is nothing to wait for. It is the reference that the network must equal bit for bit
(`rounds`, `spare: 0`, `max_lag: 0`).
"""

from pame.algorithms import Received
from pame.byte_account import ByteAccount, Fate
from pame.evaluate import Evaluator
from pame.message_check import MessageCheck
from pame.observe import Observer, Record, RunOutcome
from pame.participant import staleness
from pame.resolved_run import ResolvedRun
from pame.simulator.driver_check import check
from pame.simulator.node_group import NodeEnd, NodeGroup, NodesHere, NodeTurn
from pame.simulator.sending import enter


def run_lock_step(
    setting: ResolvedRun, observer: Observer, account: ByteAccount, group: NodeGroup | None = None
) -> RunOutcome:
    """`group`: all nodes of the run, if they are not to be objects here."""
    check("lock-step", setting)
    if group is None:
        nodes = setting.nodes()
        group = NodesHere(setting, nodes, MessageCheck(setting, nodes))
    evaluator = Evaluator(setting, account, observer)
    k = 0
    while True:
        if evaluator.due(k):
            models = group.models()
            reason = evaluator.evaluate(models, k)
            if reason is not None:
                account.desynchronised = group.desynchronised()
                return RunOutcome(models, k, None, reason, account.clean)
        _iterate(k, group, account, evaluator, observer)
        k += 1


def _iterate(k: int, group: NodeGroup, account: ByteAccount, evaluator: Evaluator, observer: Observer) -> None:
    """All nodes send, then all aggregate and step."""
    turns = group.begin(k)
    arrived: list[list[Received]] = [[] for _ in turns]
    sent = [mail for mail, _ in turns if mail is not None]
    for mail in sent:
        for receiver in mail.receivers:
            arrived[receiver].append(mail.envelope)
    ends = group.end(k, arrived)
    for mail in sent:  # while processes go on with the next iteration
        enter(account, mail)
    for _, covered in ends:
        if covered is not None:
            evaluator.covered(covered)
    both = zip(turns, ends, strict=True)
    observer.recorded([_record(k, node, turn, end, account) for node, (turn, end) in enumerate(both)])


def _record(k: int, node: int, turn: NodeTurn, end: NodeEnd, account: ByteAccount) -> Record:
    """Enters what came into the account, too."""
    (mail, wanted), (taken, coverage) = turn, end
    starved = False
    if wanted is None:
        account.received(Fate.LATE, node, taken)
    else:
        starved = account.aggregated(node, taken, wanted)
    copies = len(mail.receivers) if mail else 0
    return Record(
        node=node,
        iteration=k,
        wanted=wanted.enough if wanted else 0,
        received=len(taken) if wanted else 0,
        starved=int(starved),
        late=0 if wanted else len(taken),
        messages=copies,
        bytes=copies * mail.envelope.size if mail else 0,
        lost=len(mail.lost) if mail else 0,
        coverage=coverage,
        staleness=staleness(k, taken) if wanted else None,
    )
