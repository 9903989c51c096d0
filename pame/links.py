"""A link as a queue: when a message that is sent now arrives at the other end.

    start = max(now, free_at);   free_at = start + bits/rate;   arrival = free_at + delay + jitter

Pipelined: the next message may start while earlier ones are still on their way. In order: none overtakes another, as in
a TCP stream. The same arithmetic serves the virtual-time simulator and a node's in-process shaper.
"""

from dataclasses import dataclass, fields, replace
from math import inf
from typing import Annotated, Literal, get_args, get_type_hints

import numpy as np

from pame.randomness import normal_quantile
from pame.units import OrInfinite, Rate, Seconds, Share, Unit


@dataclass(frozen=True, slots=True)
class Drawn:
    """Metadata of a number: each link may draw its own, by this word of the link's key."""

    word: int


@dataclass(frozen=True, slots=True)
class LinkSpec:
    """What a link does to messages, one way.

    delay: the time a message is under way
    jitter: how much the delay varies: at most so much (uniform), or its standard deviation (normal)
    rate: how fast bits leave the sender
    distribution: of the jitter; uniform if left out
    loss: the share of packets that are lost: TCP repairs it, it shows as delay. For whole messages see messages.loss.
    """

    delay_s: Annotated[Seconds, Drawn(0)] = 0.0
    jitter_s: Annotated[Seconds, Drawn(2)] = 0.0
    rate_bps: Annotated[Rate, OrInfinite("unlimited"), Drawn(1)] = inf
    distribution: Literal["uniform", "normal"] = "uniform"
    loss: Annotated[Share, Drawn(3)] = 0.0


@dataclass(frozen=True, slots=True)
class LinkProperty:
    """A number that a link has, by its name in files and reports."""

    name: str
    field: str
    unit: Unit
    word: int
    """Of the link's key, by which it is drawn."""
    nothing: float
    """The value that does nothing to messages."""

    def of(self, spec: LinkSpec) -> float:
        return float(getattr(spec, self.field))


def _properties() -> tuple[LinkProperty, ...]:
    hints, found = get_type_hints(LinkSpec, include_extras=True), []
    for field in fields(LinkSpec):
        notes = {type(note): note for note in get_args(hints[field.name])}
        if Unit in notes:
            unit = notes[Unit]
            name = field.name.removesuffix(unit.suffix)
            found.append(LinkProperty(name, field.name, unit, notes[Drawn].word, getattr(LinkSpec(), field.name)))
    return tuple(sorted(found, key=lambda one: one.name))


PROPERTIES = _properties()
"""In the order of tables."""


def crossing_s(spec: LinkSpec, bits: float) -> float:
    """How long a message takes over an empty link, with all its jitter."""
    return spec.delay_s + spec.jitter_s + bits / spec.rate_bps


@dataclass(frozen=True, slots=True)
class LinkState:
    """Until when the sender is busy, and when the last message arrives."""

    free_at: float = 0.0
    last_arrival: float = 0.0


def send(spec: LinkSpec, state: LinkState, now: float, bits: int, u: float) -> LinkState:
    """The state after one more message; its `last_arrival` is when that message arrives. `u` in [0,1) is the jitter."""
    free_at = max(now, state.free_at) + bits / spec.rate_bps
    deviation = 2.0 * u - 1.0 if spec.distribution == "uniform" else _normal(u)
    delay = max(0.0, spec.delay_s + spec.jitter_s * deviation)
    return replace(state, free_at=free_at, last_arrival=max(state.last_arrival, free_at + delay))


def _normal(u: float) -> float:
    """Within eight standard deviations, as the quantile of 0 is none."""
    return float(normal_quantile(np.array([min(max(u, 1e-15), 1.0 - 1e-15)]))[0])
