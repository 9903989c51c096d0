"""What the programs print becomes what the kernel holds; printed/ is what they print on a kernel with netem."""

from dataclasses import replace
from math import inf
from pathlib import Path

from node.shaping.desired import Desired, Shaped
from node.shaping.read_back import PrintedTexts, differences, held
from pame.links import LinkSpec
from tests.node.shaping.builders import NOTHING, WITH_NETEM, WITHOUT_NETEM, held_as

PRINTED = Path(__file__).parent / "printed"
SPEC = LinkSpec(delay_s=0.05, jitter_s=0.005, rate_bps=10e6, distribution="normal", loss=0.01)
DESIRED = Desired(
    "west", (Shaped(0, "10.9.0.2", SPEC), Shaped(5, "10.9.0.3", SPEC, cut=True), Shaped(9, "10.9.0.4", LinkSpec())), 7
)
BY_NETEM = PrintedTexts(
    qdiscs=(PRINTED / "netem_qdiscs.json").read_text(),
    classes=(PRINTED / "netem_classes.txt").read_text(),
    link='[{"ifname": "west", "gso_max_segs": 1}]',
)


def test_netem_and_htb_are_read_back_as_they_were_asked_for() -> None:
    applied = held(DESIRED, WITH_NETEM, BY_NETEM)
    whole, cut, plain = applied.links.values()
    assert applied.single_packets
    assert held_as(whole["rate"]) == ("htb", 10e6, 10e6)
    assert held_as(whole["delay"]) == ("netem", 0.05, 0.05)
    assert held_as(whole["jitter"]) == ("netem", 0.005, 0.005)
    assert held_as(whole["loss"]) == ("netem", 0.01, 0.01)
    assert held_as(whole["cut"]) == ("none", 0.0, None)
    assert held_as(cut["cut"]) == ("netem", 1.0, 1.0)
    assert held_as(cut["loss"]) == ("netem", 0.01, None)
    assert held_as(plain["rate"]) == ("none", inf, inf)
    assert held_as(plain["delay"]) == ("none", 0.0, 0.0)
    assert differences(applied) == []


def test_a_unit_that_went_wrong_is_seen() -> None:
    wrong = BY_NETEM.classes.replace("rate 10Mbit", "rate 10Gbit")
    assert differences(held(DESIRED, WITH_NETEM, replace(BY_NETEM, classes=wrong))) == [
        "rate of the link with node 0: asked 1e+07, the kernel has 1e+10",
        "rate of the link with node 5: asked 1e+07, the kernel has 1e+10",
    ]


def test_a_cut_that_is_not_there_is_seen() -> None:
    healed = replace(DESIRED, links=tuple(replace(link, cut=not link.cut) for link in DESIRED.links))
    apart = differences(held(healed, WITH_NETEM, BY_NETEM))
    assert "cut of the link with node 0: asked 1, the kernel has 0.01" in apart
    assert "loss of the link with node 5: asked 0.01, the kernel has 1" in apart


def test_what_the_kernel_has_no_say_in_is_left_open() -> None:
    lossy = Desired("west", (Shaped(0, "10.9.0.2", SPEC, loss_in=0.5),), 7)
    link = held(lossy, NOTHING, PrintedTexts()).links[0]
    assert (link["delay"].mechanism, link["delay"].held) == ("in-process", None)
    assert link["loss"].mechanism.startswith("refused: ")
    assert link["loss_in"].mechanism.startswith("refused: ")


def test_loss_by_nft_is_held_at_the_other_end() -> None:
    link = held(Desired("west", (Shaped(0, "10.9.0.2", SPEC),), 7), WITHOUT_NETEM, PrintedTexts()).links[0]
    assert held_as(link["loss"]) == ("nft", 0.01, None)
