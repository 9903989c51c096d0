"""Faults that would do nothing: a delay that is not there cannot be multiplied, an unlimited rate not be divided."""

from collections import defaultdict
from collections.abc import Callable
from math import isfinite

from pame.fault_effects import DegradeEffect, Link, Plan
from pame.links import LinkSpec

_DELAY = (
    "multiplies the delay of links that have none; give the links a delay (links: {delay: 20ms}), or add to it with "
    "delay instead"
)
_RATE = "leaves a share of the rate of links that have no limit; give the links a rate, e.g. links: {rate: 10mbit}"
_BOTH = (
    "multiplies the delay and divides the rate of links that have neither; give the links one of them, e.g. "
    "links: {delay: 20ms}, or add to the delay with delay instead"
)


def idle_faults(plan: Plan, spec: Callable[[int, int], LinkSpec]) -> dict[int, str]:
    """Why nothing follows from what a fault asks for, by its number; one link that shows it is enough.

    `spec`: what a link does if nothing happens to it. Another fault may give it a delay; a fault's own is added after
    its factor.
    """
    effects: dict[int, list[DegradeEffect]] = defaultdict(list)
    delaying: dict[Link, set[int]] = defaultdict(set)
    for event in plan:
        if isinstance(event.effect, DegradeEffect):
            effects[event.number].append(event.effect)
            for link in event.effect.links if event.effect.delay_s else ():
                delaying[link].add(event.number)

    def is_delayed(link: Link, number: int) -> bool:
        return spec(*link).delay_s > 0.0 or bool(delaying.get(link, set()) - {number})

    found = {}
    for number, some in sorted(effects.items()):
        slower = [link for effect in some if effect.delay_factor > 1.0 for link in effect.links]
        narrower = [link for effect in some if effect.rate_factor < 1.0 for link in effect.links]
        no_delay = not any(is_delayed(link, number) for link in slower)
        no_rate = not any(isfinite(spec(*link).rate_bps) for link in narrower)
        if slower and narrower:
            if no_delay and no_rate:
                found[number] = _BOTH
        elif slower and no_delay:
            found[number] = _DELAY
        elif narrower and no_rate:
            found[number] = _RATE
    return found
