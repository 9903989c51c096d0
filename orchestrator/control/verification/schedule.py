"""Who measures when: no node is in two measurements at once, so that none disturbs another."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import networkx as nx

from contract.realised import PINGS, PINGS_OF_JITTER
from orchestrator.control.verification.findings import Asked, Link
from pame.randomness import Key, Purpose, subset

MOST_LINKS = 200
_TIMING_BUDGET_S = 8.0
_LEAST_S, _MOST_S = 0.2, 2.5
_WISHES_S, _WISH_S = {"delay": 0.2, "jitter": 0.6}, 1.0
_PING_SLACK_S = 0.01
_RATE_S, _MOST_RATE_S = 0.3, 2.0
_RATE_PACKETS = 30
_PACKET_BITS = 8 * 1242
MOST_RATE_ROUNDS = 10

Edge = tuple[int, int]
"""Its ends, the smaller first."""


@dataclass(frozen=True, slots=True)
class Round:
    """Links that are measured at the same time."""

    links: tuple[Link, ...]
    seconds: float


def sample(links: Iterable[Link], seed: int, most: int = MOST_LINKS) -> list[Link]:
    """All of them; above so many, both ways of edges drawn from the seed."""
    there = sorted(set(links))
    if len(there) <= most:
        return there
    edges = sorted({edge_of(link) for link in there})
    chosen = {edges[place] for place in subset(Key(seed, Purpose.VERIFICATION), len(edges), min(most // 2, len(edges)))}
    return [link for link in there if edge_of(link) in chosen]


def timing_rounds(asked: Mapping[Link, Sequence[Asked]]) -> list[Round]:
    """Delay, jitter and loss; both ways of an edge together."""
    timed = {link: some for link, some in asked.items() if any(one.what != "rate" for one in some)}
    classes = colour(edge_of(link) for link in timed)
    share = max(_LEAST_S, _TIMING_BUDGET_S / max(1, len(classes)))
    rounds = []
    for edges in classes:
        links = tuple(link for link in sorted(timed) if edge_of(link) in edges)
        measured = [one for link in links for one in timed[link]]
        wish, least = max(map(_wish, measured)), max(map(_pinging, measured))
        rounds.append(Round(links, min(max(wish, _LEAST_S), max(share, least), _MOST_S)))
    return rounds


def rate_rounds(asked: Mapping[Link, Sequence[Asked]], most_bps: float) -> tuple[list[Round], list[Link]]:
    """Rates, so that those of a round together stay below a limit; and the links that are too fast for it."""
    rates = {link: one.value for link, some in asked.items() for one in some if one.what == "rate"}
    too_fast = [link for link, rate in sorted(rates.items()) if rate > most_bps]
    fit: list[_FilledRound] = []
    for edges in colour(edge_of(link) for link, rate in rates.items() if rate <= most_bps):
        for link in sorted(link for edge in edges for link in (edge, edge[::-1]) if rates.get(link, inf) <= most_bps):
            place = next((one for one in fit if one.has_room(link, rates[link])), None)
            if place is None:
                fit.append(place := _FilledRound(most_bps))
            place.add(link, rates[link])
    return [Round(tuple(sorted(one.links)), _rate_seconds(rates, one.links)) for one in fit], too_fast


class _FilledRound:
    """A round that is being filled."""

    def __init__(self, room_bps: float) -> None:
        self.links: list[Link] = []
        self._room_bps = room_bps
        self._busy: dict[int, Edge] = {}

    def has_room(self, link: Link, rate_bps: float) -> bool:
        """Whether its ends are free, but for the way back, and it is not too fast for the rest."""
        edge = edge_of(link)
        return rate_bps <= self._room_bps and all(self._busy.get(end, edge) == edge for end in link)

    def add(self, link: Link, rate_bps: float) -> None:
        self.links.append(link)
        self._room_bps -= rate_bps
        self._busy |= dict.fromkeys(link, edge_of(link))


def colour(edges: Iterable[Edge]) -> list[set[Edge]]:
    """Classes of edges, none of which share a node."""
    graph = nx.Graph(sorted(set(edges)))
    colours = nx.greedy_color(nx.line_graph(graph), strategy="saturation_largest_first")
    classes: list[set[Edge]] = [set() for _ in range(max(colours.values(), default=-1) + 1)]
    for (i, j), number in colours.items():
        classes[number].add((min(i, j), max(i, j)))
    return classes


def edge_of(link: Link) -> Edge:
    """Both ways of it."""
    return min(link), max(link)


def _wish(asked: Asked) -> float:
    """How long a measurement would like to take."""
    if asked.what == "rate":
        return 0.0
    return max(_WISHES_S.get(asked.what, _WISH_S), _pinging(asked))


def _pinging(asked: Asked) -> float:
    """How long it takes to measure anything at all."""
    if not asked.in_process:
        return 0.0
    pings = PINGS_OF_JITTER if asked.what == "jitter" else PINGS
    return pings * (asked.spec.delay_s + _PING_SLACK_S)


def _rate_seconds(rates: Mapping[Link, float], links: Iterable[Link]) -> float:
    slowest = min(rates[link] for link in links)
    return min(max(_RATE_S, _RATE_PACKETS * _PACKET_BITS / slowest), _MOST_RATE_S)
