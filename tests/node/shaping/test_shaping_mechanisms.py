"""The table of docs/architecture.md, cell by cell, and the probe on this machine's own kernel."""

import json
import subprocess
import sys
from typing import Any

import pytest

from node.shaping import Kernel, probe
from node.shaping.kernel import Mechanisms, left_to_receiver, mechanisms
from pame.links import LinkSpec
from tests.node.shaping.builders import NOTHING, WITH_NETEM, WITHOUT_NETEM
from tests.node.shaping.harness import Place, namespace

EVERYTHING = LinkSpec(delay_s=0.05, jitter_s=0.01, rate_bps=1e6, loss=0.1)
PROBE = (
    "import json; from dataclasses import asdict; from node.shaping import probe; print(json.dumps(asdict(probe())))"
)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (WITH_NETEM, Mechanisms("htb", "netem", "netem", "netem", "netem")),
        (WITHOUT_NETEM, Mechanisms("htb", "in-process", "in-process", "nft", "nft")),
        (
            NOTHING,
            Mechanisms(
                "in-process",
                "in-process",
                "in-process",
                "refused: packets can be lost by the kernel only, which takes NET_ADMIN (Operation not permitted)",
                "in-process",
            ),
        ),
    ],
)
def test_each_property_has_the_mechanism_of_the_table(kernel: Kernel, expected: Mechanisms) -> None:
    assert mechanisms(EVERYTHING, kernel) == expected


@pytest.mark.parametrize("kernel", [WITH_NETEM, WITHOUT_NETEM, NOTHING])
def test_what_is_not_asked_for_needs_no_mechanism(kernel: Kernel) -> None:
    found = mechanisms(LinkSpec(), kernel)
    assert (found.rate, found.delay, found.jitter, found.loss) == ("none",) * 4


def test_without_netem_and_nft_the_reason_names_both() -> None:
    kernel = Kernel(net_admin=True, tc=True, htb=True, reasons=(("netem", "no netem"), ("nft", "no tables")))
    assert (
        mechanisms(EVERYTHING, kernel).loss == "refused: this kernel has neither netem (no netem) nor nft (no tables)"
    )
    assert mechanisms(EVERYTHING, kernel).cut == "in-process"


def test_a_rate_of_less_than_a_packet_in_ten_seconds_is_not_for_the_kernel() -> None:
    assert mechanisms(LinkSpec(rate_bps=999), WITH_NETEM).rate == "in-process"
    assert mechanisms(LinkSpec(rate_bps=1000), WITH_NETEM).rate == "htb"


def test_a_delay_or_jitter_that_netem_cannot_hold_is_not_for_the_kernel() -> None:
    for spec in (LinkSpec(delay_s=271, jitter_s=1), LinkSpec(delay_s=1, jitter_s=2.1)):
        found = mechanisms(spec, WITH_NETEM)
        assert (found.delay, found.jitter) == ("in-process", "in-process")


def test_the_receiver_does_what_the_sender_cannot() -> None:
    assert left_to_receiver(EVERYTHING, True, WITH_NETEM) == (0.0, False)
    assert left_to_receiver(EVERYTHING, True, WITHOUT_NETEM) == (0.1, True)
    assert left_to_receiver(EVERYTHING, False, WITHOUT_NETEM) == (0.1, False)
    assert left_to_receiver(EVERYTHING, True, NOTHING) == (0.0, False)


@pytest.mark.requires("root")
def test_the_probe_agrees_with_the_kernel_and_leaves_nothing_behind() -> None:
    with namespace() as holder:  # this machine's own interfaces come and go with the containers of other tests
        place = Place(holder, "lo")
        before = place.run("ip", "-brief", "link").stdout
        found = place.do(probe)
        assert place.run("ip", "-brief", "link").stdout == before
    assert found.net_admin
    assert found.tc
    assert found.htb == _takes("htb default 1")
    assert found.netem == _takes("netem delay 1ms")
    assert all(found.reason(name) for name in ("htb", "netem", "nft") if not getattr(found, name))


@pytest.mark.requires("root")
def test_net_admin_alone_is_enough_for_the_probe() -> None:
    found = _probe_without("sys_admin")
    assert found["net_admin"]
    assert found["htb"] == _takes("htb default 1")


@pytest.mark.requires("root")
def test_without_net_admin_nothing_works_and_the_reason_is_known() -> None:
    found = _probe_without("net_admin")
    assert not any(found[name] for name in ("net_admin", "htb", "netem", "nft"))
    assert "not permitted" in dict(found["reasons"])["net_admin"]


def _probe_without(capability: str) -> dict[str, Any]:
    """In a namespace of its own, so that what the probe tries there stays there."""
    command = ("unshare", "--net", "setpriv", f"--bounding-set=-{capability}", sys.executable, "-c", PROBE)
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    return dict(json.loads(done.stdout))


def _takes(qdisc: str) -> bool:
    script = f"ip link add one type veth peer name two && tc qdisc add dev one root {qdisc}"
    return subprocess.run(("unshare", "--net", "sh", "-c", script), capture_output=True, check=False).returncode == 0
