"""What this kernel can do for a link, found by trying, and hence which mechanism realises each property.

property        kernel with netem      without netem                    without NET_ADMIN
rate            htb                    htb                              in-process
delay, jitter   netem                  in-process                       in-process
packet loss     netem                  nft at the receiver, by source   refused, with the reason
cut             netem loss 100 %       nft at both ends                 in-process
"""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf

from pame.links import LinkSpec

NETEM, HTB, NFT, IN_PROCESS, NONE = "netem", "htb", "nft", "in-process", "none"
LEAST_RATE_BPS = 1000.0
"""Below this a packet takes more than ten seconds, and the kernel's burst arithmetic overflows."""
MOST_DELAY_S, MOST_JITTER_S = 270.0, 2.0
"""`tc` takes no longer delay, and netem computes jitter with 32 bits of nanoseconds."""
_PATIENCE_S = 10.0
_TRIES = ("net_admin", "htb", "netem", "netem_seed", "nft")


@dataclass(frozen=True, slots=True)
class Kernel:
    """What works here; `reasons` has a line for each thing that does not."""

    net_admin: bool = False
    """Interfaces, queues and filters can be changed."""
    tc: bool = False
    """The program is there."""
    htb: bool = False
    """With u32 filters."""
    netem: bool = False
    netem_seed: bool = False
    """A netem of the same seed loses the same packets."""
    nft: bool = False
    """The program is there, and the kernel takes sets, verdict maps and random numbers."""
    reasons: tuple[tuple[str, str], ...] = ()

    @property
    def shapes(self) -> bool:
        """It queues what goes out, link by link."""
        return self.net_admin and self.tc and self.htb

    @property
    def filters(self) -> bool:
        return self.net_admin and self.nft

    def reason(self, name: str) -> str:
        return dict(self.reasons).get(name, f"{name} was not tried")


@dataclass(frozen=True, slots=True)
class Mechanisms:
    """What realises each property of a link: netem, htb, nft, in-process, none (nothing to do), `refused: reason`."""

    rate: str
    delay: str
    jitter: str
    loss: str
    cut: str

    def of(self, name: str) -> str:
        """Of a property by its name."""
        return str(getattr(self, name))


def mechanisms(spec: LinkSpec, kernel: Kernel) -> Mechanisms:
    """The mechanism of each property of a link whose sender has this kernel."""
    netem = kernel.shapes and kernel.netem
    in_range = spec.delay_s <= MOST_DELAY_S and spec.jitter_s <= MOST_JITTER_S
    delay = NETEM if netem and in_range else IN_PROCESS
    loss = NETEM if netem else NFT if kernel.filters else f"refused: {_why_no_loss(kernel)}"
    return Mechanisms(
        rate=NONE if isinf(spec.rate_bps) else HTB if kernel.shapes and spec.rate_bps >= LEAST_RATE_BPS else IN_PROCESS,
        delay=delay if spec.delay_s > 0 else NONE,
        jitter=delay if spec.jitter_s > 0 else NONE,
        loss=loss if spec.loss > 0 else NONE,
        cut=NETEM if netem else NFT if kernel.filters else IN_PROCESS,
    )


def left_to_receiver(spec: LinkSpec, cut: bool, sender: Kernel) -> tuple[float, bool]:
    """`loss_in` and `cut_in` at the far end of a link whose sender has this kernel."""
    held = mechanisms(spec, sender)
    return (spec.loss if held.loss == NFT else 0.0), cut and held.cut == NFT


def probe() -> Kernel:
    """Try everything on a cable of our own: in a namespace that goes away, else (no SYS_ADMIN) in this one."""
    missing = [tool for tool in ("ip", "tc", "nft") if shutil.which(tool) is None]
    said: dict[str, str] = {}
    for prefix in (("unshare", "--net"), ()):
        said = _try((*prefix, "sh", "-c", _SCRIPT))
        if said.get("net_admin") == "works":
            break
    works = {name: said.get(name) == "works" for name in _TRIES}
    reasons = [(name, _reason(name, said, missing)) for name in _TRIES if not works[name]]
    if "tc" in missing:
        reasons.append(("tc", "tc is not installed"))
    return Kernel(**works, tc="tc" not in missing, reasons=tuple(reasons))


def _try(command: Sequence[str]) -> dict[str, str]:
    """What the script says of each thing: `works`, or the error."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    lines = (line.partition("\t") for line in done.stdout.splitlines())
    return {name: words for name, _, words in lines if name in _TRIES}


def _reason(name: str, said: dict[str, str], missing: Sequence[str]) -> str:
    tool = {"net_admin": "ip", "nft": "nft"}.get(name, "tc")
    if tool in missing:
        return f"{tool} is not installed"
    if name != "net_admin" and said.get("net_admin") != "works":
        return "there is no NET_ADMIN to try it with"
    return said.get(name) or "it does not answer"


def _why_no_loss(kernel: Kernel) -> str:
    if not kernel.net_admin:
        return f"packets can be lost by the kernel only, which takes NET_ADMIN ({kernel.reason('net_admin')})"
    return f"this kernel has neither netem ({kernel.reason('netem')}) nor nft ({kernel.reason('nft')})"


_SCRIPT = r"""
one=pame$$ two=emap$$
say() {
  name=$1; shift
  if words=$("$@" 2>&1); then printf '%s\tworks\n' $name
  else printf '%s\t%s\n' $name "$(printf '%s\n' "$words" | sed -n 's/^Error: //; /./{p;q}')"; fi
}
queues() {
  printf '%s\n' "qdisc add dev $one root handle 1: htb default ffff" \
    "class add dev $one parent 1: classid 1:10 htb rate 1mbit" \
    "filter add dev $one parent 1: protocol ip prio 1 handle 800::10 u32 match ip dst 192.0.2.1/32 flowid 1:10" |
    tc -batch -
}
seeded() {
  tc qdisc change dev $one parent 1:10 handle 10: netem delay 1ms seed 7 2>/dev/null
  tc qdisc show dev $one | grep -q 'seed 7' || { echo 'netem takes no seed here'; return 1; }
}
filters() {
  printf '%s\n' "add table ip $one" "add set ip $one cut { type ipv4_addr; }" \
    "add map ip $one lossy { type ipv4_addr : verdict; }" \
    "add chain ip $one tried { type filter hook input priority 0; }" \
    "add rule ip $one tried ip saddr vmap @lossy" "add rule ip $one tried ip saddr @cut drop" \
    "add rule ip $one tried ip saddr 192.0.2.1 numgen random mod 1000000 < 1 counter drop" |
    nft -f - && nft delete table ip $one
}
trap 'ip link del $one 2>/dev/null' EXIT
say net_admin ip link add $one type veth peer name $two
ip link set $one up 2>/dev/null
say htb queues
say netem tc qdisc add dev $one parent 1:10 handle 10: netem delay 1ms
say netem_seed seeded
say nft filters
"""
