"""What the kernel holds, from what `tc`, `nft` and `ip` print, beside what was asked for: pure functions."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isclose
from typing import Any

from contract.realised import Realised
from node.shaping.desired import Desired, Shaped
from node.shaping.kernel import HTB, NETEM, NFT, NONE, Kernel, Mechanisms, mechanisms
from node.shaping.nft_text import CUT_IN, CUT_OUT, LOSS_PARTS, LOSSY, loss_chain
from node.shaping.tc_text import PRINTED_BY_NETEM, UNLIMITED_BPS, minor
from pame.links import PROPERTIES
from pame.units import BITS_PER_SECOND

_CLASS = re.compile(
    r"^class htb 1:(?P<minor>[0-9a-f]+) .*?\brate (?P<number>[0-9.]+)(?P<unit>[KMGT]?)bit ", re.MULTILINE
)
_UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_RATES = {one.name for one in PROPERTIES if one.unit is BITS_PER_SECOND}
_Found = tuple[float, str, float | None]
"""Of a property: what was asked, the mechanism, and what this kernel says: None where it has no say (in-process,
refused, or at the other end)."""
_RATE_SLACK, _SLACK = (3e-3, 8.0), (1e-4, 2e-6)
"""Relative and absolute: the digits that `tc` prints, bytes per second, and a delay or share of next to nothing."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What the kernel holds of a node's links."""

    links: Mapping[int, Mapping[str, Realised]]
    """By neighbour, and by property of the link to it, `cut`, and `loss_in` and `cut_in` of the link from it."""
    single_packets: bool


@dataclass(frozen=True, slots=True)
class PrintedTexts:
    """What the programs print: `tc -j qdisc`, `tc class`, `nft -j list table`, `ip -j -d link`; empty: not asked."""

    qdiscs: str = ""
    classes: str = ""
    table: str = ""
    link: str = ""


def held(desired: Desired, kernel: Kernel, printed: PrintedTexts) -> Applied:
    """Every link of a node, as asked for and as the kernel has it."""
    leaves = {leaf["handle"]: leaf for leaf in _json(printed.qdiscs) if "handle" in leaf}
    rates = {
        found["minor"]: float(found["number"]) * _UNITS[found["unit"]] for found in _CLASS.finditer(printed.classes)
    }
    filters = _filters(printed.table)
    link = next(iter(_json(printed.link)), {})
    return Applied(
        {each.neighbour: _link(desired.node, each, kernel, leaves, rates, filters) for each in desired.links},
        single_packets=link.get("gso_max_segs") == 1,
    )


def differences(applied: Applied) -> list[str]:
    """Where the kernel holds something else than was asked for."""
    return [
        f"{name} of the link with node {neighbour}: asked {value.asked:g}, the kernel has {value.held:g}"
        for neighbour, properties in applied.links.items()
        for name, value in properties.items()
        if value.held is not None and not _same(name, value.asked, value.held)
    ]


def _same(name: str, asked: float, kernel: float) -> bool:
    relative, absolute = _RATE_SLACK if name in _RATES else _SLACK
    return isclose(asked, kernel, rel_tol=relative, abs_tol=absolute)


def _link(
    node: int,
    shaped: Shaped,
    kernel: Kernel,
    leaves: Mapping[str, Any],
    rates: Mapping[str, float],
    filters: Mapping[str, float],
) -> Mapping[str, Realised]:
    number, spec, how = minor(shaped.neighbour), shaped.spec, mechanisms(shaped.spec, kernel)
    leaf, rate = leaves.get(f"{number}:"), rates.get(number)
    netem = leaf["options"] if leaf and leaf["kind"] == NETEM else None
    printed = {name: _option(netem, *place) for name, place in PRINTED_BY_NETEM.items()}
    printed["rate"] = None if rate is None else rate if rate < UNLIMITED_BPS else inf
    out = {one.name: _said(one.of(spec), how.of(one.name), printed[one.name]) for one in PROPERTIES}
    out |= _outgoing_losses(shaped, how, printed["loss"], filters)
    held = {name: Realised(node, shaped.neighbour, name, *found) for name, found in out.items()}
    for name, found in _incoming_losses(shaped, kernel, filters).items():
        held[f"{name}_in"] = Realised(shaped.neighbour, node, name, *found)
    return held


def _outgoing_losses(
    shaped: Shaped, how: Mechanisms, lost: float | None, filters: Mapping[str, float]
) -> dict[str, _Found]:
    """One figure of netem stands for both: a cut is a loss of everything."""
    cut = filters.get(f"{CUT_OUT} {shaped.address}", 0.0) if how.cut == NFT else None
    stands_for_cut = how.cut == NETEM and shaped.cut
    if stands_for_cut:
        cut = lost
    unsaid = (shaped.spec.loss, how.loss, None)
    return {
        "loss": unsaid if how.loss == NFT or stands_for_cut else _said(shaped.spec.loss, how.loss, lost),
        "cut": _said(float(shaped.cut), how.cut if shaped.cut else NONE, cut),
    }


def _incoming_losses(shaped: Shaped, kernel: Kernel, filters: Mapping[str, float]) -> dict[str, _Found]:
    works = kernel.filters
    how = NFT if works else f"refused: {kernel.reason('nft')}"
    lost = filters.get(f"{LOSSY} {shaped.address} {loss_chain(shaped.neighbour)}", 0.0) if works else None
    cut = filters.get(f"{CUT_IN} {shaped.address}", 0.0) if works else None
    return {
        "loss": (shaped.loss_in, how if shaped.loss_in else NONE, lost),
        "cut": (float(shaped.cut_in), how if shaped.cut_in else NONE, cut),
    }


def _said(asked: float, mechanism: str, kernel: float | None) -> _Found:
    """What is done in-process the kernel must not do as well, but its zero is no difference; a queue that should be
    there and is not does nothing."""
    if mechanism in (NETEM, HTB) and kernel is None:
        kernel = 0.0
    return asked, mechanism, kernel if mechanism in (NETEM, HTB, NFT, NONE) else None


def _option(netem: Mapping[str, Any] | None, group: str, name: str) -> float | None:
    """Zero where netem does not mention it; None without netem."""
    return None if netem is None else float(netem.get(group, {}).get(name, 0.0))


def _json(text: str) -> list[dict[str, Any]]:
    return json.loads(text) if text.strip() else []


def _filters(text: str) -> dict[str, float]:
    """By set and address (and chain): the share of packets that is dropped."""
    objects = json.loads(text)["nftables"] if text.strip() else []
    shares: dict[str, float] = {}
    for rule in (item["rule"] for item in objects if "rule" in item):
        limits = [part["match"]["right"] for part in rule["expr"] if "numgen" in str(part.get("match", ""))]
        shares[rule["chain"]] = limits[0] / LOSS_PARTS if limits else 1.0
    found: dict[str, float] = {}
    for item in objects:
        if "set" in item:
            found |= {f"{item['set']['name']} {address}": 1.0 for address in item["set"].get("elem", [])}
        elif "map" in item:
            for address, verdict in item["map"].get("elem", []):
                chain = verdict["jump"]["target"]
                found[f"{item['map']['name']} {address} {chain}"] = shares.get(chain, 0.0)
    return found
