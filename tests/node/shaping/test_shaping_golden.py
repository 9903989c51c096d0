"""The rendered text, whole, as a person can read it: golden/*.txt."""

from math import inf
from pathlib import Path

import pytest

from node.shaping import Kernel, Script, tree
from node.shaping.desired import Desired, Shaped
from node.shaping.render import baseline, changes
from pame.links import LinkSpec
from tests.node.shaping.builders import NOTHING, WITH_NETEM, WITH_OLD_NETEM, WITHOUT_NETEM

GOLDEN = Path(__file__).parent / "golden"

WAN = LinkSpec(delay_s=0.05, jitter_s=0.005, rate_bps=10e6, distribution="normal", loss=0.01)
LAN = LinkSpec(delay_s=0.0005, rate_bps=1e9)
PLAIN = LinkSpec()
BEFORE = Desired(
    "eth1", (Shaped(0, "10.9.0.2", WAN), Shaped(5, "10.9.0.7", LAN), Shaped(127, "10.9.0.129", PLAIN)), 7, 3
)
WORSE = LinkSpec(delay_s=0.2, jitter_s=0.02, rate_bps=1e6, loss=0.05)
AFTER = Desired(
    "eth1", (Shaped(0, "10.9.0.2", WORSE), Shaped(5, "10.9.0.8", LAN, cut=True), Shaped(9, "10.9.0.11", LAN)), 7, 3
)
FILTERED = Desired(
    "eth1",
    (
        Shaped(0, "10.9.0.2", LinkSpec(rate_bps=10e6, loss=0.01), loss_in=0.2),
        Shaped(5, "10.9.0.7", PLAIN, cut=True, cut_in=True),
        Shaped(6, "10.9.0.8", PLAIN, loss_in=1.0),
    ),
    7,
)
HEALED = Desired(
    "eth1", (Shaped(0, "10.9.0.2", LinkSpec(rate_bps=10e6, loss=0.01), loss_in=0.3), Shaped(5, "10.9.0.7", PLAIN)), 7
)

CASES: dict[str, Script] = {
    "netem": tree(BEFORE, WITH_NETEM),
    "netem_changes": changes(BEFORE, AFTER, WITH_NETEM),
    "netem_without_seed": tree(BEFORE, WITH_OLD_NETEM),
    "no_netem": tree(FILTERED, WITHOUT_NETEM),
    "no_netem_changes": changes(FILTERED, HEALED, WITHOUT_NETEM),
    "baseline": baseline("eth1", WITHOUT_NETEM),
}


def shown(script: Script) -> str:
    return f"# tc -batch -\n{script.tc}\n# nft -f -\n{script.nft}\n# ip -batch -\n{script.ip}"


@pytest.mark.parametrize("name", CASES)
def test_the_text_is_the_golden_text(name: str) -> None:
    assert shown(CASES[name]) == (GOLDEN / f"{name}.txt").read_text()


@pytest.mark.parametrize("kernel", [WITH_NETEM, WITH_OLD_NETEM, WITHOUT_NETEM, NOTHING])
@pytest.mark.parametrize("desired", [BEFORE, AFTER, FILTERED])
def test_no_change_is_no_text(desired: Desired, kernel: Kernel) -> None:
    assert changes(desired, desired, kernel) == Script()


def test_without_rights_there_is_no_text() -> None:
    assert tree(FILTERED, NOTHING) == changes(BEFORE, AFTER, NOTHING) == baseline("eth1", NOTHING) == Script()


def test_128_neighbours_have_numbers_of_their_own_and_none_is_the_default() -> None:
    links = tuple(Shaped(number, f"10.9.1.{number}", LAN) for number in range(128))
    lines = tree(Desired("eth1", links, 0), WITH_NETEM).tc.splitlines()
    classes = [line.split("classid 1:")[1].split()[0] for line in lines if line.startswith("class add")]
    assert classes == ["ffff", *(f"{16 + number:x}" for number in range(128))]
    leaves = [line.split("handle ")[1].split()[0] for line in lines if line.startswith("qdisc add")]
    assert len(set(leaves)) == 129
    assert "1:" not in leaves


@pytest.mark.parametrize(
    ("spec", "least"),
    [
        (LinkSpec(), 1000),
        (LinkSpec(delay_s=0.05, rate_bps=1e6), 1000),  # 50 kbit in flight: 5 packets
        (LinkSpec(delay_s=0.3, rate_bps=1e9), 25_000),  # 300 Mbit in flight: 24 769 packets of 1514 bytes
        (LinkSpec(delay_s=0.1, jitter_s=0.1, rate_bps=inf), 160_000),
    ],
)
def test_the_queue_holds_what_is_in_flight(spec: LinkSpec, least: int) -> None:
    text = tree(Desired("eth1", (Shaped(1, "10.9.0.2", spec),), 0), WITH_NETEM).tc
    assert int(text.split("netem limit ")[1].split()[0]) >= least


def test_every_link_has_a_random_stream_of_its_own_and_keeps_it() -> None:
    def seeds(node: int, spec: LinkSpec) -> list[str]:
        links = (Shaped(1, "10.9.0.2", spec), Shaped(2, "10.9.0.3", spec))
        return [
            line.split()[-1]
            for line in tree(Desired("eth1", links, 7, node), WITH_NETEM).tc.splitlines()
            if "netem" in line
        ]

    assert seeds(0, WAN) == seeds(0, WORSE)
    assert len({*seeds(0, WAN), *seeds(3, WAN)}) == 4
