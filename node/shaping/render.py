"""The text that makes a kernel hold what a node wants: pure functions, so that it can be read, compared and tested.

`tree` is everything, `changes` only what touches the links concerned, `baseline` the way back. The queues of the sender
are in tc_text.py, the filters of both ends (where netem is missing) in nft_text.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from node.shaping import nft_text, tc_text
from node.shaping.desired import Desired
from node.shaping.kernel import NETEM, NFT, Kernel, mechanisms


@dataclass(frozen=True, slots=True)
class Script:
    """Text for `tc -batch -`, `nft -f -` and `ip -batch -`; empty: nothing to do."""

    tc: str = ""
    nft: str = ""
    ip: str = ""


def tree(desired: Desired, kernel: Kernel) -> Script:
    """Everything, whatever the interface held before."""
    return _script(tc_text.tree(desired, kernel), nft_text.table(desired, kernel), _offloads(desired, kernel))


def changes(old: Desired, new: Desired, kernel: Kernel) -> Script:
    """From one state to another: only what touches the links concerned; nothing if nothing changes."""
    if old.interface != new.interface:
        before, after = baseline(old.interface, kernel), tree(new, kernel)
        return Script(before.tc + after.tc, before.nft + after.nft, after.ip)
    # Segments stay single until `clear`: an open socket keeps the size that it began with anyway.
    offloads = [] if _offloads(old, kernel) else _offloads(new, kernel)
    return _script(tc_text.changes(old, new, kernel), nft_text.changes(old, new, kernel), offloads)


def baseline(interface: str, kernel: Kernel) -> Script:
    """Back to an interface that nobody has shaped, whatever it held before."""
    return _script(tc_text.baseline(interface, kernel), nft_text.baseline(kernel), [])


def _script(tc: Sequence[str], nft: Sequence[str], ip: Sequence[str]) -> Script:
    return Script(*("".join(f"{line}\n" for line in lines) for lines in (tc, nft, ip)))


def _offloads(desired: Desired, kernel: Kernel) -> list[str]:
    """A large segment is one packet to netem, and to nft on the same machine: with loss, each packet by itself."""
    lossy = any(mechanisms(link.spec, kernel).loss in (NETEM, NFT) for link in desired.links)
    if kernel.net_admin and (lossy or desired.single_packets):
        return [f"link set dev {desired.interface} gso_max_segs 1"]
    return []
