"""Which links and nodes an event of a plan is about."""

from collections.abc import Iterable

from orchestrator.number_words import count, listed
from pame.fault_effects import FaultEvent

_NAMES_SHOWN = 12


def named(event: FaultEvent) -> list[int]:
    """The nodes that an event names, as such or as ends of links; ascending."""
    return sorted({*event.nodes, *(node for link in event.links for node in link)})


def struck(events: Iterable[FaultEvent]) -> str:
    """`4 links: 0→1, ...` or `2 nodes: 3, 5`, over all the events."""
    events = list(events)
    links = sorted({link for event in events for link in event.links})
    nodes = sorted({node for event in events for node in event.nodes})
    named: dict[str, list[str]] = {
        "link": [f"{sender}→{receiver}" for sender, receiver in links],
        "node": list(map(str, nodes)),
    }
    parts = [f"{count(len(names), what)}: {listed(names, _NAMES_SHOWN)}" for what, names in named.items() if names]
    return "; ".join(parts)
