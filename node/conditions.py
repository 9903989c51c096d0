"""The conditions of a run (`pame.conditions`) as one node has them: by its clock, less what the kernel does.

The trainer and the links ask it. Faults by hand are added while the run goes on.
"""

import time
from collections.abc import Iterable
from dataclasses import replace

from node.shaping import Shaper
from pame.conditions import Conditions, Loss
from pame.fault_effects import FaultEvent
from pame.links import LinkSpec


class NodeConditions:
    def __init__(self, planned: Conditions, index: int, shaper: Shaper | None = None, seconds: float = 0.0) -> None:
        """`shaper`: what the kernel does; None: nothing. `seconds`: of the run, when this node begins."""
        self._planned = self._all = planned
        self._index = index
        self._shaper = shaper
        self._began: float | None = None
        """Until the run begins, it is the moment of its beginning: so links are measured."""
        self._first = seconds
        self._held_at: float | None = None

    def begin(self, seconds: float) -> None:
        """The run has been going on for so long."""
        self._began = time.monotonic() - seconds

    def hold(self, is_held: bool) -> float:
        """The clock of the run stands still, or goes on; for how long it has stood still."""
        now = time.monotonic()
        if is_held:
            self._held_at = now if self._held_at is None else self._held_at
            return 0.0
        stood = 0.0 if self._held_at is None else now - self._held_at
        self._held_at = None
        if self._began is not None:
            self._began += stood
        return stood

    def add(self, events: Iterable[FaultEvent]) -> None:
        self._all = replace(self._all, plan=(*self._all.plan, *events))

    def seconds(self, moment: float | None = None) -> float:
        """Of the run, now or at another moment."""
        if self._began is None:
            return self._first
        now = time.monotonic() if moment is None else moment
        return (now if self._held_at is None else min(now, self._held_at)) - self._began

    def loss(self, receiver: int, k: int, moment: float) -> Loss:
        """Of the message of an iteration; what is lost by hand no algorithm foresaw."""
        if self._planned.is_lost(self._index, receiver, k):
            return Loss.FORESEEN
        loss = self._all.loss(self._index, receiver, k, self.seconds(moment))
        return Loss.NONE if loss is Loss.NONE else Loss.UNFORESEEN

    def will_not_come(self, sender: int, k: int) -> bool:
        """Whether everybody knows that a neighbour does not send its message of an iteration to this node."""
        return self._all.is_lost(sender, self._index, k)

    def jitter(self, receiver: int, k: int) -> float:
        return self._all.jitter(self._index, receiver, k)

    def whole_link(self, receiver: int) -> LinkSpec:
        """What the link does now, whoever does it."""
        return self._all.link_at(self._index, receiver, self.seconds())

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

    def step_seconds(self, k: int, moment: float) -> float:
        """The nominal time of a step that begins at a moment."""
        return self._all.step_seconds(self._index, k, self.seconds(moment))

    def _cut_for(self, receiver: int) -> float:
        now = self.seconds()
        return self._all.held_until(self._index, receiver, now) - now
