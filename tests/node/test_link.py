"""Outgoing links over real gRPC: in order, bounded, opened anew, never in anybody's way."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count

import pytest

from contract.assignment import Peer
from contract.counters import OutCounters
from node.emulated_wire import AHEAD_S
from node.link import OutLink
from node.link_queue import QUEUE_MESSAGES
from pame.codec import Sizes
from pame.links import LinkSpec
from tests.harness import until
from tests.node.builders import StillConditions, message
from tests.node.harness import Receiver, link_to

PATIENCE_S = 20.0
Linked = tuple[OutLink, OutCounters]


def to(receiver: Receiver, weather: StillConditions | None = None) -> AbstractAsyncContextManager[Linked]:
    return link_to(f"127.0.0.1:{receiver.port}", weather)


def push(link: OutLink, ks: Iterable[int], size: int = 100) -> None:
    for k in ks:
        link.push(message(k, size))


@asynccontextmanager
async def two_unanswered(receiver: Receiver, size: int = 100) -> AsyncIterator[Linked]:
    """A link whose receiver acknowledges nothing until it is told: two messages are sent, and no more will be."""
    receiver.acknowledging.clear()
    async with to(receiver) as (link, account):
        push(link, range(2), size)
        await until(lambda: account.sent == 2)
        yield link, account


@pytest.fixture
def receiver(loop: asyncio.Runner) -> Iterator[Receiver]:
    receiver = Receiver()
    loop.run(receiver.open())
    yield receiver
    loop.run(receiver.close())


def adds_up(account: OutCounters, given: int, size: int = 93) -> bool:
    """Each message that was given to the link is sent, dropped or queued; their payload is of one size."""
    counts = (account.sent, account.bytes), (account.dropped, account.dropped_bytes)
    rows = (*counts, (account.queued, account.queued_bytes), (account.resent, account.resent_bytes))
    whole = sum(messages for messages, _ in rows[:3]) == given
    return whole and all(sizes == size * messages for messages, sizes in rows)


def order(receiver: Receiver) -> list[int]:
    return [int.from_bytes(data[:4], "big") for _, data in receiver.arrived]


async def test_messages_arrive_in_order_and_are_accounted_for(receiver: Receiver) -> None:
    async with to(receiver) as (link, account):
        for k in range(50):
            link.push(message(k))
            if k % 10 == 9:
                await link.drain(PATIENCE_S)
        assert order(receiver) == list(range(50))
        assert (account.sent, account.acknowledged, account.dropped, account.queued) == (50, 50, 0, 0)
        assert account.sizes == Sizes(values=90 * 50, framing=3 * 50)
        assert account.protobuf_bytes == 50 * (100 - 93)
        assert account.sent_late == 25
        assert account.connects == 1
        assert 0 < account.round_trips <= account.receipts == 50
        assert 0 < account.round_trip_s < PATIENCE_S


async def test_a_receiver_that_does_not_answer_blocks_nobody_and_the_oldest_in_the_queue_give_way(
    receiver: Receiver,
) -> None:
    async with two_unanswered(receiver) as (link, account):
        push(link, range(2, 202))  # returns at once, whatever the receiver does
        await until(lambda: account.queued == QUEUE_MESSAGES)
        assert account.sent == 2  # two unacknowledged, no more
        assert account.dropped == 200 - QUEUE_MESSAGES
        receiver.acknowledging.set()
        await link.drain(PATIENCE_S)
        assert order(receiver) == [0, 1, *range(202 - QUEUE_MESSAGES, 202)]


async def test_a_queue_is_bounded_in_bytes_too(monkeypatch: pytest.MonkeyPatch, receiver: Receiver) -> None:
    monkeypatch.setattr("node.link_queue.QUEUE_BYTES", 10_000)
    async with two_unanswered(receiver, 3000) as (link, account):
        push(link, range(2, 10), 3000)
        assert (account.queued, account.dropped) == (3, 5)
        link.push(message(10, 20_000))  # one that is larger than all the room still gets its chance
        assert (account.queued, account.dropped) == (1, 8)


async def test_delivery_in_order_waits_for_room_instead_of_dropping(receiver: Receiver) -> None:
    receiver.acknowledging.clear()
    async with to(receiver) as (link, account):

        async def push_all() -> None:
            for k in range(200):
                await link.room(PATIENCE_S)
                link.push(message(k))

        pushing = asyncio.create_task(push_all())
        await until(lambda: account.queued == QUEUE_MESSAGES - 2)  # two are under way
        assert not pushing.done()
        receiver.acknowledging.set()
        await asyncio.wait_for(pushing, PATIENCE_S)
        await link.drain(PATIENCE_S)
        assert order(receiver) == list(range(200))
        assert account.dropped == 0


async def test_a_link_whose_receiver_went_away_finds_it_again_and_nothing_is_lost(receiver: Receiver) -> None:
    async with to(receiver) as (link, account):
        link.push(message(0))
        await link.drain(PATIENCE_S)
        await receiver.close()
        push(link, range(1, 20))
        await receiver.open()
        back = time.monotonic()
        await link.drain(PATIENCE_S)
        assert sorted(set(order(receiver))) == list(range(20))
        assert account.connects >= 2
        assert receiver.arrived[-1][0] - back < 5.0  # back-off is at most a second


async def test_what_goes_again_over_a_new_stream_was_sent_once_and_resent_apart(receiver: Receiver) -> None:
    receiver.acknowledging.clear()
    async with to(receiver) as (link, account):
        push(link, range(5))
        await until(lambda: len(receiver.arrived) >= 1 and account.sent == 2)  # and no receipt for either
        assert adds_up(account, 5)
        await receiver.close()
        await receiver.open()
        await until(lambda: account.resent == 2)
        assert (account.sent, account.queued) == (2, 3)
        receiver.acknowledging.set()
        await link.drain(PATIENCE_S)
        assert (account.sent, account.resent, account.acknowledged, account.queued) == (5, 2, 5, 0)
        assert account.protobuf_bytes == (5 + 2) * 7
        assert adds_up(account, 5)


async def test_what_waits_to_be_sent_again_and_is_pushed_out_stays_a_sent_message(receiver: Receiver) -> None:
    async with two_unanswered(receiver) as (link, account):
        await receiver.close()
        gone: list[int] = []
        numbers = count(2)

        def push_until_the_first_is_gone() -> bool:
            gone.extend(old.iteration for old in link.push(message(next(numbers))))
            return 0 in gone

        await until(push_until_the_first_is_gone)  # unless they are being tried, the first two wait in front
        assert account.sent == 2
        assert account.dropped == sum(k > 1 for k in gone) < len(gone)
        assert adds_up(account, next(numbers))


async def test_nothing_that_nobody_took_counts_as_sent(receiver: Receiver) -> None:
    await receiver.close()
    async with to(receiver) as (link, account):
        push(link, range(10))
        await until(lambda: account.connects >= 3)
        assert (account.sent, account.resent, account.queued) == (0, 0, 10)
        assert adds_up(account, 10)


async def test_what_is_on_its_way_counts_and_what_waits_behind_a_dead_neighbour_does_not_until_it_is_back(
    receiver: Receiver,
) -> None:
    async with to(receiver) as (link, account):
        link.push(message(0))
        assert (account.sent, link.counted()) == (0, (1, 93))
        await link.drain(PATIENCE_S)
        await receiver.close()
        await until(lambda: account.connects >= 3)
        push(link, range(1, 6))
        assert link.counted() == (1, 93)
        await receiver.open()
        await link.drain(PATIENCE_S)
        assert link.counted() == (account.sent, account.bytes) == (6, 6 * 93)


async def test_what_waits_behind_a_cut_does_not_count_until_it_is_over(receiver: Receiver) -> None:
    weather = StillConditions(held_s=3600.0)
    async with to(receiver, weather) as (link, account):
        push(link, range(5))
        assert (account.queued, link.counted()) == (5, (0, 0))
        weather.held_s = 0.0
        assert link.counted() == (5, 5 * 93)


async def test_what_waits_behind_a_neighbour_that_no_longer_answers_does_not_count(
    monkeypatch: pytest.MonkeyPatch, receiver: Receiver
) -> None:
    monkeypatch.setattr("node.link._STALLED_AFTER_S", 0.05)
    async with two_unanswered(receiver) as (link, _):
        push(link, range(2, 5))
        await until(lambda: link.counted() == (2, 2 * 93))
        receiver.acknowledging.set()
        await until(lambda: link.counted() == (5, 5 * 93))


async def test_a_neighbour_that_moved_gets_what_it_was_sent(receiver: Receiver) -> None:
    elsewhere = Receiver()
    await elsewhere.open()
    async with to(receiver) as (link, _):
        link.push(message(0))
        await link.drain(PATIENCE_S)
        link.move(Peer(3, f"127.0.0.1:{elsewhere.port}", 1))
        await until(lambda: receiver.streams == 1)
        link.push(message(1))
        await until(lambda: elsewhere.arrived)
        assert (order(receiver), order(elsewhere)) == ([0], [1])
    await elsewhere.close()


async def test_refusals_are_counted_by_reason(receiver: Receiver) -> None:
    receiver.refuse = True
    async with to(receiver) as (link, account):
        push(link, range(3))
        await link.drain(PATIENCE_S)
        assert account.refused_by == {"duplicate": 3}


async def test_an_emulated_delay_postpones_arrival_but_not_the_next_message(receiver: Receiver) -> None:
    async with to(receiver) as (link, _):  # connect first
        link.push(message(0))
        await link.drain(PATIENCE_S)
    receiver.arrived.clear()
    async with to(receiver, StillConditions(LinkSpec(delay_s=0.3))) as (link, account):
        start = time.monotonic()
        push(link, range(2))
        await until(lambda: len(receiver.arrived) == 2)
        times = [moment - start for moment, _ in receiver.arrived]
        assert times[0] >= 0.3
        assert times[1] - times[0] < 0.25  # pipelined: not 0.3 more
        await link.drain(PATIENCE_S)
        assert account.round_trip_s >= 0.3


async def test_a_delay_counts_from_the_moment_a_message_is_sent_not_from_its_push(receiver: Receiver) -> None:
    async with to(receiver, StillConditions(LinkSpec(delay_s=60.0))) as (link, _):
        link.push(message(0), time.monotonic() - 60.0)  # whoever pushed it was late
        await until(lambda: receiver.arrived)


async def test_a_message_of_a_later_moment_waits_for_it_in_the_queue(receiver: Receiver) -> None:
    async with to(receiver) as (link, account):
        at = time.monotonic() + 0.3
        link.push(message(0), at)
        assert (account.queued, link.is_idle) == (1, False)
        await until(lambda: receiver.arrived)
        assert receiver.arrived[0][0] >= at - AHEAD_S


async def test_what_the_way_takes_is_taken_off_the_delay_within_a_limit(receiver: Receiver) -> None:
    """The receiver takes a second for its receipts, as if the way were long; the delay is shorter by the limit."""
    async with to(receiver, StillConditions(LinkSpec(delay_s=0.2))) as (link, _):
        link.push(message(0))
        await link.drain(PATIENCE_S)
        receiver.acknowledging.clear()
        link.push(message(1))
        await until(lambda: len(receiver.arrived) == 2)
        await asyncio.sleep(1.0)
        receiver.acknowledging.set()
        await link.drain(PATIENCE_S)
        start = time.monotonic()
        link.push(message(2))
        assert link.taken_off_s() == AHEAD_S
        await until(lambda: len(receiver.arrived) == 3)
        assert receiver.arrived[2][0] - start >= 0.2 - AHEAD_S


async def test_nothing_is_taken_off_where_the_kernel_has_a_hand_in_the_link(receiver: Receiver) -> None:
    async with to(receiver, StillConditions(LinkSpec(delay_s=0.01), by_kernel=True)) as (link, _):
        for k in range(4):
            start = time.monotonic()
            link.push(message(k))
            await link.drain(PATIENCE_S)
            assert receiver.arrived[k][0] - start >= 0.01
        assert link.taken_off_s() == 0.0


async def test_an_emulated_rate_spaces_messages_out(receiver: Receiver) -> None:
    async with to(receiver, StillConditions(LinkSpec(rate_bps=8 * 10_000 / 0.1))) as (link, _):
        start = time.monotonic()
        push(link, range(4), 10_000)
        await until(lambda: len(receiver.arrived) == 4)
        for number, (moment, _) in enumerate(receiver.arrived, 1):
            assert moment - start >= 0.1 * number - AHEAD_S


async def test_the_window_grows_with_the_bandwidth_delay_product(receiver: Receiver) -> None:
    async with to(receiver, StillConditions(LinkSpec(delay_s=0.2))) as (link, account):
        push(link, range(2))
        await link.drain(PATIENCE_S)
        before = account.sent
        push(link, range(2, 40))
        await link.drain(PATIENCE_S)
        assert order(receiver) == list(range(40))
        assert account.sent == before + 38
