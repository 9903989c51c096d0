"""A node's kernel follows the experiment and its faults: three nodes in namespaces of their own, htb and nft for real.

Times of the run are given, never waited for.
"""

import asyncio
import re
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from math import inf, isinf
from threading import Event as Signal
from typing import Any

import pytest

from contract.realised import Realised
from node.shaping import Kernel, Shaper, ShapingRefused, wanted
from node.shaping.apply import interface_to, read_back
from node.shaping.read_back import differences
from pame.fault_effects import CutEffect, DegradeEffect, DropEffect, Effect, FaultEvent, Window
from pame.links import LinkSpec
from pame.problems import LinearSpec
from pame.resolved_run import ResolvedRun
from tests.node.shaping.builders import NOTHING, WITH_NETEM, WITHOUT_NETEM
from tests.node.shaping.harness import WAIT_S, Place, everything, namespace
from tests.pame.builders import small_run

TEN_TO_TWENTY = Window(10.0, 20.0)
WAN = LinkSpec(delay_s=0.05, jitter_s=0.005, rate_bps=8e6)
PEERS = {node: f"10.9.0.{node + 1}:7000" for node in range(3)}
HOSTS = {1: "10.9.0.2", 2: "10.9.0.3"}

real = pytest.mark.requires("root")
pytestmark = pytest.mark.timeout(120)


def setting(
    link: LinkSpec, *events: tuple[Effect, Window], links: dict[tuple[int, int], LinkSpec] | None = None
) -> ResolvedRun:
    plan = tuple(FaultEvent(number, "a test", effect, window) for number, (effect, window) in enumerate(events))
    return small_run(LinearSpec(n=4, samples=4, test_samples=4), link=link, links=links or {}, plan=plan)


def both(one: int, other: int) -> tuple[tuple[int, int], ...]:
    return (one, other), (other, one)


def shaper(made: ResolvedRun, index: int = 0, kernel: Kernel = WITHOUT_NETEM) -> Shaper:
    return Shaper(made, index, {node: address for node, address in PEERS.items() if node != index}, kernel)


@pytest.fixture
def rooms() -> Iterator[list[Place]]:
    """10.9.0.1 to 10.9.0.3, joined by a bridge."""
    with ExitStack() as held:
        hub = Place(held.enter_context(namespace()), "hub")
        hub.run("ip", "link", "add", "hub", "type", "bridge", "stp_state", "0", "forward_delay", "0")
        hub.run("ip", "link", "set", "hub", "up")
        made = []
        for node in range(3):
            place = Place(held.enter_context(namespace()), f"data{node}")
            hub.run(
                "ip", "link", "add", f"port{node}", "type", "veth", "peer", "name", place.interface, "netns",
                str(place.holder),
            )  # fmt: skip
            place.open(node + 1)
            hub.run("ip", "link", "set", f"port{node}", "master", "hub", "up")
            made.append(place)
        yield made


def hold(place: Place, who: Shaper, seconds: float) -> None:
    place.do(lambda: asyncio.run(who.apply(seconds)))


def let_go(place: Place, who: Shaper) -> None:
    place.do(lambda: asyncio.run(who.clear()))


def rates(place: Place) -> dict[int, str]:
    """By neighbour, of those that have one."""
    printed = place.run("tc", "class", "show", "dev", place.interface).stdout
    found = re.findall(r"class htb 1:([0-9a-f]+) .*?\brate (\S+)", printed)
    return {int(minor, 16) - 0x10: rate for minor, rate in found if minor != "ffff" and rate != "100Gbit"}


def gets_through(rooms: list[Place], sender: int, receiver: int) -> bool:
    """A datagram; one that is dropped on the way is not waited for long."""
    host, kind = f"10.9.0.{receiver + 1}", socket.SOCK_DGRAM
    with rooms[receiver].receiver(host, kind) as far, rooms[sender].sender(kind) as post:
        for patience in (0.2, WAIT_S if _is_whole(rooms[receiver], sender) else 0.2):
            far.settimeout(patience)
            post.sendto(b"x", far.getsockname())
            try:
                return far.recv(16) == b"x"
            except TimeoutError:
                continue
    return False


def _is_whole(place: Place, sender: int) -> bool:
    """Only how long to wait hangs on it."""
    return f"10.9.0.{sender + 1}" not in place.run("nft", "list", "ruleset").stdout


@real
def test_the_interface_is_the_one_on_the_way_to_all_neighbours(rooms: list[Place]) -> None:
    place = rooms[1]
    assert place.do(lambda: interface_to("10.9.0.1", "10.9.0.3")) == "data1"
    with pytest.raises(ShapingRefused, match="through data1 and lo; put all nodes on one data network"):
        place.do(lambda: interface_to("10.9.0.1", "127.0.0.1"))
    with pytest.raises(ShapingRefused, match=r"'route get 192\.0\.2\.1' with 'RTNETLINK answers: Network is unre"):
        place.do(lambda: interface_to("192.0.2.1"))


@real
def test_the_kernel_takes_the_rate_and_leaves_the_delay(rooms: list[Place]) -> None:
    who = shaper(setting(WAN, links={(0, 2): LinkSpec(0.001)}))
    assert who.residual(1, WAN) == WAN, "nothing is held yet"
    hold(rooms[0], who, 0.0)
    assert rates(rooms[0]) == {1: "8Mbit"}
    assert who.residual(1, WAN) == replace(WAN, rate_bps=inf)
    assert who.residual(2, LinkSpec(0.001)) == LinkSpec(0.001)
    assert who.residual(1, replace(WAN, rate_bps=100.0)).rate_bps == 100.0, "too slow for htb"
    assert who.table() == [
        Realised(0, 1, "delay", 0.05, "in-process", None),
        Realised(0, 1, "jitter", 0.005, "in-process", None),
        Realised(0, 1, "rate", 8e6, "htb", 8e6),
        Realised(0, 2, "delay", 0.001, "in-process", None),
    ]
    assert who.next_change(0.0) == inf


@real
def test_a_cut_begins_and_ends_on_its_link_alone(rooms: list[Place]) -> None:
    made = setting(WAN, (CutEffect(both(0, 1)), TEN_TO_TWENTY))
    nodes = [shaper(made, node) for node in range(3)]
    assert [node.next_change(0.0) for node in nodes] == [10.0, 10.0, inf]
    assert [nodes[0].next_change(moment) for moment in (9.9, 10.0, 15.0, 20.0)] == [10.0, 20.0, 20.0, inf]
    reached = {}
    for moment in (0.0, 10.0, 20.0):
        for place, node in zip(rooms, nodes, strict=True):
            hold(place, node, moment)
        reached[moment] = [gets_through(rooms, *link) for link in (*both(0, 1), *both(0, 2), *both(1, 2))]
        assert nodes[0].holds_cut(1)
        cuts = [record for record in nodes[0].table() if record.property == "cut"]
        if moment == 10.0:
            assert cuts == [Realised(0, 1, "cut", 1.0, "nft", 1.0), Realised(1, 0, "cut", 1.0, "nft", 1.0)]
        else:
            assert cuts == []
    whole = [True] * 6
    assert reached == {0.0: whole, 10.0: [False, False, True, True, True, True], 20.0: whole}


@real
def test_only_the_link_concerned_changes(rooms: list[Place]) -> None:
    """A leaf that were made anew would count from nothing."""
    made = setting(WAN, (DegradeEffect(((0, 1),), rate_factor=0.25, delay_s=1.0), TEN_TO_TWENTY))
    who = shaper(made)
    hold(rooms[0], who, 0.0)
    assert gets_through(rooms, 0, 2)
    before = rooms[0].packets()
    assert before[2] > 0
    for moment, slow in ((10.0, "2Mbit"), (20.0, "8Mbit")):
        hold(rooms[0], who, moment)
        assert rates(rooms[0]) == {1: slow, 2: "8Mbit"}
        assert rooms[0].packets() == before
    assert made.conditions.link_at(0, 1, 15.0).delay_s == pytest.approx(1.05)
    assert who.residual(1, made.conditions.link_at(0, 1, 15.0)) == replace(WAN, delay_s=1.05, rate_bps=inf)


@real
def test_what_does_not_change_is_not_touched(rooms: list[Place]) -> None:
    who = shaper(setting(WAN))
    hold(rooms[0], who, 0.0)
    rooms[0].run("tc", "qdisc", "del", "dev", "data0", "root")
    hold(rooms[0], who, 5.0)
    assert rates(rooms[0]) == {}


@real
def test_what_somebody_took_away_is_noticed_and_made_anew(rooms: list[Place]) -> None:
    place, made = rooms[0], setting(WAN, (DegradeEffect(((0, 1),), rate_factor=0.5), TEN_TO_TWENTY))
    who = shaper(made)
    hold(place, who, 0.0)
    place.run("tc", "qdisc", "del", "dev", "data0", "root")
    desired = wanted(made, 0, {1: "10.9.0.2"}, "data0", WITHOUT_NETEM)
    apart = differences(place.do(lambda: read_back(desired, WITHOUT_NETEM)))
    assert apart == ["rate of the link with node 1: asked 8e+06, the kernel has 0"]
    with pytest.raises(ShapingRefused, match="tc answers 'class change dev data0"):
        hold(place, who, 10.0)
    assert who.residual(1, WAN) == WAN, "nobody knows what the kernel holds"
    hold(place, who, 11.0)
    assert rates(place) == {1: "4Mbit", 2: "8Mbit"}


@real
def test_loss_is_held_at_the_receiver_for_as_long_as_it_lasts(rooms: list[Place]) -> None:
    made = setting(LinkSpec(), (DegradeEffect(((1, 0),), loss=0.25), TEN_TO_TWENTY), links={(2, 0): LinkSpec(loss=0.5)})
    receiver, sender = shaper(made, 0), shaper(made, 1)
    for place, node in zip(rooms, (receiver, sender), strict=False):
        hold(place, node, 10.0)
    assert receiver.table() == [Realised(1, 0, "loss", 0.25, "nft", 0.25), Realised(2, 0, "loss", 0.5, "nft", 0.5)]
    assert sender.table() == [Realised(1, 0, "loss", 0.25, "nft", None)]
    assert sender.residual(0, LinkSpec(loss=0.25)) == LinkSpec()
    assert "gso_max_segs 1 " in rooms[1].run("ip", "-d", "link", "show", "dev", "data1").stdout
    assert "gso_max_segs 1 " not in rooms[0].run("ip", "-d", "link", "show", "dev", "data0").stdout
    hold(rooms[0], receiver, 20.0)
    assert receiver.table() == [Realised(2, 0, "loss", 0.5, "nft", 0.5)]


@real
@pytest.mark.parametrize("single", [False, True])
def test_clear_leads_back_to_where_it_began(rooms: list[Place], single: bool) -> None:
    """Also where segments were single before: that is the backend's, not ours."""
    place = rooms[0]
    if single:
        place.run("ip", "link", "set", "dev", "data0", "gso_max_segs", "1")
    before = everything(place)
    who = shaper(setting(replace(WAN, loss=0.1), (CutEffect(both(0, 1)), TEN_TO_TWENTY)))
    let_go(place, who)
    assert everything(place) == before
    for _ in range(2):
        hold(place, who, 15.0)
        assert everything(place) != before
        let_go(place, who)
        assert everything(place) == before
        assert who.residual(1, WAN) == WAN
        assert not who.holds_cut(1)
    properties = [record.property for record in who.table() if record.receiver == 1]
    assert properties == ["delay", "jitter", "loss", "rate", "cut"]


@real
@pytest.mark.parametrize("next_link", [LinkSpec(), LinkSpec(delay_s=0.01), replace(WAN, rate_bps=3e6)])
def test_what_a_killed_predecessor_left_does_not_outlive_the_next_start(
    rooms: list[Place], next_link: LinkSpec
) -> None:
    """The namespace of a container, or of netns, is still there when the node in it is killed."""
    place = rooms[0]
    before = everything(place)
    hold(place, shaper(setting(WAN, (CutEffect(both(0, 1)), TEN_TO_TWENTY))), 15.0)
    assert everything(place) != before
    hold(place, shaper(setting(next_link)), 0.0)
    if isinf(next_link.rate_bps):
        assert everything(place) == before
    else:
        assert rates(place) == {1: "3Mbit", 2: "3Mbit"}
    assert gets_through(rooms, 0, 1)


@real
def test_an_effect_is_known_by_its_mechanisms_and_acknowledged_by_what_the_kernel_holds(rooms: list[Place]) -> None:
    cut, slow = CutEffect(((0, 1),)), DegradeEffect(((0, 2),), delay_s=0.02, rate_factor=0.5)
    who = shaper(setting(WAN, (cut, TEN_TO_TWENTY), (slow, TEN_TO_TWENTY)))
    hold(rooms[0], who, 15.0)
    assert who.mechanism(cut) == "nft"
    assert who.mechanism(slow) == "htb+in-process"
    assert who.mechanism(DegradeEffect(((0, 2),), delay_factor=2.0)) == "in-process"
    assert who.mechanism(DegradeEffect(((0, 2),), loss=0.1)) == "nft"
    assert Realised(0, 1, "cut", 1.0, "nft", 1.0) in who.held_links(cut)
    assert who.held_links(slow) == [Realised(0, 2, "rate", 4e6, "htb", 4e6)]
    hold(rooms[0], who, 20.0)
    assert who.held_links(cut) == [Realised(0, 1, "rate", 8e6, "htb", 8e6)]


@pytest.mark.parametrize(("kernel", "can"), [(WITH_NETEM, True), (WITHOUT_NETEM, True), (NOTHING, False)])
def test_a_node_says_whether_packets_can_be_lost_at_it(kernel: Kernel, can: bool) -> None:
    assert (shaper(setting(LinkSpec()), kernel=kernel).why_lossless() == "") is can


class Overtaking(ThreadPoolExecutor):
    """What comes first is done last."""

    def __init__(self) -> None:
        super().__init__(2)
        self._done = [Signal(), Signal()]
        self._came = 0

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> "Future[Any]":
        number, self._came = self._came, self._came + 1

        def in_turn() -> Any:
            try:
                assert number or self._done[1].wait(WAIT_S)
                return work(*arguments, **named)
            finally:
                self._done[number].set()

        return super().submit(in_turn)


@real
@pytest.mark.parametrize("overtaken", [False, True])
def test_an_apply_that_is_cancelled_does_not_outlive_a_clear(rooms: list[Place], overtaken: bool) -> None:
    place = rooms[0]
    before = everything(place)

    async def cancelled(who: Shaper) -> None:
        if overtaken:
            asyncio.get_running_loop().set_default_executor(Overtaking())
        task = asyncio.create_task(who.apply(0.0))
        await asyncio.sleep(0)
        task.cancel()
        await who.clear()
        with pytest.raises(asyncio.CancelledError):
            await task

    for _ in range(3):
        place.do(lambda: asyncio.run(cancelled(shaper(setting(WAN)))))  # which also waits for threads that work on
        assert everything(place) == before


@real
def test_faults_by_hand_are_held_too_and_begin_from_nothing(rooms: list[Place]) -> None:
    place = rooms[0]
    before = everything(place)
    who = shaper(setting(LinkSpec()))
    hold(place, who, 0.0)
    assert everything(place) == before
    who.add([FaultEvent(0, "by hand", CutEffect(((0, 2),)), Window(3.0, 4.0))])
    assert who.next_change(0.0) == 3.0
    hold(place, who, 3.5)
    assert who.table() == [Realised(0, 2, "cut", 1.0, "nft", 1.0)]
    hold(place, who, 4.0)
    assert who.table() == []


@real
def test_a_neighbour_that_moves_takes_its_shaping_along(rooms: list[Place]) -> None:
    who = shaper(setting(WAN))
    hold(rooms[0], who, 0.0)
    who.move(1, "10.9.0.3:7000")
    hold(rooms[0], who, 1.0)
    filters = rooms[0].run("tc", "filter", "show", "dev", "data0").stdout
    assert re.findall(r"flowid (\S+)|match (\w{8})/f{8} at 16", filters) == [("1:11", ""), ("", "0a090003")]
    assert who.residual(2, WAN) == WAN, "nobody knows where node 2 is"
    who.move(2, "10.9.0.2:7000")
    hold(rooms[0], who, 2.0)
    assert rates(rooms[0]) == {1: "8Mbit", 2: "8Mbit"}


@real
def test_neighbours_on_this_very_machine_are_left_to_the_process(rooms: list[Place]) -> None:
    place = rooms[0]
    place.run("ip", "address", "add", "10.9.0.7/24", "dev", "data0")
    before = everything(place)
    who = Shaper(setting(WAN), 0, {1: "10.9.0.7:1"}, WITHOUT_NETEM)
    hold(place, who, 0.0)
    assert everything(place) == before
    assert who.residual(1, WAN) == WAN
    assert {record.mechanism for record in who.table()} == {"in-process"}


@pytest.mark.parametrize(
    ("link", "kernel", "peers"),
    [
        (WAN, NOTHING, PEERS),
        (LinkSpec(), WITH_NETEM, PEERS),
        (replace(WAN, rate_bps=inf), WITHOUT_NETEM, PEERS),
        (WAN, WITH_NETEM, {1: "127.0.0.1:7001", 2: "127.0.0.1:7002"}),
        (WAN, WITH_NETEM, {1: "127.0.0.1:7001"}),
        (WAN, WITH_NETEM, {1: "10.9.0.9:7001", 2: "10.9.0.9:7002"}),
        (WAN, WITH_NETEM, {}),
    ],
)
def test_where_the_kernel_has_nothing_to_do_nothing_is_done(
    link: LinkSpec, kernel: Kernel, peers: dict[int, str]
) -> None:
    """It would fail: there is no interface of this name."""
    others = {node: address for node, address in peers.items() if node}
    who = Shaper(setting(link, (DropEffect(both(0, 1), 0.5), TEN_TO_TWENTY)), 0, others, kernel, "nowhere")
    asyncio.run(who.apply(15.0))
    asyncio.run(who.clear())
    assert who.next_change(0.0) == inf
    assert who.residual(1, link) == link
    assert not who.holds_cut(1)
    in_process = [("delay", link.delay_s), ("jitter", link.jitter_s), ("rate", link.rate_bps)]
    expected = [pair for pair in in_process if pair[1] not in (0.0, inf)]
    told = [(record.property, record.asked) for record in who.table() if record.receiver == 1]
    assert told == (expected if 1 in others else [])
    assert {(record.mechanism, record.held) for record in who.table()} <= {("in-process", None)}


def test_without_rights_even_a_cut_stays_in_the_process() -> None:
    who = shaper(setting(WAN, (CutEffect(both(0, 1)), TEN_TO_TWENTY)), kernel=NOTHING)
    asyncio.run(who.apply(15.0))
    assert not who.holds_cut(1)
    assert who.next_change(0.0) == inf


def test_loss_that_nothing_can_realise_is_refused_before_the_run() -> None:
    with pytest.raises(ShapingRefused) as refused:
        shaper(setting(LinkSpec(), links={(0, 2): LinkSpec(loss=0.01)}), kernel=NOTHING)
    assert str(refused.value) == (
        "links.loss: packets from node 0 to node 2 cannot be lost on this backend (packets can be lost by the kernel "
        "only, which takes NET_ADMIN (Operation not permitted)); "
        "use netns or compose, or messages.loss for whole messages"
    )
    who = shaper(setting(LinkSpec(), links={(2, 0): LinkSpec(loss=0.01)}), kernel=NOTHING)
    lossy = FaultEvent(0, "lossy", DegradeEffect(((0, 1),), loss=0.1), TEN_TO_TWENTY)
    with pytest.raises(ShapingRefused, match="the fault lossy: packets from node 0 to node 1 cannot be lost"):
        who.add([lossy])
    who.add([replace(lossy, effect=DegradeEffect(((0, 1),), delay_s=0.1))])
    with pytest.raises(ShapingRefused, match="no network of their own"):
        Shaper(setting(LinkSpec(loss=0.1)), 0, {1: "127.0.0.1:1"}, WITHOUT_NETEM)


def test_with_netem_a_sender_does_everything_itself() -> None:
    made = setting(replace(WAN, loss=0.1), (CutEffect(both(0, 1)), TEN_TO_TWENTY))
    for kernel, expected in (
        (WITH_NETEM, [(1, True, 0.0, False), (2, False, 0.0, False)]),
        (WITHOUT_NETEM, [(1, True, 0.1, True), (2, False, 0.1, False)]),
    ):
        links = wanted(made, 0, HOSTS, "data0", kernel, 15.0).links
        assert [(link.neighbour, link.cut, link.loss_in, link.cut_in) for link in links] == expected


def test_segments_are_single_from_the_start_where_loss_comes_later() -> None:
    def single(effect: Effect) -> bool:
        return wanted(setting(LinkSpec(), (effect, TEN_TO_TWENTY)), 0, HOSTS, "data0", WITH_NETEM).single_packets

    assert single(DegradeEffect(((0, 1),), loss=0.1))
    assert not single(DegradeEffect(((0, 1),), delay_s=0.1))
    assert not single(DegradeEffect(((1, 0), (1, 2)), loss=0.1)), "those are sent by others"
