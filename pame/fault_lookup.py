"""What a plan of faults means for one message, one link, one step: the questions that drivers ask."""

from collections import defaultdict
from dataclasses import replace
from typing import assert_never

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

SECONDS, ITERATIONS = "seconds", "iterations"


def worsened(spec: LinkSpec, worse: DegradeEffect) -> LinkSpec:
    """What is left of a link."""
    return replace(
        spec,
        delay_s=spec.delay_s * worse.delay_factor + worse.delay_s,
        jitter_s=spec.jitter_s + worse.jitter_s,
        loss=1.0 - (1.0 - spec.loss) * (1.0 - worse.loss),
        rate_bps=spec.rate_bps * worse.rate_factor,
    )


class FaultLookup:
    """A plan, ready to be asked; windows in iterations are public, those in seconds go by the clock of the run."""

    def __init__(self, plan: Plan) -> None:
        self._links: dict[Link, list[FaultEvent]] = defaultdict(list)
        self._nodes: dict[int, list[FaultEvent]] = defaultdict(list)
        self.plan = tuple(plan)
        for event in self.plan:
            match event.effect:
                case CutEffect(links) | DegradeEffect(links) | DropEffect(links):
                    for link in links:
                        self._links[link].append(event)
                case SlowEffect(nodes) | PauseEffect(nodes) | KillEffect(nodes) | RestartEffect(nodes):
                    for node in nodes:
                        self._nodes[node].append(event)
                case never:
                    assert_never(never)

    def loss(self, link: Link, iteration: int, share: float = 0.0) -> float:
        """The chance that the message of an iteration is not sent, on top of another one; known to everybody."""
        return self._loss(link, iteration, ITERATIONS, share)

    def loss_at(self, link: Link, seconds: float) -> float:
        """The same by the clock, known to the sender alone."""
        return self._loss(link, seconds, SECONDS, 0.0)

    def held_until(self, link: Link, seconds: float) -> float:
        """When something sent now can leave: at once, or when the link is whole again."""
        moment, cuts = (
            seconds,
            [event.window for event in self._at(link, SECONDS) if isinstance(event.effect, CutEffect)],
        )
        while ends := [window.end for window in cuts if moment in window]:
            moment = max(ends)
        return moment

    def spec(self, link: Link, seconds: float, spec: LinkSpec) -> LinkSpec:
        """What the link does now."""
        for event in self._at(link, SECONDS):
            if isinstance(event.effect, DegradeEffect) and seconds in event.window:
                spec = worsened(spec, event.effect)
        return spec

    def slowness(self, node: int, iteration: int, seconds: float) -> float:
        """How many times as long a step takes."""
        factor = 1.0
        for event in self._nodes.get(node, ()):
            moment = iteration if event.window.unit == ITERATIONS else seconds
            if isinstance(event.effect, SlowEffect) and moment in event.window:
                factor *= event.effect.factor
        return factor

    def paused_until(self, node: int, seconds: float) -> float:
        """When a node can go on that wants to now."""
        events = (event for event in self._nodes.get(node, ()) if event.window.unit == SECONDS)
        moment, pauses = seconds, [event.window for event in events if isinstance(event.effect, PauseEffect)]
        while ends := [window.end for window in pauses if moment in window]:
            moment = max(ends)
        return moment

    def absences(self) -> list[tuple[int, FaultEvent]]:
        """Who is killed, or told to leave, by the clock, in the order of time."""
        orders = [
            (node, event)
            for node, events in self._nodes.items()
            for event in events
            if isinstance(event.effect, KillEffect | RestartEffect) and event.window.unit == SECONDS
        ]
        return sorted(orders, key=lambda order: (order[1].window.begin, order[1].number, order[0]))

    def strikes(self, node: int, iteration: int) -> list[FaultEvent]:
        """What stops a node when it begins an iteration: each only once, even if the node passes there again."""
        events = self._nodes.get(node, ())
        return [event for event in events if event.window.lasts_s is not None and event.window.begin == iteration]

    @property
    def is_public(self) -> bool:
        """Whether everything in it is known to everybody beforehand: nothing goes by the clock, nobody is slow."""
        return all(
            event.window.unit == ITERATIONS
            and event.window.lasts_s is None
            and not isinstance(event.effect, SlowEffect)
            for event in self.plan
        )

    @property
    def slow_nodes(self) -> frozenset[int]:
        """Who may be slow, stopped or away at some time."""
        return frozenset(self._nodes)

    def _loss(self, link: Link, moment: float, unit: str, share: float) -> float:
        kept = 1.0 - share
        for event in self._at(link, unit):
            if moment in event.window:
                if isinstance(event.effect, CutEffect) and unit == ITERATIONS:
                    return 1.0
                if isinstance(event.effect, DropEffect):
                    kept *= 1.0 - event.effect.share
        return 1.0 - kept

    def _at(self, link: Link, unit: str) -> list[FaultEvent]:
        return [event for event in self._links.get(link, ()) if event.window.unit == unit]
