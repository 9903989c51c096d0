"""Cuts and packet loss where netem is missing, as text for `nft -f`: dropped at both ends, lost at the receiver.

    table ip pame
    ├── output   TCP to an address in @cut_out: drop
    └── input    from an address in @cut_in: drop;   from an address in @lossy: on to loss_<j>, which drops a share

A cut is silent. (A UDP sender would be told of a drop in `output`, by EPERM: what is not TCP the receiver alone drops.)
The table is there once a link needs it, and its elements change link by link.
"""

from collections.abc import Iterator

from node.shaping.desired import Desired, Shaped
from node.shaping.kernel import NFT, Kernel, mechanisms

TABLE = "ip pame"
CUT_OUT, CUT_IN, LOSSY = "cut_out", "cut_in", "lossy"
LOSS_PARTS = 1_000_000
"""A loss is so many parts in a million."""


def table(desired: Desired, kernel: Kernel) -> list[str]:
    """The whole table, in place of one that was there; none, if no link needs it."""
    links = [link for link in desired.links if _elements(link, kernel)]
    if not links:
        return baseline(kernel)
    return [
        *baseline(kernel),
        f"add table {TABLE}",
        f"add set {TABLE} {CUT_OUT} {{ type ipv4_addr; }}",
        f"add set {TABLE} {CUT_IN} {{ type ipv4_addr; }}",
        f"add map {TABLE} {LOSSY} {{ type ipv4_addr : verdict; }}",
        f"add chain {TABLE} output {{ type filter hook output priority 0; policy accept; }}",
        f"add chain {TABLE} input {{ type filter hook input priority 0; policy accept; }}",
        f"add rule {TABLE} output meta l4proto tcp ip daddr @{CUT_OUT} counter drop",
        f"add rule {TABLE} input ip saddr @{CUT_IN} counter drop",
        f"add rule {TABLE} input ip saddr vmap @{LOSSY}",
        *(line for link in links for line in _come(None, link, kernel)),
    ]


def changes(old: Desired, new: Desired, kernel: Kernel) -> list[str]:
    """First everything that goes, then what comes: an address may pass from one neighbour to another."""
    if not _needed(old, kernel):
        return table(new, kernel) if _needed(new, kernel) else []
    before, after = ({link.neighbour: link for link in state.links} for state in (old, new))
    pairs = [(before.get(neighbour), after.get(neighbour)) for neighbour in sorted(before.keys() | after.keys())]
    gone = [line for was, becomes in pairs for line in _gone(was, becomes, kernel)]
    return gone + [line for was, becomes in pairs for line in _come(was, becomes, kernel)]


def baseline(kernel: Kernel) -> list[str]:
    """No table. (There may be none to delete: adding it first makes sure that there is.)"""
    return [f"add table {TABLE}", f"delete table {TABLE}"] if kernel.filters else []


def loss_chain(neighbour: int) -> str:
    """The chain that loses a neighbour's packets."""
    return f"loss_{neighbour}"


def loss_parts(share: float) -> int:
    """A loss in millionths, and never none where some was asked for."""
    return max(1, round(share * LOSS_PARTS)) if share > 0 else 0


def _needed(desired: Desired, kernel: Kernel) -> bool:
    return any(_elements(link, kernel) for link in desired.links)


def _elements(link: Shaped | None, kernel: Kernel) -> dict[str, str]:
    """What the sets and the map hold of a link."""
    elements: dict[str, str] = {}
    if link is None or not kernel.filters:
        return elements
    if link.cut and mechanisms(link.spec, kernel).cut == NFT:
        elements[CUT_OUT] = link.address
    if link.cut_in:
        elements[CUT_IN] = link.address
    if link.loss_in > 0:
        elements[LOSSY] = f"{link.address} : jump {loss_chain(link.neighbour)}"
    return elements


def _gone(was: Shaped | None, becomes: Shaped | None, kernel: Kernel) -> Iterator[str]:
    old, new = _elements(was, kernel), _elements(becomes, kernel)
    for name, element in old.items():
        if new.get(name) != element:
            yield f"delete element {TABLE} {name} {{ {element} }}"
    if was and LOSSY in old and LOSSY not in new:
        yield f"flush chain {TABLE} {loss_chain(was.neighbour)}"
        yield f"delete chain {TABLE} {loss_chain(was.neighbour)}"


def _come(was: Shaped | None, becomes: Shaped | None, kernel: Kernel) -> Iterator[str]:
    old, new = _elements(was, kernel), _elements(becomes, kernel)
    if becomes and LOSSY in new and (was is None or LOSSY not in old or _loss_rule(was) != _loss_rule(becomes)):
        yield f"{'flush' if LOSSY in old else 'add'} chain {TABLE} {loss_chain(becomes.neighbour)}"
        yield _loss_rule(becomes)
    for name, element in new.items():
        if old.get(name) != element:
            yield f"add element {TABLE} {name} {{ {element} }}"


def _loss_rule(link: Shaped) -> str:
    parts = loss_parts(link.loss_in)
    some = f"numgen random mod {LOSS_PARTS} < {parts} " if parts < LOSS_PARTS else ""
    return f"add rule {TABLE} {loss_chain(link.neighbour)} {some}counter drop"
