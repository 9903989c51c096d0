"""Makes the kernel hold what a node wants, and reads back what it then holds. Blocks for some milliseconds."""

import json
import re
import subprocess

from node.shaping.desired import Desired
from node.shaping.kernel import Kernel
from node.shaping.nft_text import TABLE
from node.shaping.read_back import Applied, PrintedTexts, differences, held
from node.shaping.render import Script, baseline, changes, tree
from pame.errors import PameError

_PATIENCE_S = 10.0
_MOST_SEGMENTS = 65535
_FAILED_LINE = re.compile(r"^Command failed -:(\d+)|^/dev/stdin:(\d+):", re.MULTILINE)


class ShapingRefused(PameError):
    """The kernel does not take what a link needs, or holds something else."""


def apply(desired: Desired, kernel: Kernel, before: Desired | None = None) -> Applied:
    """Shape the links, in this network namespace; with `before`, the state that is in force, only what differs."""
    _run(desired.interface, changes(before, desired, kernel) if before else tree(desired, kernel))
    applied = read_back(desired, kernel)
    apart = differences(applied)
    if apart:
        raise ShapingRefused(f"the kernel does not shape {desired.interface} as asked: {'; '.join(apart)}")
    return applied


def read_back(desired: Desired, kernel: Kernel) -> Applied:
    """What the kernel holds of these links now."""
    name = desired.interface
    printed = PrintedTexts(
        qdiscs=_ask(name, "tc", "-j", "qdisc", "show", "dev", name) if kernel.shapes else "",
        classes=_ask(name, "tc", "class", "show", "dev", name) if kernel.shapes else "",
        table=_table(name) if kernel.filters else "",
        link=_ask(name, "ip", "-j", "-d", "link", "show", "dev", name) if kernel.net_admin else "",
    )
    return held(desired, kernel, printed)


def clear(interface: str, kernel: Kernel, single_packets: bool = False) -> None:
    """Back to an unshaped interface, whatever it holds; `single_packets`: its segments stay single, as they were."""
    _run(interface, baseline(interface, kernel))
    if single_packets or not kernel.net_admin:
        return
    link = json.loads(_ask(interface, "ip", "-j", "-d", "link", "show", "dev", interface))[0]
    if link.get("gso_max_segs") == 1:
        most = min(_MOST_SEGMENTS, link.get("tso_max_segs", _MOST_SEGMENTS))
        _run(interface, Script(ip=f"link set dev {interface} gso_max_segs {most}\n"))


def interface_to(*addresses: str) -> str:
    """The interface on the way to these addresses."""
    text = "".join(f"route get {address}\n" for address in addresses)
    printed = _ask("the data network", "ip", "-j", "-batch", "-", text=text)
    names = {route["dev"] for line in printed.splitlines() if line.strip() for route in json.loads(line)}
    if len(names) != 1:
        raise ShapingRefused(
            f"the links cannot be shaped: neighbours are reached through {' and '.join(sorted(names)) or 'nothing'}; "
            "put all nodes on one data network"
        )
    return str(names.pop())


def _run(interface: str, script: Script) -> None:
    for program, arguments, text in (
        ("ip", ("-batch", "-"), script.ip),
        ("nft", ("-f", "-"), script.nft),
        ("tc", ("-batch", "-"), script.tc),
    ):
        if text:
            _ask(interface, program, *arguments, text=text)


def _table(interface: str) -> str:
    """There may be none: then nothing is listed, and that is no error."""
    tables = _ask(interface, "nft", "-j", "list", "tables", "ip")
    family, name = TABLE.split()
    here = any(item.get("table", {}).get("name") == name for item in json.loads(tables)["nftables"])
    return _ask(interface, "nft", "-j", "list", "table", family, name) if here else ""


def _ask(interface: str, *command: str, text: str = "") -> str:
    """What a program prints; if it fails, one line with what it was told and what it said."""
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, errors="replace", timeout=_PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ShapingRefused(f"{interface} cannot be shaped: {error}; `pame doctor` tells what is missing") from None
    if done.returncode:
        told = _failed_line(text, done.stderr) or " ".join(command)
        said = next((line for line in done.stderr.splitlines() if line.strip()), f"exit code {done.returncode}")
        raise ShapingRefused(
            f"{interface} cannot be shaped: {command[0]} answers {told!r} with {said.strip()!r}; "
            "`pame doctor` tells what is missing"
        )
    return done.stdout


def _failed_line(text: str, errors: str) -> str:
    found = _FAILED_LINE.search(errors)
    lines = text.splitlines()
    number = int(found[1] or found[2]) if found else 0
    return lines[number - 1] if 0 < number <= len(lines) else ""
