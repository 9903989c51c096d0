"""From the faults of an experiment to its plan: every node and link resolved, nothing left to chance.

A fault of which nothing would follow is found here, too: a delay that is not there cannot be multiplied, an unlimited
rate not be divided.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import isfinite

from orchestrator.experiment.faults.interface import Fault, FaultError, Horizon, Impossible, World
from orchestrator.experiment.faults.triggers import MOST_EVENTS, too_many
from pame.fault_effects import DegradeEffect, FaultEvent, Link, Plan
from pame.links import LinkSpec
from pame.topology import Topology

_MOST_NAMES = 1_000_000
"""Nodes and links that a plan names: about 15 MB of text."""
_DELAY = (
    "multiplies the delay of links that have none; give the links a delay (links: {delay: 20ms}), or add to it with "
    "delay instead"
)
_RATE = "leaves a share of the rate of links that have no limit; give the links a rate, e.g. links: {rate: 10mbit}"
_BOTH = (
    "multiplies the delay and divides the rate of links that have neither; give the links one of them, e.g. "
    "links: {delay: 20ms}, or add to the delay with delay instead"
)


def contradictions(faults: Sequence[Fault]) -> dict[str, str]:
    """What can be seen without the graph, by dotted key such as `faults.2.until`; each sentence says what to do."""
    return {_where(number, key): why for number, fault in enumerate(faults) for key, why in fault.problems().items()}


def compile_plan(
    faults: Sequence[Fault], topology: Topology, regions: Mapping[int, str] | None, seed: int, horizon: Horizon
) -> tuple[FaultEvent, ...]:
    """The plan, by beginning and then by number: the same for the same arguments. FaultError names what cannot be.

    Only what repeats is bounded by the horizon; a single window stands in the plan as it was asked for.
    """
    for where, why in contradictions(faults).items():
        raise FaultError(f"{where}: {why}")
    plan: list[FaultEvent] = []
    names = 0
    for number, fault in enumerate(faults):
        try:
            for happening in fault.events(World(topology, regions, seed, number, horizon)):
                event = FaultEvent(number, happening.words or fault.kind, happening.effect, happening.window)
                struck = len(event.links) + len(event.nodes)
                if not struck:
                    continue
                plan.append(event)
                names += struck
                if len(plan) > MOST_EVENTS:
                    raise Impossible("", too_many())
                if names > _MOST_NAMES:
                    raise Impossible(
                        "", f"names more than {_MOST_NAMES:,} nodes and links in all; let it happen less often"
                    )
        except Impossible as error:
            raise FaultError(f"{_where(number, error.key)}: {error.why}") from None
    return tuple(sorted(plan, key=lambda event: (event.window.begin, event.number)))


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
        if (slower or narrower) and no_delay and no_rate:
            found[number] = _BOTH if slower and narrower else _DELAY if slower else _RATE
    return found


def _where(number: int, key: str) -> str:
    return f"faults.{number}.{key}" if key else f"faults.{number}"
