"""In the guest: four hosts on a bridge, every link shaped by a node's own code; prints what was measured of each.

All twelve links have a delay of their own; then one loses packets, and one has a rate.
"""

import json
from dataclasses import replace

from node.shaping import Kernel, probe
from node.shaping.apply import apply
from node.shaping.desired import Desired, Shaped
from pame.links import LinkSpec
from tests.uml.guest_harness import HEADERS, INTERFACE, Host, Journeys, hosts_on_a_bridge, inside, journeys

HOSTS = 4
PROBES = 20
LOSS, LOSSY_LINK, LOSSY_PACKETS = 0.1, (0, 3), 2000
RATE_BPS, SLOW_LINK, SLOW_PACKETS, SLOW_SIZE = 10e6, (2, 1), 400, 1400
WINDOW = 80


def delay_s(sender: int, receiver: int) -> float:
    """Far enough apart to tell one link from another."""
    return 0.010 * (1 + HOSTS * sender + receiver)


def main() -> None:
    hosts = hosts_on_a_bridge(HOSTS)
    kernel = probe()
    for host in hosts:
        _shape(host, hosts, kernel)
    links = [(sender, receiver) for sender in hosts for receiver in hosts if sender is not receiver]
    delays = journeys(links, PROBES, pause_s=0.01)
    lossy, slow = ((hosts[sender], hosts[receiver]) for sender, receiver in (LOSSY_LINK, SLOW_LINK))
    arrived = journeys([lossy], LOSSY_PACKETS)[LOSSY_LINK]
    queued = journeys([slow], SLOW_PACKETS, SLOW_SIZE)[SLOW_LINK]
    print(
        json.dumps(
            {
                "delays": [[*link, _least_delay_s(found)] for link, found in delays.items()],
                "arrived": len(arrived),
                "rate_bps": _rate_bps(queued),
            }
        )
    )


def _shape(host: Host, hosts: list[Host], kernel: Kernel) -> None:
    links = [
        Shaped(other.number, other.address, _spec(host.number, other.number)) for other in hosts if other is not host
    ]
    with inside(host.namespace):
        apply(Desired(INTERFACE, tuple(links), seed=1, node=host.number), kernel)


def _spec(sender: int, receiver: int) -> LinkSpec:
    spec = LinkSpec(delay_s=delay_s(sender, receiver))
    if (sender, receiver) == LOSSY_LINK:
        return replace(spec, loss=LOSS)
    if (sender, receiver) == SLOW_LINK:
        return replace(spec, rate_bps=RATE_BPS)
    return spec


def _least_delay_s(found: Journeys) -> float:
    return min(arrived - sent for sent, arrived in found)


def _rate_bps(found: Journeys) -> float:
    """The best stretch: a machine that stands still for a moment makes a link slower, never faster."""
    times = [arrived for _, arrived in found]
    shortest = min(times[end] - times[end - WINDOW] for end in range(WINDOW, len(times)))
    return WINDOW * (SLOW_SIZE + HEADERS) * 8 / shortest


if __name__ == "__main__":
    main()
