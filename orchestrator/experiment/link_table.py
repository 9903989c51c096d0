"""From the section `links` to what every single link does: presets, draws, regions, nodes, pairs, in this order."""

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

from orchestrator.experiment.distributions import Distribution, Lognormal, Normal, draws
from orchestrator.experiment.links import LinkDraw, LinksSection
from pame.errors import ParameterError
from pame.links import PROPERTIES, LinkSpec
from pame.randomness import Key, Purpose
from pame.topology import Topology
from pame.units import BITS_PER_SECOND, SHARE, Unit

PRESETS = {
    "lan": LinkSpec(0.25e-3, 0.05e-3, 1e9),
    "wifi": LinkSpec(3e-3, 2e-3, 50e6),
    "4g": LinkSpec(25e-3, 10e-3, 20e6, "normal"),
    "wan": LinkSpec(20e-3, 2e-3, 100e6),
    "intercontinental": LinkSpec(80e-3, 5e-3, 100e6),
    "satellite": LinkSpec(300e-3, 10e-3, 20e6),
}
"""Typical values, one way; losses are repaired below, so there are none."""

Link = tuple[int, int]
_LARGEST_SHARE = 0.999999
_LEAST_RATE = 0.01
"""Of the mean: a normal rate can be below 0, and a link that hardly carries anything ends no run."""


@dataclass(frozen=True)
class LinkTable:
    default: LinkSpec = field(default_factory=LinkSpec)
    special: Mapping[Link, LinkSpec] = field(default_factory=dict)
    """Those that do something else, by sender and receiver."""
    regions: Mapping[int, str] = field(default_factory=dict)
    """Where the nodes are, if the experiment says so."""

    def spec(self, sender: int, receiver: int) -> LinkSpec:
        return self.special.get((sender, receiver), self.default)


def link_table(links: LinksSection | None, topology: Topology, seed: int) -> LinkTable:
    """The table; `ParameterError` if it names a node or a link that is not there."""
    if links is None:
        return LinkTable()
    default = links.changed(PRESETS[links.preset] if links.preset else LinkSpec())
    regions = _regions(links, topology.nodes)
    special: dict[Link, LinkSpec] = {}
    directed = _directed(topology)
    for link in directed:
        spec = _drawn(default, links.draw, link, seed)
        spec = _between(spec, links, regions, link)
        if spec != default:
            special[link] = spec
    for ranges, settings in (links.nodes or {}).items():
        chosen = set(_nodes(f"links.nodes: {ranges}", ranges, topology.nodes))
        for link in directed:
            if chosen & set(link):
                special[link] = settings.changed(special.get(link, default))
    there = set(directed)
    for pair, settings in (links.pairs or {}).items():
        for link in _pair(pair, topology, there):
            special[link] = settings.changed(special.get(link, default))
    return LinkTable(default, special, regions)


def _directed(topology: Topology) -> list[Link]:
    edges = [(int(i), int(j)) for i, j in topology.edges]
    return sorted(edges + [(j, i) for i, j in edges])


def _drawn(spec: LinkSpec, draw: LinkDraw | None, link: Link, seed: int) -> LinkSpec:
    """Each direction draws for itself, each property by its own word of the link's key."""
    if draw is None:
        return spec
    key = Key(seed, Purpose.LINK_DRAW, link[0], 0, link[1])
    numbers: dict[str, Any] = {
        one.field: _possible(one.unit, distribution, draws(distribution, key, one.word + 1)[one.word])
        for one in PROPERTIES
        if (distribution := getattr(draw, one.name)) is not None
    }
    return replace(spec, **numbers)


def _possible(unit: Unit, distribution: Distribution, number: float) -> float:
    """The number, or the nearest that a link can have."""
    if isinstance(distribution, Lognormal):
        number = float(f"{number:.6g}")  # exp differs in the last bit between machines
    if unit is BITS_PER_SECOND:
        return max(number, _LEAST_RATE * distribution.mean) if isinstance(distribution, Normal) else number
    return min(max(0.0, number), _LARGEST_SHARE) if unit is SHARE else max(0.0, number)


def _regions(links: LinksSection, nodes: int) -> dict[int, str]:
    regions: dict[int, str] = {}
    for name, ranges in (links.regions or {}).items():
        for node in _nodes(f"links.regions.{name}", ranges, nodes):
            if node in regions:
                raise ParameterError(f"links.regions: node {node} is in {regions[node]} and in {name}; give it one")
            regions[node] = name
    missing = sorted(set(range(nodes)) - regions.keys())
    if regions and missing:
        raise ParameterError(f"links.regions: node {missing[0]} is in no region; give every node one")
    for pair in links.between or {}:
        unknown = sorted(set(pair.split("-")) - set(regions.values()))
        if unknown:
            raise ParameterError(f"links.between.{pair}: there is no region {unknown[0]!r}; name it in links.regions")
    return regions


def _between(spec: LinkSpec, links: LinksSection, regions: Mapping[int, str], link: Link) -> LinkSpec:
    if not regions or links.between is None:
        return spec
    here, there = (regions[node] for node in link)
    delay = links.between.get(f"{here}-{there}", links.between.get(f"{there}-{here}"))
    return spec if delay is None else replace(spec, delay_s=delay)


def _nodes(where: str, ranges: str, nodes: int) -> Iterator[int]:
    """0..3, 7 as numbers."""
    for part in ranges.split(","):
        first, _, last = part.partition("..")
        low, high = int(first), int(last or first)
        if low > high or high >= nodes:
            raise ParameterError(f"{where}: {part.strip()} is not among the nodes 0 to {nodes - 1}")
        yield from range(low, high + 1)


def _pair(pair: str, topology: Topology, there: Set[Link]) -> list[Link]:
    """0-3 both ways, 0>3 one way."""
    i, how, j = re.split(r" *([->]) *", pair.strip())
    link = int(i), int(j)
    if link not in there:
        near = ", ".join(f"{i}-{k}" for k in topology.neighbours(link[0])[:3]) if link[0] < topology.nodes else ""
        hint = f"; node {link[0]} has {near}" if near else f"; nodes are 0 to {topology.nodes - 1}"
        raise ParameterError(f"links.pairs: {pair} is no link of this topology{hint}")
    return [link, (link[1], link[0])] if how == "-" else [link]
