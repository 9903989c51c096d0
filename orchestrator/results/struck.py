"""Which links and nodes an event of a plan is about."""

from collections.abc import Iterable, Sequence

from orchestrator.number_words import count, listed
from pame.fault_effects import CutEffect, DegradeEffect, DropEffect, FaultEvent, Link

_NAMES_SHOWN = 12


def struck_links(event: FaultEvent) -> Sequence[Link]:
    """None if it is about nodes."""
    return event.effect.links if isinstance(event.effect, CutEffect | DegradeEffect | DropEffect) else ()


def struck_nodes(event: FaultEvent) -> Sequence[int]:
    """None if it is about links."""
    return () if isinstance(event.effect, CutEffect | DegradeEffect | DropEffect) else event.effect.nodes


def named(event: FaultEvent) -> list[int]:
    """The nodes that an event names, as such or as ends of links; ascending."""
    return sorted({*struck_nodes(event), *(node for link in struck_links(event) for node in link)})


def struck(events: Iterable[FaultEvent]) -> str:
    """`4 links: 0→1, ...` or `2 nodes: 3, 5`, over all the events."""
    events = list(events)
    links = sorted({link for event in events for link in struck_links(event)})
    nodes = sorted({node for event in events for node in struck_nodes(event)})
    named: dict[str, list[str]] = {
        "link": [f"{sender}→{receiver}" for sender, receiver in links],
        "node": list(map(str, nodes)),
    }
    parts = [f"{count(len(names), what)}: {listed(names, _NAMES_SHOWN)}" for what, names in named.items() if names]
    return "; ".join(parts)
