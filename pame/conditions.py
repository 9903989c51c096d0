"""What a run does to a message, a link, a step and a node on purpose, by its rules and its faults.

The one object that drivers ask: one question per fact. Windows of faults in iterations are public, those in seconds go
by the clock of the run.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

from pame.fault_effects import (
    CutEffect,
    DegradeEffect,
    DropEffect,
    FaultEvent,
    KillEffect,
    Link,
    PauseEffect,
    Plan,
    RestartEffect,
    SlowEffect,
)
from pame.links import LinkSpec
from pame.randomness import Key, Purpose, uniforms
from pame.rules import Compute, Messages
from pame.sampling import message_lost

SECONDS, ITERATIONS = "seconds", "iterations"


def worsened(spec: LinkSpec, worse: DegradeEffect) -> LinkSpec:
    return replace(
        spec,
        delay_s=spec.delay_s * worse.delay_factor + worse.delay_s,
        jitter_s=spec.jitter_s + worse.jitter_s,
        loss=1.0 - (1.0 - spec.loss) * (1.0 - worse.loss),
        rate_bps=spec.rate_bps * worse.rate_factor,
    )


class Loss(Enum):
    NONE = "none"
    """It goes."""
    FORESEEN = "foreseen"
    """It does not, and everybody knew from the start."""
    UNFORESEEN = "unforeseen"
    """It does not, which only its sender knows."""


@dataclass(frozen=True)
class Conditions:
    seed: int
    nodes: int
    messages: Messages = field(default_factory=Messages)
    compute: Compute = field(default_factory=Compute)
    link: LinkSpec = field(default_factory=LinkSpec)
    """Of every link that is not among `links`."""
    links: Mapping[Link, LinkSpec] = field(default_factory=dict)
    plan: Plan = ()

    def loss(self, sender: int, receiver: int, iteration: int, seconds: float | None = None) -> Loss:
        """Of the message of an iteration, at this time of the run, if there is a clock."""
        if self.is_lost(sender, receiver, iteration):
            return Loss.FORESEEN
        share = 0.0 if seconds is None else self.lost_share_at(sender, receiver, seconds)
        is_lost = message_lost(self.seed, sender, receiver, iteration, share)
        return Loss.UNFORESEEN if is_lost else Loss.NONE

    def is_lost(self, sender: int, receiver: int, iteration: int) -> bool:
        """Whether that message is not sent, as both ends can compute."""
        return message_lost(self.seed, sender, receiver, iteration, self.lost_share(sender, receiver, iteration))

    def lost_share(self, sender: int, receiver: int, iteration: int) -> float:
        if not self.plan:
            return self.messages.loss
        return self._lost_share((sender, receiver), iteration, ITERATIONS, self.messages.loss)

    def lost_share_at(self, sender: int, receiver: int, seconds: float) -> float:
        """The chance that a message is not sent by the clock, beside the other one."""
        return self._lost_share((sender, receiver), seconds, SECONDS, 0.0) if self.plan else 0.0

    def link_between(self, sender: int, receiver: int) -> LinkSpec:
        """What the link does without faults."""
        return self.links.get((sender, receiver), self.link)

    def link_at(self, sender: int, receiver: int, seconds: float) -> LinkSpec:
        spec = self.link_between(sender, receiver)
        for event in self._at((sender, receiver), SECONDS):
            if isinstance(event.effect, DegradeEffect) and seconds in event.window:
                spec = worsened(spec, event.effect)
        return spec

    def held_until(self, sender: int, receiver: int, seconds: float) -> float:
        """When something sent now can leave: at once, or when the link is whole again."""
        events = self._at((sender, receiver), SECONDS)
        return _end_of([event for event in events if isinstance(event.effect, CutEffect)], seconds)

    def jitter(self, sender: int, receiver: int, iteration: int) -> float:
        """A number in [0,1) for the message of an iteration; 1/2 on a link that never has any jitter."""
        if not (self.plan or self.link_between(sender, receiver).jitter_s):
            return 0.5
        return float(uniforms(Key(self.seed, Purpose.LINK_JITTER, sender, iteration, receiver), 1)[0])

    def step_seconds(self, node: int, iteration: int, seconds: float) -> float:
        """How long a node's step takes that begins at this time of the run."""
        duration = self.compute.seconds(self.seed, node, iteration, node in self.slow_nodes)
        factor = 1.0
        for event in self._struck[1].get(node, ()):
            moment = iteration if event.window.unit == ITERATIONS else seconds
            if isinstance(event.effect, SlowEffect) and moment in event.window:
                factor *= event.effect.factor
        return duration * factor

    def paused_until(self, node: int, seconds: float) -> float:
        events = (event for event in self._struck[1].get(node, ()) if event.window.unit == SECONDS)
        return _end_of([event for event in events if isinstance(event.effect, PauseEffect)], seconds)

    def absences(self) -> list[tuple[int, FaultEvent]]:
        """Who is killed, or told to leave, by the clock, in the order of time."""
        orders = [
            (node, event)
            for node, events in self._struck[1].items()
            for event in events
            if isinstance(event.effect, KillEffect | RestartEffect) and event.window.unit == SECONDS
        ]
        return sorted(orders, key=lambda order: (order[1].window.begin, order[1].number, order[0]))

    def strikes(self, node: int, iteration: int) -> list[FaultEvent]:
        """What stops a node when it begins an iteration: each only once, even if the node passes there again."""
        events = self._struck[1].get(node, ())
        return [event for event in events if event.window.lasts_s is not None and event.window.begin == iteration]

    @cached_property
    def is_public(self) -> bool:
        """Whether all faults are known to everybody beforehand: nothing goes by the clock, nobody is slow."""
        return all(
            event.window.unit == ITERATIONS
            and event.window.lasts_s is None
            and not isinstance(event.effect, SlowEffect)
            for event in self.plan
        )

    @cached_property
    def slow_nodes(self) -> frozenset[int]:
        """The stragglers: slow from the beginning to the end."""
        return self.compute.slow_nodes(self.seed, self.nodes)

    @property
    def keep_nodes_apart(self) -> bool:
        """Whether some nodes may lag behind the others, so that complete sets of models come late, or never."""
        return bool(self.slow_nodes) or not self.is_public

    @cached_property
    def _struck(self) -> tuple[Mapping[Link, list[FaultEvent]], Mapping[int, list[FaultEvent]]]:
        by_link: dict[Link, list[FaultEvent]] = defaultdict(list)
        by_node: dict[int, list[FaultEvent]] = defaultdict(list)
        for event in self.plan:
            for link in event.links:
                by_link[link].append(event)
            for node in event.nodes:
                by_node[node].append(event)
        return by_link, by_node

    def _lost_share(self, link: Link, moment: float, unit: str, share: float) -> float:
        kept = 1.0 - share
        for event in self._at(link, unit):
            if moment in event.window:
                if isinstance(event.effect, CutEffect) and unit == ITERATIONS:
                    return 1.0
                if isinstance(event.effect, DropEffect):
                    kept *= 1.0 - event.effect.share
        return 1.0 - kept

    def _at(self, link: Link, unit: str) -> list[FaultEvent]:
        return [event for event in self._struck[0].get(link, ()) if event.window.unit == unit]


def _end_of(events: list[FaultEvent], moment: float) -> float:
    """When none of them is going on any more, one after the other."""
    windows = [event.window for event in events]
    while ends := [window.end for window in windows if moment in window]:
        moment = max(ends)
    return moment
