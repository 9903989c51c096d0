"""One look at a run as plain values: what the page is told of it every second."""

import time
from math import inf
from operator import itemgetter
from typing import Any

from orchestrator.control import NetworkRunState
from orchestrator.control.run_figures import state_of
from orchestrator.live.fault_windows import Disturbed
from orchestrator.live.flows import NOTHING, Flow, LinkRates
from pame.fault_effects import Link

DIRECTED_LINKS = 1400
"""With more links, the two directions of an edge are told as one: nobody could see them apart."""
MOST_LINKS = 2000
"""So many of the busiest are told; of the others only how many there are."""
_TOLD = ("seconds", "slowest", "median", "fastest", "alive", "late", "starved")


def look_at(run: NetworkRunState, flows: LinkRates, disturbed: Disturbed) -> dict[str, Any]:
    """All but nodes, faults and events; `flows` learns what is new."""
    flows.take(run.totals)
    network, sums = state_of(run), run.totals.figures()
    links = flows.links(inf if run.is_over else time.monotonic())
    rows = _rows(links)
    return {
        **{name: getattr(network, name) for name in _TOLD},
        "health": network.health.state.value if network.health else "",
        "health_reason": network.health.reason if network.health else "",
        "judged": network.judged,
        "to_judge": network.to_judge,
        "judged_after": run.setting.store is not None,
        "bytes": sum(flow.bytes for flow in links.values()),
        "rate": round(sum(flow.rate for flow in links.values())),
        "refused": sums.into.refused + sums.node.strangers,
        "dropped": sums.out.dropped,
        "evicted": sums.into.evicted,
        "expired": sums.node.expired,
        "absurd": sums.into.absurd,
        "deaths": run.disturbances.deaths,
        "restarts": run.disturbances.restarts,
        "directed": len(links) <= DIRECTED_LINKS,
        "links": sorted(rows[:MOST_LINKS]),
        "links_left_out": len(rows[MOST_LINKS:]),
        "marked": marked(disturbed, len(links) <= DIRECTED_LINKS),
    }


def marked(disturbed: Disturbed, directed: bool) -> list[tuple[int, int, str]]:
    """Sender, receiver, and what a fault does to the link now."""
    found: dict[Link, str] = {}
    for (sender, receiver), mark in sorted(disturbed.links.items()):
        found.setdefault((sender, receiver) if directed else (min(sender, receiver), max(sender, receiver)), mark)
    return [(*link, mark) for link, mark in found.items()][:MOST_LINKS]


def _rows(links: dict[tuple[int, int], Flow]) -> list[list[int]]:
    """Sender, receiver, bytes so far, bytes per second; the busiest first."""
    if len(links) > DIRECTED_LINKS:
        links = _undirected(links)
    rows = [[*pair, flow.bytes, round(flow.rate)] for pair, flow in links.items()]
    return sorted(rows, key=itemgetter(3, 2), reverse=True)


def _undirected(links: dict[tuple[int, int], Flow]) -> dict[tuple[int, int], Flow]:
    edges: dict[tuple[int, int], Flow] = {}
    for (sender, receiver), (size, rate) in links.items():
        edge = (sender, receiver) if sender < receiver else (receiver, sender)
        other = edges.get(edge, NOTHING)
        edges[edge] = Flow(size + other.bytes, rate + other.rate)
    return edges
