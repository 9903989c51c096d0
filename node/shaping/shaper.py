"""From the links and the faults of a run to what the kernel of one node holds, moment by moment.

    wanted    what a node wants at a moment, a pure function          Shaper    makes the kernel hold it, link by link

All nodes are taken to have the same kernel: what a sender cannot do and leaves to the receiver (packet loss and cuts
without netem), the receiver knows from the same setting. What no kernel does stays with the in-process shaper.
"""

import asyncio
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from ipaddress import AddressValueError, IPv4Address
from math import inf, isfinite
from threading import Lock
from typing import Any

from contract.realised import Realised
from node.shaping.apply import ShapingRefused, apply, clear, interface_to, read_back
from node.shaping.desired import Desired, Shaped
from node.shaping.kernel import HTB, IN_PROCESS, NETEM, NFT, NONE, Kernel, left_to_receiver, mechanisms
from node.shaping.read_back import Applied
from pame.conditions import SECONDS, worsened
from pame.fault_effects import CutEffect, DegradeEffect, FaultEvent, Link
from pame.links import PROPERTIES, LinkSpec
from pame.resolved_run import ResolvedRun

_LOOPBACK = "lo"
_BY_KERNEL = (NETEM, HTB, NFT)


def wanted(
    setting: ResolvedRun, index: int, hosts: Mapping[int, str], interface: str, kernel: Kernel, seconds: float = 0.0
) -> Desired:
    """What a node wants of its links at this time of the run; `hosts`: the addresses of its neighbours."""
    links = []
    for neighbour, host in sorted(hosts.items()):
        spec, cut = _at(setting, (index, neighbour), seconds)
        loss_in, cut_in = left_to_receiver(*_at(setting, (neighbour, index), seconds), kernel)
        links.append(Shaped(neighbour, host, spec, cut, loss_in, cut_in))
    loses = any(worse.loss > 0 for worse, _ in _worse(setting, index, hosts))
    return Desired(interface, tuple(links), setting.seed, index, single_packets=loses)


def is_wanted(setting: ResolvedRun, index: int, neighbours: Collection[int], kernel: Kernel) -> bool:
    """Whether this kernel has anything to do for a node, now or later."""
    if not kernel.net_admin:
        return False
    for neighbour in neighbours:
        how = mechanisms(setting.conditions.link_between(index, neighbour), kernel)
        lost, _ = left_to_receiver(setting.conditions.link_between(neighbour, index), False, kernel)
        if lost > 0 or any(how.of(one.name) in _BY_KERNEL for one in PROPERTIES):
            return True
    return bool(_timed(setting, index, neighbours))


def refuse_loss(setting: ResolvedRun, index: int, neighbours: Collection[int], kernel: Kernel) -> None:
    """Packet loss that nothing here can realise is a mistake that is told before the run."""
    for neighbour in neighbours:
        _refuse(setting.conditions.link_between(index, neighbour).loss, "links.loss", (index, neighbour), kernel)
    for worse, event in _worse(setting, index, neighbours):
        link = next(link for link in worse.links if link[0] == index)
        _refuse(worse.loss, f"the fault {event.fault}", link, kernel)


class Shaper:
    """What the kernel does for the links of one node, in this network namespace."""

    def __init__(
        self, setting: ResolvedRun, index: int, peers: Mapping[int, str], kernel: Kernel, interface: str | None = None
    ) -> None:
        """`peers`: the neighbours' addresses, host:port; `interface`: to them, else found by the route.

        ShapingRefused if packets shall be lost and cannot be.
        """
        self._index = index
        self._hosts = {neighbour: _host(address) for neighbour, address in peers.items()}
        self._setting = replace(setting, plan=_timed(setting, index, self._hosts))
        self._kernel = _shapeable(kernel, self._hosts)
        self._interface = interface
        self._held: Desired | None = None
        """What the kernel holds; None: nothing, or nobody knows."""
        self._applied: Applied | None = None
        self._swept = False
        self._touched = False
        self._single_before = False
        self._clears = 0
        """Who was asked for a state before the last of them came too late."""
        self._lock = Lock()
        """Of threads, not of tasks: a task can be cancelled while its thread works on."""
        self._look_ahead()

    def add(self, events: Iterable[FaultEvent]) -> None:
        """Faults by hand; in force with the next `apply`. ShapingRefused, and nothing is added, as in the beginning."""
        before, self._setting = self._setting, replace(self._setting, plan=(*self._setting.plan, *events))
        try:
            self._look_ahead()
        except ShapingRefused:
            self._setting = before
            raise

    def move(self, receiver: int, address: str) -> None:
        """A neighbour came back somewhere else; in force with the next `apply`.

        If another one was known there, it has gone, too, and is not shaped until it says where to."""
        host = _host(address)
        others = {neighbour: known for neighbour, known in self._hosts.items() if known != host}
        self._hosts = others | {receiver: host}

    def next_change(self, seconds: float) -> float:
        """The next time of the run at which `apply` has something to do; inf: never."""
        if not self._wanted:
            return inf
        place = bisect_right(self._moments, seconds)
        return self._moments[place] if place < len(self._moments) else inf

    async def apply(self, seconds: float) -> None:
        """Make the kernel hold what this time of the run asks for; only the links concerned are touched."""
        await asyncio.to_thread(self._hold, seconds, self._clears)

    async def clear(self) -> None:
        """Back to where it began; an `apply` that is under way ends first, or does nothing any more."""
        self._clears += 1
        await asyncio.to_thread(self._let_go)

    def residual(self, receiver: int, spec: LinkSpec) -> LinkSpec:
        """What of this is left to the in-process shaper."""
        if not self._holds(receiver):
            return spec
        how = mechanisms(spec, self._kernel)
        done: dict[str, Any] = {one.field: one.nothing for one in PROPERTIES if how.of(one.name) in _BY_KERNEL}
        return replace(spec, **done)

    @property
    def is_at_work(self) -> bool:
        """Whether the kernel holds anything for the links of this node."""
        return self._held is not None

    def holds_cut(self, receiver: int) -> bool:
        """Whether the kernel sees to it that nothing gets through while the link is cut."""
        return self._holds(receiver) and mechanisms(LinkSpec(), self._kernel).cut in _BY_KERNEL

    def why_lossless(self) -> str:
        """Why packets cannot be lost here; empty: they can."""
        how = mechanisms(LinkSpec(loss=1.0), self._kernel).loss
        return "" if how in _BY_KERNEL else how.removeprefix("refused: ")

    def mechanism(self, effect: CutEffect | DegradeEffect) -> str:
        """What realises an effect on the links from this node."""
        links = [link for link in effect.links if link[0] == self._index]
        found = {how for link in links for how in self._realising(effect, link)}
        return "+".join(sorted(found)) or IN_PROCESS

    def held_links(self, effect: CutEffect | DegradeEffect) -> list[Realised]:
        """What the kernel holds of the links that an effect strikes, as last read back."""
        return [row for row in self.table() if (row.sender, row.receiver) in effect.links and row.held is not None]

    def table(self) -> list[Realised]:
        """Every property that does something, of the links from this node (and, where the loss of packets is left to
        their receiver, to it), as last read back."""
        links = self._applied.links.values() if self._applied else ()
        records = [record for properties in links for record in properties.values()]
        for receiver in sorted(self._hosts) if self._applied is None else ():
            spec = self._setting.conditions.link_between(self._index, receiver)
            how = mechanisms(spec, self._kernel)
            records += [
                Realised(self._index, receiver, one.name, one.of(spec), how.of(one.name), None) for one in PROPERTIES
            ]
        return [record for record in records if record.mechanism != NONE]

    def _realising(self, effect: CutEffect | DegradeEffect, link: Link) -> set[str]:
        """The mechanisms of what an effect changes on a link."""
        if not self._wanted or link[1] not in self._hosts:
            return {IN_PROCESS}
        if isinstance(effect, CutEffect):
            return {mechanisms(LinkSpec(), self._kernel).cut}
        before = self._setting.conditions.link_between(*link)
        after = worsened(before, effect)
        how = mechanisms(after, self._kernel)
        return {how.of(one.name) for one in PROPERTIES if one.of(after) != one.of(before)}

    def _look_ahead(self) -> None:
        """What the plan has in store for this node's links."""
        refuse_loss(self._setting, self._index, self._hosts, self._kernel)
        self._wanted = is_wanted(self._setting, self._index, self._hosts, self._kernel)
        windows = [event.window for event in _timed(self._setting, self._index, self._hosts)]
        moments = {moment for window in windows for moment in (window.begin, window.end)}
        self._moments = sorted(filter(isfinite, moments))

    def _holds(self, receiver: int) -> bool:
        held = self._held
        return held is not None and any(link.neighbour == receiver for link in held.links)

    def _hold(self, seconds: float, clears: int) -> None:
        with self._lock:
            if clears != self._clears:
                return
            self._sweep_once()
            if not self._wanted or not self._has_interface():
                return
            assert self._interface is not None
            desired = wanted(self._setting, self._index, self._hosts, self._interface, self._kernel, seconds)
            if desired == self._held:
                return
            if not self._touched:
                nothing = Desired(self._interface, (), 0)
                self._single_before = read_back(nothing, self._kernel).single_packets
                self._touched = True
            try:
                self._applied = apply(desired, self._kernel, self._held)
            except ShapingRefused:
                self._held = None
                raise
            self._held = desired

    def _sweep_once(self) -> None:
        """Also where nothing is wanted: a former self may have shaped these links in another run, and been killed.

        Single segments stay: they cost little, and may be the backend's.
        """
        if self._swept or not self._kernel.net_admin or not self._hosts:
            return
        self._swept = True
        with suppress(ShapingRefused):  # what is wanted here, if anything, says so by itself
            interface = self._interface or interface_to(*self._hosts.values())
            if interface != _LOOPBACK:
                clear(interface, self._kernel, single_packets=True)

    def _has_interface(self) -> bool:
        """Find it; where neighbours turn out to be on this very machine, everything is done in-process."""
        if self._interface is None:
            self._interface = interface_to(*self._hosts.values())
        if self._interface == _LOOPBACK:
            self._kernel = _shared_network()
            self._look_ahead()
        return self._wanted

    def _let_go(self) -> None:
        with self._lock:
            if self._touched:
                assert self._interface is not None
                clear(self._interface, self._kernel, self._single_before)
            self._held, self._touched = None, False


def _at(setting: ResolvedRun, link: Link, seconds: float) -> tuple[LinkSpec, bool]:
    """What a link does, and whether it is cut."""
    return setting.conditions.link_at(*link, seconds), setting.conditions.held_until(*link, seconds) > seconds


def _timed(setting: ResolvedRun, index: int, neighbours: Iterable[int]) -> list[FaultEvent]:
    """What goes by the clock and concerns a link between a node and some neighbours, either way."""
    mine = {link for neighbour in neighbours for link in ((index, neighbour), (neighbour, index))}
    return [
        event
        for event in setting.plan
        if event.window.unit == SECONDS
        and isinstance(event.effect, CutEffect | DegradeEffect)
        and not mine.isdisjoint(event.effect.links)
    ]


def _worse(setting: ResolvedRun, index: int, neighbours: Iterable[int]) -> list[tuple[DegradeEffect, FaultEvent]]:
    """What makes links from a node worse for a time."""
    events = _timed(setting, index, neighbours)
    found = [(event.effect, event) for event in events if isinstance(event.effect, DegradeEffect)]
    return [(worse, event) for worse, event in found if any(sender == index for sender, _ in worse.links)]


def _refuse(loss: float, where: str, link: Link, kernel: Kernel) -> None:
    how = mechanisms(LinkSpec(loss=loss), kernel).loss
    if how not in (*_BY_KERNEL, NONE):
        raise ShapingRefused(
            f"{where}: packets from node {link[0]} to node {link[1]} cannot be lost on this backend "
            f"({how.removeprefix('refused: ')}); use netns or compose, or messages.loss for whole messages"
        )


def _shapeable(kernel: Kernel, hosts: Mapping[int, str]) -> Kernel:
    """None, where an address does not tell which node it is."""
    addresses = list(hosts.values())
    shared = len(set(addresses)) < len(addresses) or any(map(_is_loopback, addresses))
    return _shared_network() if kernel.net_admin and shared else kernel


def _shared_network() -> Kernel:
    return Kernel(reasons=(("net_admin", "these nodes have no network of their own"),))


def _is_loopback(host: str) -> bool:
    try:
        return IPv4Address(host).is_loopback
    except AddressValueError:
        return host == "localhost"


def _host(address: str) -> str:
    return address.rpartition(":")[0]
