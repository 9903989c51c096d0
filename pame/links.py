"""A link as a queue: when a message that is sent now arrives at the other end.

    start = max(now, free_at);   free_at = start + bits/rate;   arrival = free_at + delay + jitter

Pipelined: the next message may start while earlier ones are still on their way. In order: none overtakes another, as in
a TCP stream. The same arithmetic serves the virtual-time simulator and a node's in-process shaper.
"""

from dataclasses import dataclass, replace
from math import inf


@dataclass(frozen=True, slots=True)
class LinkSpec:
    """One directed link: one-way delay, jitter (uniform, plus or minus), and rate."""

    delay_s: float = 0.0
    jitter_s: float = 0.0
    rate_bps: float = inf


@dataclass(frozen=True, slots=True)
class LinkState:
    """Until when the sender is busy, and when the last message arrives."""

    free_at: float = 0.0
    last_arrival: float = 0.0


def send(spec: LinkSpec, state: LinkState, now: float, bits: int, u: float) -> LinkState:
    """The state after one more message; its `last_arrival` is when that message arrives. `u` in [0,1) is the jitter."""
    free_at = max(now, state.free_at) + bits / spec.rate_bps
    delay = max(0.0, spec.delay_s + spec.jitter_s * (2.0 * u - 1.0))
    return replace(state, free_at=free_at, last_arrival=max(state.last_arrival, free_at + delay))
