"""Whatever is asked for, the real `tc` and `nft` take the text, and a change leads where a fresh start does."""

import re
from collections.abc import Iterator
from math import inf

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from node.shaping import Script, tree
from node.shaping.desired import Desired, Shaped
from node.shaping.render import baseline, changes
from pame.links import LinkSpec
from tests.node.shaping.builders import WITH_OLD_NETEM, WITHOUT_NETEM
from tests.node.shaping.harness import Place, namespace

pytestmark = [pytest.mark.requires("root"), pytest.mark.timeout(180)]
NUMBERS = r"(handle|packets|bytes) \d+"

specs = st.builds(
    LinkSpec,
    delay_s=st.one_of(st.just(0.0), st.floats(0, 1e3)),
    jitter_s=st.one_of(st.just(0.0), st.floats(0, 1e3)),
    rate_bps=st.one_of(st.just(inf), st.floats(1e-3, 1e16)),
    distribution=st.sampled_from(("uniform", "normal")),
    loss=st.one_of(st.just(0.0), st.floats(0, 1)),
)
# Often the same few, so that a change meets links that are there already.
neighbours = st.one_of(st.integers(0, 4), st.integers(0, 4079))
addresses = st.one_of(st.integers(1, 8), st.integers(1, 2**24 - 2))


@st.composite
def wanted(draw: st.DrawFn) -> Desired:
    numbers = draw(st.lists(neighbours, max_size=6, unique=True))
    hosts = draw(st.lists(addresses, min_size=len(numbers), max_size=len(numbers), unique=True))
    shares = st.one_of(st.just(0.0), st.floats(0, 1))
    links = [
        Shaped(
            number,
            f"10.{host >> 16 & 255}.{host >> 8 & 255}.{host & 255}",
            draw(specs),
            draw(st.booleans()),
            draw(shares),
            draw(st.booleans()),
        )
        for number, host in zip(numbers, hosts, strict=True)
    ]
    return Desired("west", tuple(links), draw(st.integers(0, 2**64 - 1)), single_packets=draw(st.booleans()))


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with namespace() as holder:
        place = Place(holder, "west")
        place.run("ip", "link", "add", "west", "type", "veth", "peer", "name", "east")
        place.run("ip", "link", "set", "west", "up")
        place.run("ip", "link", "set", "east", "up")
        yield place


def carry_out(place: Place, script: Script) -> None:
    for command, text in (
        (("ip", "-batch", "-"), script.ip),
        (("nft", "-c", "-f", "-"), script.nft),
        (("nft", "-f", "-"), script.nft),
        (("tc", "-batch", "-"), script.tc),
    ):
        if text:
            done = place.run(*command, text=text, check=False)
            assert done.returncode == 0, f"{command[0]}: {done.stderr}\n{text}"
            assert done.stderr == ""


def state(place: Place) -> list[str]:
    """What the kernel holds, in an order of its own, without counters and without an empty table."""
    commands = (("tc", "qdisc"), ("tc", "class"), ("tc", "filter"))
    shown = [place.run(*command, "show", "dev", "west").stdout for command in commands]
    table = place.run("nft", "--stateless", "list", "ruleset").stdout
    if "elements" in table:
        shown.append(table)
    return sorted(re.sub(NUMBERS, "", line).strip() for text in shown for line in text.splitlines())


@given(old=wanted(), new=wanted())
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_links_are_accepted_and_a_change_leads_where_a_fresh_start_does(
    place: Place, old: Desired, new: Desired
) -> None:
    carry_out(place, tree(old, WITHOUT_NETEM))
    carry_out(place, changes(old, new, WITHOUT_NETEM))
    changed = state(place)
    carry_out(place, baseline("west", WITHOUT_NETEM))
    carry_out(place, tree(new, WITHOUT_NETEM))
    assert changed == state(place)


@given(desired=wanted())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tc_understands_any_netem_text_even_where_the_kernel_has_none(place: Place, desired: Desired) -> None:
    carry_out(place, baseline("west", WITHOUT_NETEM))
    lines = [line for line in tree(desired, WITH_OLD_NETEM).tc.splitlines() if "netem" in line]
    alone = [re.sub(r"parent \S+ handle \S+", "root", line.replace("qdisc add", "qdisc replace")) for line in lines]
    done = place.run("tc", "-force", "-batch", "-", text="".join(f"{line}\n" for line in alone), check=False)
    said = {line for line in done.stderr.splitlines() if not line.startswith("Command failed")}
    assert said <= {"Error: Specified qdisc kind is unknown."}, f"{said}\n{alone}"


def test_a_node_with_128_neighbours_is_accepted(place: Place) -> None:
    spec = LinkSpec(delay_s=0.05, rate_bps=1e7)
    links = tuple(Shaped(number, f"10.9.1.{number}", spec, loss_in=0.01) for number in range(128))
    carry_out(place, tree(Desired("west", links, 0), WITHOUT_NETEM))
    classes = place.run("tc", "class", "show", "dev", "west").stdout
    assert len(re.findall(r"class htb 1:[0-9a-f]+ root leaf", classes)) == 129
