"""The backend `netns`: every node a process in a network namespace of its own; the orchestrator in this process, where
it is. Needs root, but no Docker. Two bridges in a namespace of their own, the switch, join the nodes:

    host                   switch                               node i
    pame-200  10.200.0.1 ─ host ┐
                                control (bridge) ── control-i ─ control  10.200.0.(2+i)/20
                                data (bridge) ───── data-i ──── data     10.200.16.(2+i)/20

Not on the host, where Docker's FORWARD policy would block the bridges. No namespace has a name or a process: they are
open files of this process, so that the kernel takes them away with it, however it ends; and a cable (veth) goes with
either of its ends, so that the switch takes the host's end along. The nodes keep the switch open, too: a connection
that cannot say goodbye any more would hold on to its namespace for many seconds after its process has gone.

On the data network nobody asks for hardware addresses (ARP): all are known from the start. The kernel's table of
learnt ones is shared by all namespaces and holds a thousand; and packets leave as they would on a wire, in segments,
because a counter or a queue would take a large one of the kernel's own making for a single packet.
"""

import ctypes
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import TypeVar

from node.addresses import AUTO
from orchestrator.backends.on_processes import Places, check_processes, runs_on
from orchestrator.backends.processes import Place
from orchestrator.errors import MachineFault, TooManyNodes
from orchestrator.experiment import Experiment

_T = TypeVar("_T")

MOST_NODES = 1000
"""A bridge has 1023 ports."""
_CLONE_NEWNET = 0x40000000
_IP_S = 60.0
_PRIVATE = (
    *(IPv4Network((f"10.{number}.0.0", 16)) for number in range(200, 255)),
    *IPv4Network("172.16.0.0/12").subnets(new_prefix=16),
)
_SHORTEST_PREFIX = 8
"""Shorter ones are ways to the rest of the world, not networks in use."""


class NoNamespaces(MachineFault):
    """This machine or this user cannot have network namespaces."""


@dataclass(frozen=True)
class _Plan:
    """Who has which address and which name."""

    block: IPv4Network

    @property
    def cable(self) -> str:
        return f"pame-{self.block.network_address.packed[1]}"

    @property
    def host(self) -> IPv4Address:
        return self.block[1]

    def control(self, node: int) -> IPv4Address:
        return self.block[2 + node]

    def data(self, node: int) -> IPv4Address:
        return self.block[(1 << 12) + 2 + node]


def check_netns(experiment: Experiment, base: Path) -> None:
    """Refuse a machine or a user without namespaces, too many nodes, and what cannot be built."""
    if shutil.which("ip") is None:
        raise NoNamespaces("the backend netns needs the program `ip`: install iproute2, or use --backend local")
    try:
        with ExitStack() as held:
            _in_new_namespace(held, lambda _: None)
    except PermissionError:
        raise NoNamespaces(
            "the backend netns needs root (CAP_SYS_ADMIN and CAP_NET_ADMIN): use sudo, or --backend local"
        ) from None
    except OSError as error:
        raise NoNamespaces(f"no network namespace can be made here ({error.strerror}): use --backend local") from None
    if experiment.nodes > MOST_NODES:
        raise TooManyNodes(f"a bridge has no room for {experiment.nodes} nodes: use at most {MOST_NODES}")
    check_processes(experiment, base)


@contextmanager
def namespaces(nodes: int) -> Iterator[Places]:
    """Namespaces for so many nodes, and an address on this side from which all of them are reached."""
    with ExitStack() as held, _free_block() as block:
        plan = _Plan(block)
        try:
            try:
                switch, *rooms = _in_new_namespace(held, lambda switch: [switch, *_build(plan, nodes, switch, held)])
                _no_ipv6(plan.cable)
                _ip([f"address add {plan.host}/20 dev {plan.cable}", f"link set {plan.cable} up"])
            except OSError as error:
                raise NoNamespaces(f"the network of namespaces cannot be built: {error.strerror}") from None
            yield Places(str(plan.host), [Place(AUTO, _path(room)) for room in rooms], kept=[switch])
        finally:  # now, and not when the kernel finds the time: the next run may want this name
            subprocess.run(("ip", "link", "delete", plan.cable), capture_output=True, check=False, timeout=_IP_S)


netns = runs_on("netns", namespaces)


def _build(plan: _Plan, nodes: int, switch: int, held: ExitStack) -> list[int]:
    """In the switch: all cables and the nodes' namespaces, which are returned."""

    def of_node(node: int) -> int:
        def furnish(room: int) -> int:
            _ip(_node_commands(plan, node, nodes, _path(switch)))
            return room

        return _in_new_namespace(held, furnish)

    rooms = [of_node(node) for node in range(nodes)]
    host = f"/proc/{os.getpid()}/ns/net"
    commands = [f"link add host type veth peer name {plan.cable} netns {host}"]
    for bridge in ("control", "data"):
        commands += [f"link add {bridge} type bridge stp_state 0 forward_delay 0", f"link set {bridge} up"]
        commands += [f"link set {bridge}-{node} master {bridge} up" for node in range(nodes)]
    _ip([*commands, "link set host master control up"])
    return rooms


def _node_commands(plan: _Plan, node: int, nodes: int, switch: str) -> list[str]:
    """In a node's namespace: two cables to the switch, and where everybody is on the data network."""
    others = (plan.data(other) for other in range(nodes) if other != node)
    return [
        "link set lo up",
        f"link add control type veth peer name control-{node} netns {switch}",
        f"link add data address {_hardware(plan.data(node))} type veth peer name data-{node} netns {switch}",
        f"address add {plan.control(node)}/20 dev control",
        f"address add {plan.data(node)}/20 dev data",
        "link set control up",
        "link set data gso_max_segs 1 up",
        *(f"neighbour add {other} lladdr {_hardware(other)} dev data nud permanent" for other in others),
    ]


def _hardware(address: IPv4Address) -> str:
    return f"02:00:{address.packed.hex(':')}"


def _in_new_namespace(held: ExitStack, work: Callable[[int], _T]) -> _T:
    """Work in a namespace made for it, which it is told as an open file. It stays as long as `held`.

    The kernel moves a thread, not a process, to another namespace: the rest of us stays where it is. What the thread
    starts is in its namespace, too.
    """

    def there() -> _T:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(_CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        descriptor = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        held.callback(os.close, descriptor)
        _no_ipv6("all")
        _no_ipv6("default")
        return work(descriptor)

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(there).result()


def _path(descriptor: int) -> str:
    return f"/proc/{os.getpid()}/fd/{descriptor}"


def _no_ipv6(interface: str) -> None:
    """Its neighbour discovery would be traffic of nobody's."""
    with suppress(FileNotFoundError):  # a kernel without it
        Path(f"/proc/sys/net/ipv6/conf/{interface}/disable_ipv6").write_text("1")


@contextmanager
def _free_block() -> Iterator[IPv4Network]:
    """Addresses that lead nowhere from here, and are claimed by no other run that is being built.

    The claim is a socket without a file: the kernel knows it by its name until this process lets go of it or ends.
    """
    routes, interfaces = _routes(), {name for _, name in socket.if_nameindex()}
    for block in _PRIVATE:
        plan = _Plan(block)
        if plan.cable in interfaces or any(block.overlaps(route) for route in routes):
            continue
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as claim:
            try:
                claim.bind(f"\0{plan.cable}")
            except OSError:
                continue
            yield block
            return
    raise NoNamespaces("every private network has a route on this machine: remove one, or use --backend local")


def _routes() -> list[IPv4Network]:
    said = subprocess.run(
        ("ip", "-j", "-4", "route", "show", "table", "all"), capture_output=True, check=True, text=True, timeout=_IP_S
    )
    found = [IPv4Network(route["dst"]) for route in json.loads(said.stdout) if route["dst"] != "default"]
    return [route for route in found if route.prefixlen >= _SHORTEST_PREFIX]


def _ip(commands: list[str]) -> None:
    """All of them, by one process."""
    done = subprocess.run(
        ("ip", "-batch", "-"),
        input="\n".join(commands),
        capture_output=True,
        check=False,
        text=True,
        timeout=_IP_S,
        start_new_session=True,  # Ctrl-C reaches only us
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise NoNamespaces(f"the network of namespaces cannot be built, `ip` says: {said[0]}")
