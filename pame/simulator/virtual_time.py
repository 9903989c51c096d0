"""The virtual-time driver: the algorithm objects under a clock that jumps from event to event.

A node's iteration: send, wait (at a round, in `rounds`), absorb, compute for its step time, step. A message takes as
long as its link says. After iteration K a node is frozen; in `free` it goes on in overtime, so that slow nodes do not
starve, and its result stays w^K.

Faults: what would happen to a paused node happens when it goes on. A node that is killed forgets everything; it comes
back at the median iteration of its live neighbours, with the model that `restart_state` says. What stops a node at an
iteration does so before it sends, once in a run.
"""

import heapq
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import count
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from pame.algorithms import Received
from pame.byte_account import ByteAccount, Fate
from pame.codec import Sizes
from pame.evaluate import Evaluator
from pame.fault_effects import ContainerKillEffect, ContainerRestartEffect, FaultEvent, PauseEffect
from pame.links import LinkState, send
from pame.message_check import MessageCheck
from pame.observe import Observer, RunOutcome
from pame.participant import Participant, Sent
from pame.rejoin import first_iteration, start_model
from pame.resolved_run import ResolvedRun
from pame.simulator.sending import Posted, compose, enter

Action = Callable[[float], None]


def run_virtual_time(setting: ResolvedRun, observer: Observer, account: ByteAccount) -> RunOutcome:
    return _VirtualTimeRun(setting, observer, account).go()


class _VirtualTimeRun:
    """The event queue, the links and the two curves of one run."""

    def __init__(self, setting: ResolvedRun, observer: Observer, account: ByteAccount) -> None:
        self._setting = setting
        self._observer = observer
        self._account = account
        self._evaluator = Evaluator(setting, account, observer)
        self._queue: list[tuple[float, int, Action]] = []
        self._order = count()
        self._links: dict[tuple[int, int], LinkState] = {}
        self._conditions = setting.conditions
        self._selection = setting.selection()
        self._nodes = [
            Participant(setting, index, setting.node(index, self._selection)) for index in range(setting.topology.nodes)
        ]
        self._check = MessageCheck(setting, [node.algorithm for node in self._nodes])
        self._away: dict[int, float] = {}
        """Nodes that are killed and not back yet, and when they will be."""
        self._still: dict[int, float] = {}
        """When nodes go on that were paused at an iteration."""
        self._struck: set[tuple[int, FaultEvent]] = set()
        """What has stopped which node at an iteration."""
        self._sent = [Sent()] * len(self._nodes)
        """By each node since its last record."""
        self._departures = 0
        self._kept: dict[int, NDArray[np.float64]] = {}
        """The newest snapshot of each node."""
        self._expired = 0
        """Waits of nodes that were killed later."""
        self._snapshots: dict[int, list[NDArray[np.float64] | None]] = {}
        self._results: list[NDArray[np.float64] | None] = [None] * len(self._nodes)
        self._sent_at: Counter[int] = Counter()
        self._steps = 0
        self._reason: str | None = None
        self._stopped: tuple[NDArray[np.float64], int] | None = None
        # With stragglers the complete sets lag behind, so the curve by time decides. Lost messages are not waited for
        # and hold nobody up.
        self._by_time = self._conditions.keep_nodes_apart

    def go(self) -> RunOutcome:
        now = 0.0
        self._evaluate_by_time(now)
        for node in self._nodes:
            self._at(now, partial(self._start, node))
        for index, event in self._conditions.absences():
            self._at(event.window.begin, partial(self._leave, index, event))
        while self._queue and self._reason is None:
            moment, _, action = heapq.heappop(self._queue)
            if moment > self._setting.stop.limit_s:
                now = self._setting.stop.limit_s
                self._reason = f"{now:g} simulated second{' is' if now == 1 else 's are'} over"
            else:
                now = moment
                action(now)
        for node in self._nodes:
            self._account_at_its_end(node)
        if self._stopped is None:
            self._stopped = (self._latest(), self._steps // len(self._nodes))
        models, iterations = self._stopped
        return RunOutcome(models, iterations, now, self._reason or "every node is done", self._is_exact())

    def _at(self, moment: float, action: Action) -> None:
        if isfinite(moment):
            heapq.heappush(self._queue, (moment, next(self._order), action))

    def _is_stopped(self, node: Participant, now: float, action: Action) -> bool:
        """Whether this node cannot act now: it is gone, or paused, and then acts when it goes on."""
        if not self._setting.plan:
            return False
        if node.index in self._away or self._nodes[node.index] is not node:
            return True
        resumes = self._conditions.paused_until(node.index, max(now, self._still.get(node.index, now)))
        if resumes > now:
            self._at(resumes, action)
        return resumes > now

    def _leave(self, index: int, event: FaultEvent, now: float) -> None:
        """An order for a node that is away finds nobody; only a container is down until the last who wanted that."""
        window = event.window
        back = window.end if window.lasts_s is None else now + window.lasts_s
        self._come_back(index, now)
        if index not in self._away:
            self._departures += 1
            self._expired += self._nodes[index].expired
        elif isinstance(event.effect, ContainerKillEffect | ContainerRestartEffect):
            back = max(back, self._away[index])
        else:
            return
        self._away[index] = back
        self._at(back, partial(self._come_back, index))

    def _come_back(self, index: int, now: float) -> None:
        """If it is time: as a new process, nothing in its mailbox, at the place where its neighbours are."""
        if self._away.get(index) != now:
            return
        setting = self._setting
        neighbours = setting.topology.neighbours(index)
        live = [self._nodes[j].k for j in neighbours if j not in self._away]
        known = [self._kept[j] for j in neighbours if j in self._kept]
        start = start_model(setting.restart_state, self._kept.get(index), known)
        self._account_at_its_end(self._nodes[index])
        first = first_iteration(self._nodes[index].k, live, setting.stop.last_iteration)
        node = Participant(setting, index, setting.node(index, self._selection, start, first))
        node.k = first
        for contact in self._selection.contacts(index):
            self._nodes[contact].algorithm.greet(index)
        self._nodes[index] = node
        self._sent[index] = Sent()
        del self._away[index]
        self._still.pop(index, None)
        self._start(node, now)

    def _start(self, node: Participant, now: float) -> None:
        """An iteration begins: take the snapshot, and go on unless the run ends with it."""
        setting = self._setting
        if self._is_stopped(node, now, partial(self._start, node)):
            return
        self._snapshot(node, now)
        if self._reason is None and (node.k < setting.stop.last_iteration or not setting.exchange.waits):
            self._strike(node, now)

    def _strike(self, node: Participant, now: float) -> None:
        """What stops it at this iteration, one after the other; then send."""
        if self._is_stopped(node, now, partial(self._strike, node)):
            return
        orders = self._conditions.strikes(node.index, node.k)
        order = next((event for event in orders if (node.index, event) not in self._struck), None)
        if order is None:
            self._send(node, now)
            return
        self._struck.add((node.index, order))
        if isinstance(order.effect, PauseEffect):
            self._still[node.index] = now + (order.window.lasts_s or 0.0)
        else:
            self._leave(node.index, order, now)
        self._strike(node, now)

    def _send(self, node: Participant, now: float) -> None:
        """Send, and wait if this is a round."""
        setting, k = self._setting, node.k
        node.algorithm.prepare(k)
        mail = compose(setting, self._check, node.algorithm, node.index, k, now)
        if mail is not None:
            enter(self._account, mail)
            for receiver in mail.receivers:
                arrival = self._arrival(mail, receiver, now)
                self._at(arrival, partial(self._deliver, receiver, mail.envelope))
            self._count_sent(node.index, mail.sizes, len(mail.receivers), len(mail.lost))
            self._account.overtime += len(mail.receivers) if k >= setting.stop.last_iteration else 0
        wanted = node.algorithm.wanted(k)
        senders = wanted.senders if wanted else ()
        lost = [j for j in senders if self._conditions.is_lost(j, node.index, k)]
        node.begin(now, wanted, lost)
        if node.satisfied():
            self._aggregate(node, now)
        else:
            self._at(now + node.patience.seconds(), partial(self._expire, node, k))

    def _arrival(self, mail: Posted, receiver: int, now: float) -> float:
        conditions, envelope = self._conditions, mail.envelope
        link = envelope.sender, receiver
        leaves = conditions.held_until(*link, now)
        if leaves > now:
            self._account.hold(*link, mail.sizes)
            self._count_sent(envelope.sender, mail.sizes, -1)
            self._at(leaves, partial(self._hand_over, *link, mail.sizes))
        spec, u = conditions.link_at(*link, leaves), conditions.jitter(*link, envelope.iteration)
        state = send(spec, self._links.get(link, LinkState()), leaves, 8 * envelope.size, u)
        self._links[link] = state
        return state.last_arrival

    def _hand_over(self, sender: int, receiver: int, sizes: Sizes, _: float) -> None:
        """A cut is over, and what it held goes."""
        self._account.hand_over(sender, receiver, sizes)
        self._count_sent(sender, sizes, 1)

    def _count_sent(self, sender: int, sizes: Sizes, messages: int, lost: int = 0) -> None:
        sent = self._sent[sender]
        self._sent[sender] = Sent(sent.messages + messages, sent.bytes + messages * sizes.total, sent.lost + lost)

    def _deliver(self, receiver: int, envelope: Received, now: float) -> None:
        node = self._nodes[receiver]
        if self._is_stopped(node, now, partial(self._deliver, receiver, envelope)):
            return
        node.deliver(envelope, now)
        if node.waiting is not None and node.satisfied():
            self._aggregate(node, now)

    def _expire(self, node: Participant, k: int, now: float) -> None:
        if self._is_stopped(node, now, partial(self._expire, node, k)):
            return
        if node.k == k and node.waiting is not None:
            node.expire()
            self._aggregate(node, now)

    def _aggregate(self, node: Participant, now: float) -> None:
        """The waiting is over: average what came, then compute for the time of a step."""
        wanted, received = node.wanted, node.end_of_wait(now)
        if wanted is not None:
            node.coverage = node.algorithm.absorb(node.k, received)
            self._evaluator.covered(node.coverage)
            node.starved = self._account.aggregated(node.index, received, wanted)
        duration = self._conditions.step_seconds(node.index, node.k, now)
        self._at(now + duration, partial(self._finish, node))

    def _finish(self, node: Participant, now: float) -> None:
        """The step is done: record it, look at the curve by time, begin the next iteration."""
        if self._is_stopped(node, now, partial(self._finish, node)):
            return
        node.algorithm.step(node.k)
        sent, self._sent[node.index] = self._sent[node.index], Sent()
        self._sent_at[node.k] += sent.bytes
        self._observer.recorded([node.record(now, self._account_unused(node), sent)])
        overtime = node.k >= self._setting.stop.last_iteration
        node.k += 1
        if not overtime:
            self._steps += 1
            self._evaluate_by_time(now)
        if self._reason is None:
            self._start(node, now)

    def _account_at_its_end(self, node: Participant) -> None:
        """A node that was killed, or one at the end of the run."""
        self._account_unused(node)
        self._account.desynchronised += node.algorithm.desynchronised

    def _account_unused(self, node: Participant) -> int:
        """Enter what has become late or was evicted since the last time; how many were late."""
        late, evicted = node.unused()
        self._account.received(Fate.LATE, node.index, late)
        self._account.received(Fate.EVICTED, node.index, evicted)
        return len(late)

    def _snapshot(self, node: Participant, now: float) -> None:
        """Keep w^k; when all nodes have one, that is a point of the curve by iteration."""
        k, last = node.k, self._setting.stop.last_iteration
        if k == last:
            self._results[node.index] = node.algorithm.model
        if k > last or not self._evaluator.due(k):
            return
        self._kept[node.index] = node.algorithm.model
        models = self._snapshots.setdefault(k, [None] * len(self._nodes))
        models[node.index] = node.algorithm.model
        complete = [model for model in models if model is not None]
        if len(complete) == len(self._nodes):
            del self._snapshots[k]
            stacked = np.stack(complete)
            sent = sum(size for iteration, size in self._sent_at.items() if iteration < k)
            self._decide(stacked, k, self._evaluator.evaluate(stacked, k, now, "iteration", not self._by_time, sent))

    def _evaluate_by_time(self, now: float) -> None:
        """A point whenever the mean iteration reaches one that is due, and when half of the nodes are done."""
        mean, rest = divmod(self._steps, len(self._nodes))
        done = sum(node.k >= self._setting.stop.last_iteration for node in self._nodes)
        median_done = self._by_time and 2 * done >= len(self._nodes)
        due = rest == 0 and self._evaluator.due(mean)
        if median_done or due:
            models = self._latest()
            reason = self._evaluator.evaluate(models, mean, now, "time", self._by_time and due)
            if median_done and reason is None:
                reason = f"the median node did {self._setting.stop.last_iteration} iterations"
            self._decide(models, mean, reason)

    def _decide(self, models: NDArray[np.float64], k: int, reason: str | None) -> None:
        if reason is not None and self._reason is None:
            self._reason, self._stopped = reason, (models, k)

    def _latest(self) -> NDArray[np.float64]:
        """The newest model of every node, a dead one's too; w^K of those that have it."""
        pairs = zip(self._results, self._nodes, strict=True)
        return np.stack([node.algorithm.model if result is None else result for result, node in pairs])

    def _is_exact(self) -> bool:
        patient = not (self._expired or any(node.expired for node in self._nodes))
        undisturbed = patient and not self._departures
        return self._setting.exchange.waits and self._account.clean and undisturbed
