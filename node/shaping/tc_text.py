"""The queues of a node's data interface, one class per neighbour, as text for `tc -batch`.

    1: htb default ffff
    ├── 1:10+j  htb rate=ceil=<link rate>   filter: ip dst <neighbour j>          (numbers are hexadecimal)
    │     └── 10+j: netem limit delay jitter loss seed  (kernel has netem)   |   pfifo limit   (it has not)
    └── 1:ffff  htb (unshaped): ARP, DNS, control
          └── 2: pfifo

Only IPv4 is filtered: delayed ARP breaks everything. The rate of an unlimited link is one that no machine reaches.
"""

from collections.abc import Iterator
from math import ceil

from node.shaping.desired import Desired, Shaped
from node.shaping.kernel import HTB, NETEM, Kernel, mechanisms
from pame.randomness import Key, Purpose, words

UNLIMITED_BPS = 100_000_000_000

_FIRST_MINOR = 0x10
_PACKET = 1514
_LEAST_LIMIT, _MOST_LIMIT = 1000, 2**31 - 1
_UNSHAPED_LIMIT = 10_000
_LIMIT_SLACK = 2
_FAST_BPS = 10_000_000_000
"""What an unlimited link can carry, for the length of its queue."""
_LEAST_BURST, _MOST_BURST = 2 * _PACKET, 1_000_000
_BURST_S = 0.001
_MOST_QUANTUM = 60_000
_LEAST_DELAY_S = 1e-6
"""`tc` takes a normal distribution only with a delay, and shows jitter only beside one."""


def tree(desired: Desired, kernel: Kernel) -> list[str]:
    """The whole tree, in place of whatever was there."""
    if not kernel.shapes:
        return []
    dev = f"dev {desired.interface}"
    lines = [
        f"qdisc replace {dev} root pfifo",
        f"qdisc replace {dev} root handle 1: htb default ffff",
        f"class add {dev} parent 1: classid 1:ffff {_htb(UNLIMITED_BPS)}",
        f"qdisc add {dev} parent 1:ffff handle 2: pfifo limit {_UNSHAPED_LIMIT}",
    ]
    for link in desired.links:
        lines += _new_link(desired, link, kernel)
    return lines


def changes(old: Desired, new: Desired, kernel: Kernel) -> list[str]:
    """What the links concerned need; the others keep their queues and counters."""
    if not kernel.shapes:
        return []
    before, after = ({link.neighbour: link for link in state.links} for state in (old, new))
    dev = f"dev {new.interface}"
    lines = []
    for neighbour in sorted(before.keys() - after.keys()):
        lines += [
            f"filter del {dev} {_filter(before[neighbour])}",
            f"class del {dev} parent 1: classid 1:{minor(neighbour)}",
        ]
    for neighbour, link in after.items():
        if neighbour in before:
            lines += _changed_link(old, before[neighbour], new, link, kernel)
        else:
            lines += _new_link(new, link, kernel)
    return lines


def baseline(interface: str, kernel: Kernel) -> list[str]:
    """No tree. (There may be none to delete: replacing it first makes sure that there is.)"""
    if not kernel.shapes:
        return []
    return [f"qdisc replace dev {interface} root pfifo", f"qdisc del dev {interface} root"]


def minor(neighbour: int) -> str:
    """The number of a neighbour's class, leaf and filter, hexadecimal as `tc` has it."""
    return f"{_FIRST_MINOR + neighbour:x}"


PRINTED_BY_NETEM = {"delay": ("delay", "delay"), "jitter": ("delay", "jitter"), "loss": ("loss-random", "loss")}
"""Where `tc -j` shows what the text of `_leaf` asked for: the group of options, and the option."""


def class_rate(link: Shaped, kernel: Kernel) -> int:
    """The rate of a neighbour's class, in bits per second."""
    if mechanisms(link.spec, kernel).rate != HTB:
        return UNLIMITED_BPS
    return round(min(link.spec.rate_bps, UNLIMITED_BPS))


def _new_link(desired: Desired, link: Shaped, kernel: Kernel) -> Iterator[str]:
    dev, number = f"dev {desired.interface}", minor(link.neighbour)
    yield f"class add {dev} parent 1: classid 1:{number} {_htb(class_rate(link, kernel))}"
    yield f"qdisc add {dev} parent 1:{number} handle {number}: {_leaf(desired, link, kernel)}"
    yield f"filter add {dev} {_filter(link)} match ip dst {link.address}/32 flowid 1:{number}"


def _changed_link(old: Desired, before: Shaped, new: Desired, link: Shaped, kernel: Kernel) -> Iterator[str]:
    dev, number = f"dev {new.interface}", minor(link.neighbour)
    if class_rate(before, kernel) != class_rate(link, kernel):
        yield f"class change {dev} parent 1: classid 1:{number} {_htb(class_rate(link, kernel))}"
    was, becomes = _leaf(old, before, kernel), _leaf(new, link, kernel)
    if was != becomes:
        place = f"{dev} parent 1:{number} handle {number}:"
        if "distribution" in was and "distribution" not in becomes:
            yield f"qdisc del {place}"  # a change would keep the old distribution
            yield f"qdisc add {place} {becomes}"
        else:
            yield f"qdisc change {place} {becomes}"
    if before.address != link.address:  # u32 cannot change what it matches
        yield f"filter del {dev} {_filter(before)}"
        yield f"filter add {dev} {_filter(link)} match ip dst {link.address}/32 flowid 1:{number}"


def _filter(link: Shaped) -> str:
    return f"parent 1: protocol ip prio 1 handle 800::{minor(link.neighbour)} u32"


def _htb(rate_bps: int) -> str:
    burst = int(min(max(_LEAST_BURST, rate_bps / 8 * _BURST_S), _MOST_BURST))
    quantum = min(burst, _MOST_QUANTUM)
    return f"htb rate {rate_bps}bit ceil {rate_bps}bit burst {burst}b cburst {burst}b quantum {quantum}"


def _leaf(desired: Desired, link: Shaped, kernel: Kernel) -> str:
    limit = _limit(link, kernel)
    if not kernel.netem:
        return f"pfifo limit {limit}"
    spec, how, parts = link.spec, mechanisms(link.spec, kernel), [f"netem limit {limit}"]
    if NETEM in (how.delay, how.jitter):
        parts.append(f"delay {_time(spec.delay_s)}")
    if how.jitter == NETEM:
        parts.append(_time(spec.jitter_s) + (" distribution normal" if spec.distribution == "normal" else ""))
    if link.cut or spec.loss > 0:
        parts.append(f"loss {_plain(100.0 if link.cut else 100 * spec.loss, 7)}%")
    if kernel.netem_seed:
        key = Key(desired.seed, Purpose.LINK_JITTER, node=desired.node, peer=link.neighbour)
        parts.append(f"seed {int(words(key, 1)[0])}")
    return " ".join(parts)


def _limit(link: Shaped, kernel: Kernel) -> int:
    """Twice the packets that are on their way when the link is full: they wait in this queue."""
    rate = min(class_rate(link, kernel), _FAST_BPS)
    in_flight = rate * (link.spec.delay_s + link.spec.jitter_s) / (8 * _PACKET)
    return min(max(_LEAST_LIMIT, ceil(_LIMIT_SLACK * in_flight)), _MOST_LIMIT)


def _time(seconds: float) -> str:
    return f"{_plain(1e3 * max(seconds, _LEAST_DELAY_S), 6)}ms"


def _plain(value: float, digits: int) -> str:
    """Without exponent and idle zeros; what is not nothing never becomes it."""
    return f"{max(value, 10.0**-digits):.{digits}f}".rstrip("0").rstrip(".")
