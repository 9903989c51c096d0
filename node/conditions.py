"""What the plan of faults does to this node now: its links, its steps, by the clock of the run.

The trainer and the links ask it; faults by hand are added while the run goes on. What the kernel does to a link is not
done a second time here.
"""

import time
from collections.abc import Iterable
from dataclasses import replace

from node.shaping import Shaper
from pame.fault_effects import FaultEvent
from pame.links import LinkSpec
from pame.resolved_run import ResolvedRun


class Conditions:
    """One node's share of misfortune."""

    def __init__(self, setting: ResolvedRun, index: int, shaper: Shaper | None = None, seconds: float = 0.0) -> None:
        """`shaper`: what the kernel does; None: nothing. `seconds`: of the run, when this node begins."""
        self._planned = self._setting = setting
        self._index = index
        self._shaper = shaper
        self._began: float | None = None
        """Until the run begins, it is the moment of its beginning: so links are measured."""
        self._first = seconds

    def begin(self, seconds: float) -> None:
        """The run has been going on for so long."""
        self._began = time.monotonic() - seconds

    def add(self, events: Iterable[FaultEvent]) -> None:
        """Faults by hand."""
        self._setting = replace(self._setting, plan=(*self._setting.plan, *events))

    def seconds(self, moment: float | None = None) -> float:
        """Of the run, now or at another moment."""
        if self._began is None:
            return self._first
        return (time.monotonic() if moment is None else moment) - self._began

    def is_lost(self, receiver: int, k: int) -> bool:
        """Whether the message of an iteration is not sent, on purpose, and everybody knew from the start."""
        return self._planned.is_lost(self._index, receiver, k)

    def is_lost_at(self, receiver: int, k: int, moment: float) -> bool:
        """Whether it is not sent, on purpose, and the algorithms could not know: by the clock, or by hand."""
        by_hand = self._setting is not self._planned and self._setting.is_lost(self._index, receiver, k)
        return by_hand or self._setting.is_lost_at(self._index, receiver, k, self.seconds(moment))

    def will_not_come(self, sender: int, k: int) -> bool:
        """Whether everybody knows that a neighbour does not send its message of an iteration to this node."""
        return self._setting.is_lost(sender, self._index, k)

    def jitter(self, receiver: int, k: int) -> float:
        """A number in [0,1) for a message."""
        return self._setting.link_jitter(self._index, receiver, k)

    def whole_link(self, receiver: int) -> LinkSpec:
        """What the link does now, whoever does it."""
        return self._setting.link_at(self._index, receiver, self.seconds())

    def link(self, receiver: int) -> LinkSpec:
        """What is left to do to the link now."""
        spec = self.whole_link(receiver)
        return self._shaper.residual(receiver, spec) if self._shaper else spec

    def is_emulated(self, receiver: int) -> bool:
        """Whether the kernel has no hand in the link: all it does is left to do."""
        return self.link(receiver) == self.whole_link(receiver)

    def held_for(self, receiver: int) -> float:
        """For how many seconds nothing gets through; 0 if the link is whole, or cut by the kernel."""
        if self._shaper and self._shaper.holds_cut(receiver):
            return 0.0
        return self._cut_for(receiver)

    def is_cut(self, receiver: int) -> bool:
        """Whether nothing gets through now, whoever sees to it."""
        return self._cut_for(receiver) > 0.0

    def step_seconds(self, k: int, slow: bool, moment: float) -> float:
        """The nominal time of a step that begins at a moment."""
        return self._setting.step_seconds(self._index, k, slow, self.seconds(moment))

    def _cut_for(self, receiver: int) -> float:
        if not self._setting.plan:
            return 0.0
        now = self.seconds()
        return self._setting.misfortune.held_until((self._index, receiver), now) - now
