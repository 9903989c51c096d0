"""Counts the rounds of a run as they are recorded, apart from those that the experiment itself disturbs.

A fault is felt beyond its window, and by more nodes than it strikes: whoever waits for a node that waits for another
one may starve, too. So a round is disturbed if it ends while anything is done to the network on purpose, or not longer
after it than a wait can last.

Who was never heard, although every message was asked for, is found here, too: links, and nodes that never averaged
anything. Where only the first to answer count (`spare`), where nobody waits (`free`), with stragglers, and on links
that the plan of faults concerns, a link may be silent as it should. A fault excuses rounds of the whole network while
it lasts; it does not excuse a node that hears nobody, as long as one of those who could have told it something is
neither struck itself, nor slow, nor on a link that is.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import inf, sqrt

from pame.byte_account import LinkRows
from pame.fault_effects import FaultEvent, Link, Plan, Window
from pame.observe import Evaluation, Record
from pame.resolved_run import ResolvedRun

_ADAPTIVE_S = 30.0
"""The longest that adaptive patience waits."""
_RECONNECT_S = 5.0
_PERIODS = 2
_DEVIATIONS, _FEW = 5.0, 3
"""Draws of lost messages are not held against a run as long as they are not beyond belief."""
CERTAIN = 10.0
"""So many messages are not all lost by a draw of their loss: the chance is below exp(-10)."""
_ENOUGH = 3
"""Messages: fewer may just have been under way when the run ended."""

Span = tuple[float, float]


class RoundCounts:
    """An observer of one run."""

    def __init__(self, setting: ResolvedRun) -> None:
        self.rounds = 0
        """That asked for messages and were not disturbed."""
        self.starved = 0
        """Of those, that got none."""
        self.expected = 0.0
        """Messages that they asked for, less the share that is lost on purpose."""
        self.averaged = 0
        """Messages that all rounds averaged, disturbed or not."""
        self.iterations = 0
        """Of all nodes, whether rounds or not."""
        self.asked: Counter[int] = Counter()
        """By node: messages that its rounds asked for, disturbed or not; none where all are lost on purpose."""
        self.heard: Counter[int] = Counter()
        """By node: messages that they averaged."""
        self.has_loss = setting.messages.loss > 0
        self.has_stragglers = bool(setting.conditions.slow_nodes)
        self._loss = setting.messages.loss
        self._unlucky = 0.0
        """Rounds that starve because each of their messages is lost on purpose, on average."""
        self._may_come_early = not setting.exchange.waits
        """Nobody waits there, so that a round may come too early for any message."""
        self._crossing_s = setting.slowest_crossing_s
        self._latest_s: float | None = None
        patience = setting.exchange.patience_s
        patience_s = _ADAPTIVE_S if isinstance(patience, str) else patience
        self.longest_wait_s = patience_s + 2 * self._crossing_s
        """For a message that is under way, however slow the links are."""
        self._after_s = patience_s + _RECONNECT_S
        self._around = _PERIODS * max(setting.periods)
        self._plan: tuple[FaultEvent, ...] = ()
        self._seconds: list[Span] = []
        self._iterations: list[Span] = []
        self.add(setting.plan)

    def add(self, plan: Plan) -> None:
        self._plan = (*self._plan, *plan)
        windows = [event.window for event in self._plan]
        self._seconds = _merged(
            (window.begin, window.end + self._after_s) for window in windows if window.unit == "seconds"
        )
        self._iterations = _merged(self._felt(window) for window in windows if window.unit == "iterations")

    @property
    def is_on_purpose(self) -> bool:
        """Whether anything at all is done to this network that explains what is missing: faults, loss, stragglers."""
        return bool(self._plan) or self.has_loss or self.has_stragglers

    @property
    def unexplained_starved(self) -> int:
        """Rounds that starved beyond what stragglers, `free` and a bad draw of lost messages explain."""
        if self.has_stragglers or self._may_come_early:
            return 0
        bad_luck = self._unlucky + _DEVIATIONS * sqrt(self._unlucky) + _FEW if self.has_loss else 0.0
        return self.starved if self.starved > bad_luck else 0

    @property
    def is_silence_certain(self) -> bool:
        """Whether so much was asked for, in a run that is over, that some of it would have come."""
        return not self.is_too_short and self.expected >= (CERTAIN if self.has_loss else 1.0)

    @property
    def is_too_short(self) -> bool:
        """Whether the run was over before anything could arrive that nobody waits for."""
        return self._may_come_early and self._latest_s is not None and self._latest_s <= 2 * self._crossing_s

    def evaluated(self, evaluation: Evaluation) -> None:
        """No round."""

    def recorded(self, records: Sequence[Record]) -> None:
        self.iterations += len(records)
        for record in records:
            if not record.wanted:
                continue
            self.averaged += record.received
            self.asked[record.node] += record.wanted if self._loss < 1.0 else 0
            self.heard[record.node] += record.received
            self._latest_s = record.seconds
            if self.is_disturbed(record.seconds, record.iteration):
                continue
            self.rounds += 1
            self.expected += record.wanted * (1.0 - self._loss)
            self.starved += bool(record.starved)
            self._unlucky += self._loss**record.wanted

    def _felt(self, window: Window) -> Span:
        """Nodes are not all at the same iteration; what stops one ends at nobody knows which of the others'."""
        end = inf if window.lasts_s is not None else window.end + self._around
        return window.begin - self._around, end

    def is_disturbed(self, seconds: float | None, iteration: int) -> bool:
        """Whether something is done on purpose then, or still felt; without a clock there are only iterations."""
        by_time = seconds is not None and _holds(self._seconds, seconds)
        return by_time or _holds(self._iterations, iteration)


def unheard_links(links: LinkRows, setting: ResolvedRun, plan: Plan) -> list[Link]:
    """By sender and receiver."""
    slow = setting.conditions.slow_nodes
    if not setting.exchange.waits or setting.exchange.spare != 0 or slow:
        return []
    rows = zip(links.sender.tolist(), links.receiver.tolist(), links.messages, links.aggregated, strict=True)
    unheard = [(sender, receiver) for sender, receiver, sent, used in rows if sent >= _ENOUGH and not used]
    return [link for link in unheard if not _is_concerned(link, plan)] if unheard else []


def deaf_nodes(rounds: RoundCounts, setting: ResolvedRun, plan: Plan) -> list[int]:
    """In ascending order."""
    is_drawn = not setting.exchange.waits or rounds.has_loss
    enough = CERTAIN if is_drawn else _ENOUGH
    silent = [node for node, asked in sorted(rounds.asked.items()) if asked >= enough and not rounds.heard[node]]
    if not silent or rounds.is_too_short:
        return []
    slow = setting.conditions.slow_nodes
    contacts = setting.selection().contacts
    return [
        node
        for node in silent
        if any(not _is_concerned((other, node), plan, slow) for other in contacts(node) if other != node)
    ]


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Ascending, and none touches another."""
    merged: list[Span] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged


def _holds(spans: Sequence[Span], moment: float) -> bool:
    place = bisect_right(spans, (moment, inf)) - 1
    return place >= 0 and moment <= spans[place][1]


def _is_concerned(link: Link, plan: Plan, slow: Collection[int] = ()) -> bool:
    """Whether anything of a plan is done to a link or to one of its ends, or one of them is slow all along."""
    ends = set(link)
    return not ends.isdisjoint(slow) or any(link in event.links or not ends.isdisjoint(event.nodes) for event in plan)
