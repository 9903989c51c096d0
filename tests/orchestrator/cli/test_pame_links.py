"""`pame links`: the table as a person reads it, and the text that real programs would take."""

from pathlib import Path

import pytest

from tests.command import mistake, told
from tests.orchestrator.cli.harness import SMALL, Pame

REGIONS = """
links:
  preset: wan
  regions: {eu: 0..2, us: "3,4..5"}
  between: {eu-us: 45ms}
  nodes: {5: {rate: 1mbit}}
  pairs: {0-1: {delay: 100ms, distribution: normal}, 2>1: {loss: 1.5%}}
"""

TABLE = """\
far: 12 directed links of 6 nodes, preset wan; values are one-way
eu: 0..2
us: 3..5
links  which  regions  delay  jitter       loss  rate     preset
    2  0-1    eu-eu    0.1s   ±2ms normal  –     100mbit  –
    2  0-5    eu-us    45ms   ±2ms         –     1mbit    –
    1  1>2    eu-eu    20ms   ±2ms         –     100mbit  wan
    1  2>1    eu-eu    20ms   ±2ms         1.5%  100mbit  –
    2  2-3    eu-us    45ms   ±2ms         –     100mbit  –
    2  3-4    us-us    20ms   ±2ms         –     100mbit  wan
    2  4-5    us-us    20ms   ±2ms         –     1mbit    –
"""

NETEM = """\
# node 2, 10.200.16.4 on data
# ip -batch -
link set dev data gso_max_segs 1
# nft -f -
add table ip pame
delete table ip pame
# tc -batch -
qdisc replace dev data root pfifo
qdisc replace dev data root handle 1: htb default ffff
class add dev data parent 1: classid 1:ffff htb rate 100000000000bit ceil 100000000000bit burst 1000000b \
cburst 1000000b quantum 60000
qdisc add dev data parent 1:ffff handle 2: pfifo limit 10000
class add dev data parent 1: classid 1:11 htb rate 100000000bit ceil 100000000bit burst 12500b cburst 12500b \
quantum 12500
qdisc add dev data parent 1:11 handle 11: netem limit 1000 delay 20ms 2ms loss 1.5% seed SEED
filter add dev data parent 1: protocol ip prio 1 handle 800::11 u32 match ip dst 10.200.16.3/32 flowid 1:11
class add dev data parent 1: classid 1:13 htb rate 100000000bit ceil 100000000bit burst 12500b cburst 12500b \
quantum 12500
qdisc add dev data parent 1:13 handle 13: netem limit 1000 delay 45ms 2ms seed SEED
filter add dev data parent 1: protocol ip prio 1 handle 800::13 u32 match ip dst 10.200.16.5/32 flowid 1:13

"""

FILTERS = """\
# nft -f -
add table ip pame
delete table ip pame
add table ip pame
add set ip pame cut_out { type ipv4_addr; }
add set ip pame cut_in { type ipv4_addr; }
add map ip pame lossy { type ipv4_addr : verdict; }
add chain ip pame output { type filter hook output priority 0; policy accept; }
add chain ip pame input { type filter hook input priority 0; policy accept; }
add rule ip pame output meta l4proto tcp ip daddr @cut_out counter drop
add rule ip pame input ip saddr @cut_in counter drop
add rule ip pame input ip saddr vmap @lossy
add chain ip pame loss_2
add rule ip pame loss_2 numgen random mod 1000000 < 15000 counter drop
add element ip pame lossy { 10.200.16.4 : jump loss_2 }
"""


@pytest.fixture
def far(tmp_path: Path) -> Path:
    path = tmp_path / "far.yaml"
    path.write_text(SMALL + REGIONS)
    return path


def lines(text: str) -> list[str]:
    """Without the padding of the last column."""
    return [line.rstrip() for line in text.splitlines()]


def test_links_that_do_the_same_share_a_line(pame: Pame, far: Path) -> None:
    assert lines(told(pame("links", far))) == lines(TABLE)


def test_one_node_has_its_own_links_both_ways(pame: Pame, far: Path) -> None:
    shown = lines(pame("links", far, "--node", 2).stdout)
    assert shown[0] == "far: 4 directed links of node 2, preset wan; values are one-way"
    assert [line.split()[1] for line in shown[4:]] == ["1>2", "2>1", "2-3"]


def test_a_preset_for_all_is_one_line_and_no_section_is_nothing(pame: Pame, small: Path) -> None:
    shown = lines(pame("links", small, "--set", "links=lan").stdout)
    assert shown[0] == "small: 12 directed links of 6 nodes, preset lan; values are one-way"
    assert [line.split() for line in shown[2:]] == [["12", "all", "250us", "±50us", "–", "1gbit", "lan"]]
    shown = lines(pame("links", small).stdout)
    assert [line.split() for line in shown[2:]] == [["12", "all", "–", "–", "–", "unlimited", "–"]]


def test_draws_are_shown_link_by_link_and_many_names_are_counted(pame: Pame, small: Path) -> None:
    shown = lines(pame("links", small, "--set", "links={draw: {delay: 5ms..50ms}}").stdout)
    assert [line.split()[1] for line in shown[2:4]] == ["0>1", "0>5"]
    assert len(shown) == 2 + 12
    sets = ("--set", "nodes=40", "--set", "links={pairs: {0-1: {delay: 1s}}}")
    shown = lines(pame("links", small, *sets).stdout)
    assert shown[-1].startswith("   78  0-39, 1-2, 2-3, ")
    assert " and 27 more " in shown[-1]


def test_a_dry_run_prints_what_a_node_tells_its_kernel(pame: Pame, far: Path) -> None:
    shown = told(pame("links", far, "--dry-run", "--node", 2))
    seeds = [line.split()[-1] for line in shown.splitlines() if "netem" in line]
    text = shown
    for seed in seeds:
        assert seed.isdecimal()
        text = text.replace(f"seed {seed}", "seed SEED")
    assert text == NETEM
    assert len(set(seeds)) == 2


def test_without_netem_the_receiver_loses_the_packets_and_delays_stay_in_the_process(pame: Pame, far: Path) -> None:
    text = pame("links", far, "--dry-run", "--node", 1, "--kernel", "no-netem").stdout
    assert text.startswith(
        f"# node 1, 10.200.16.3 on data\n{FILTERS}# tc -batch -\nqdisc replace dev data root pfifo\n"
    )
    assert "netem" not in text
    assert "parent 1:10 handle 10: pfifo limit 1685\n" in text
    assert "parent 1:12 handle 12: pfifo limit 1000\n" in text


def test_a_dry_run_is_of_all_nodes_and_says_who_has_nothing_to_do(pame: Pame, small: Path) -> None:
    shown = pame("links", small, "--dry-run", "--set", "links={pairs: {0>1: {rate: 1mbit}}}").stdout
    titles = [line for line in shown.splitlines() if line.startswith("# node")]
    assert titles == ["# node 0, 10.200.16.2 on data"] + [
        f"# node {node}, 10.200.16.{node + 2} on data: nothing" for node in range(1, 6)
    ]
    assert pame("links", small, "--dry-run", "--kernel", "host").stdout.count("on data: nothing\n") == 6


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--node", "6"), "--node 6: there is no such node; give 0 to 5"),
        (("--set", "links={pairs: {0-3: {delay: 1ms}}}"), "links.pairs: 0-3 is no link of this topology"),
        (("--dry-run", "--kernel", "none"), "links.loss: packets from node 2 to node 1 cannot be lost on this backend"),
    ],
)
def test_a_mistake_is_one_line(pame: Pame, far: Path, arguments: tuple[str, ...], says: str) -> None:
    assert mistake(pame("links", far, *arguments)).startswith(f"error: {says}")
