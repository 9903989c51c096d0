"""`pame links`: what every link of an experiment does, and what a node would tell its kernel."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from ipaddress import IPv4Address
from math import isinf
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from node.shaping import Kernel, Script, probe, tree, wanted
from node.shaping.shaper import is_wanted, refuse_loss
from orchestrator.cli.arguments import ExperimentFile, Overrides, Seed, load_variants
from orchestrator.cli.tables import print_table, table_of, wide_console
from orchestrator.experiment import Experiment
from orchestrator.experiment.link_table import PRESETS, Link, LinkTable, link_table
from orchestrator.experiment.resolve import make_setting, make_topology
from orchestrator.experiment.units import DURATION, RATE, show_share
from orchestrator.number_words import count, listed, ranges
from pame.errors import ParameterError
from pame.links import PROPERTIES, LinkProperty, LinkSpec
from pame.resolved_run import ResolvedRun
from pame.topology import Topology
from pame.units import BITS_PER_SECOND, SECONDS, SHARE, Unit

_MOST_NAMES = 12
_NOTHING = "–"
_SHOWN: Mapping[Unit, Callable[[float], object]] = {
    SECONDS: DURATION.show,
    BITS_PER_SECOND: RATE.show,
    SHARE: show_share,
}
_Alike = tuple[LinkSpec, str]
"""What a link does, and between which regions."""
_INTERFACE = "data"
_FIRST_ADDRESS = IPv4Address("10.200.16.2")
"""Of node 0, in the first network that the backend netns would take."""


class KernelChoice(StrEnum):
    NETEM = "netem"
    NO_NETEM = "no-netem"
    NONE = "none"
    HOST = "host"


_KERNELS = {
    KernelChoice.NETEM: Kernel(net_admin=True, tc=True, htb=True, netem=True, netem_seed=True, nft=True),
    KernelChoice.NO_NETEM: Kernel(net_admin=True, tc=True, htb=True, nft=True),
    KernelChoice.NONE: Kernel(reasons=(("net_admin", "as asked for with --kernel none"),)),
}


def links(
    file: ExperimentFile = None,
    seed: Seed = None,
    overrides: Overrides = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what nodes on the backend netns would tell ip, tc and nft.")
    ] = False,
    node: Annotated[int | None, typer.Option(help="Of this node only.", min=0)] = None,
    kernel: Annotated[
        KernelChoice, typer.Option(help="With --dry-run: a kernel with netem, without, without NET_ADMIN, or this one.")
    ] = KernelChoice.NETEM,
) -> None:
    """Show what every link does; of a sweep, the first run's."""
    variants, base = load_variants(file, overrides, seed)
    experiment = variants[0].experiment
    if node is not None and node >= experiment.nodes:
        raise ParameterError(f"--node {node}: there is no such node; give 0 to {experiment.nodes - 1}")
    if dry_run:
        setting = make_setting(experiment, base)
        known = _KERNELS[kernel] if kernel in _KERNELS else probe()
        for one in range(experiment.nodes) if node is None else [node]:
            typer.echo(_told(setting, one, known))
        return
    topology = make_topology(experiment, base)
    _show(experiment, topology, link_table(experiment.links, topology, experiment.seed), node)


def _told(setting: ResolvedRun, node: int, kernel: Kernel) -> str:
    """What a node tells its kernel when the run begins, under a line that says which node."""
    hosts = {other: _address(other) for other in map(int, setting.topology.neighbours(node))}
    refuse_loss(setting, node, hosts, kernel)
    title = f"# node {node}, {_address(node)} on {_INTERFACE}"
    if not is_wanted(setting, node, hosts, kernel):
        return f"{title}: nothing\n"
    return f"{title}\n{_sections(tree(wanted(setting, node, hosts, _INTERFACE, kernel), kernel))}"


def _sections(script: Script) -> str:
    """In the order of their use."""
    texts = (("ip -batch -", script.ip), ("nft -f -", script.nft), ("tc -batch -", script.tc))
    return "".join(f"# {command}\n{text}" for command, text in texts if text)


def _address(node: int) -> str:
    return str(_FIRST_ADDRESS + node)


def _show(experiment: Experiment, topology: Topology, table: LinkTable, node: int | None) -> None:
    console = wide_console()
    edges = [(int(i), int(j)) for i, j in topology.edges]
    chosen = sorted(link for i, j in edges for link in ((i, j), (j, i)) if node is None or node in link)
    preset = experiment.links.preset if experiment.links else None
    whose = count(experiment.nodes, "node") if node is None else f"node {node}"
    words = [f"{count(len(chosen), 'directed link')} of {whose}", *([f"preset {preset}"] if preset else [])]
    console.print(f"[bold]{escape(experiment.name)}[/]: {', '.join(words)}; values are one-way", soft_wrap=True)
    for region in dict.fromkeys(table.regions.values()):
        members = [member for member, where in table.regions.items() if where == region]
        console.print(f"[bold]{escape(region)}[/]: {ranges(members, '..')}", soft_wrap=True)
    print_table(_table(_groups(table, chosen), table.regions), console)


def _groups(table: LinkTable, chosen: Iterable[Link]) -> dict[_Alike, list[Link]]:
    """Links that do the same between the same regions, in the order of their first."""
    groups: dict[_Alike, list[Link]] = {}
    for link in chosen:
        where = "-".join(sorted(table.regions[end] for end in link)) if table.regions else ""
        groups.setdefault((table.spec(*link), where), []).append(link)
    return groups


def _table(groups: Mapping[_Alike, Sequence[Link]], regions: Mapping[int, str]) -> Table:
    headings = ("links", "which", *(["regions"] if regions else []), *(one.name for one in PROPERTIES), "preset")
    table = table_of(headings, right=("links",), wraps=("which", "regions"))
    for (spec, where), members in groups.items():
        which = "all" if len(groups) == 1 else _names(members)
        between = [escape(where)] if regions else []
        table.add_row(str(len(members)), which, *between, *_values(spec))
    return table


def _values(spec: LinkSpec) -> tuple[str, ...]:
    preset = next((name for name, values in PRESETS.items() if values == spec), _NOTHING)
    return *(_value(one, spec) for one in PROPERTIES), preset


def _value(one: LinkProperty, spec: LinkSpec) -> str:
    value = float(f"{one.of(spec):.4g}")
    if isinf(value):
        return "unlimited"
    if value == one.nothing:
        return _NOTHING
    text = str(_SHOWN[one.unit](value))
    return f"±{text}{' normal' * (spec.distribution == 'normal')}" if one.name == "jitter" else text


def _names(members: Sequence[Link]) -> str:
    """As an experiment writes pairs: 0-1 both ways, 0>1 one way."""
    there = set(members)
    names = [f"{i}-{j}" if (j, i) in there else f"{i}>{j}" for i, j in members if i < j or (j, i) not in there]
    return listed(names, _MOST_NAMES)
