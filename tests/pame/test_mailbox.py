"""Mailboxes: which messages a round may use, which are late, whom nobody waits for."""

from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pame.algorithms import Received, Wanted
from pame.mailbox import FreeMailbox, InOrderMailbox, RoundsMailbox

PERIOD = 3
ALL = Wanted((1, 2, 3), 3)


Tags = list[tuple[int, int]]
Mailbox = TypeVar("Mailbox", RoundsMailbox, FreeMailbox, InOrderMailbox)
ONE, TWO = Wanted((1,), 1), Wanted((1, 2), 2)


def message(sender: int, tag: int, size: int = 10) -> Received:
    return Received(sender, tag, {}, size)


def tags(messages: list[Received]) -> Tags:
    return [(received.sender, received.iteration) for received in messages]


def filled(mailbox: Mailbox, *arrivals: tuple[int, ...]) -> Mailbox:
    """It got messages (sender, tag), some with a size, in this order."""
    for arrival in arrivals:
        mailbox.put(message(*arrival))
    return mailbox


def rounds(*arrivals: tuple[int, ...], **settings: int) -> RoundsMailbox:
    return filled(RoundsMailbox(PERIOD, **{"max_lag": 0, "exclude_after": 3, "per_sender": 16, **settings}), *arrivals)


def free(*arrivals: tuple[int, ...]) -> FreeMailbox:
    return filled(FreeMailbox(), *arrivals)


def in_order(*arrivals: tuple[int, ...], exclude_after: int = 3, waits: bool = True) -> InOrderMailbox:
    """The mailbox for algorithms that keep replicas."""
    return filled(InOrderMailbox(exclude_after, waits), *arrivals)


# what has arrived, the lag; of each round what it wants, what it takes, and what is late afterwards
ROUNDS: dict[str, tuple[Tags, int, list[tuple[int, Wanted, Tags, Tags]]]] = {
    "the messages of its own tag": ([(1, 6), (2, 6), (3, 6)], 0, [(6, ALL, [(1, 6), (2, 6), (3, 6)], [])]),
    "the first enough to arrive": (
        [(3, 0), (1, 0), (2, 0)], 0, [(0, Wanted((1, 2, 3), 2), [(3, 0), (1, 0)], [(2, 0)])],
    ),
    "the own tag, not a later or older one, lag 1": ([(1, 3), (1, 6), (1, 9)], 1, [(6, ONE, [(1, 6)], [(1, 3)])]),
    "the own tag, not a later or older one, lag 2": ([(1, 3), (1, 6), (1, 9)], 2, [(6, ONE, [(1, 6)], [])]),
    "without lag neither a later nor an older tag": (
        [(1, 3), (1, 9), (2, 9)], 0, [(6, ALL, [], [(1, 3)]), (9, ALL, [(1, 9), (2, 9)], [(1, 3)])],
    ),
    "with lag the smallest later tag, which is still there for its own round": (
        [(1, 12), (1, 9)], 1, [(6, ONE, [(1, 9)], []), (9, ONE, [(1, 9)], []), (12, ONE, [(1, 12)], [])],
    ),
    "with lag a later tag rather than an older one": ([(1, 3), (1, 9)], 1, [(6, ONE, [(1, 9)], [(1, 3)])]),
    "with lag the newest of the older tags": ([(1, 0), (1, 3)], 2, [(6, ONE, [(1, 3)], [(1, 0)])]),
    "no tag that is older than its lag": ([(1, 0)], 1, [(6, ONE, [], [(1, 0)])]),
    "a tag as old as its lag": ([(1, 0)], 2, [(6, ONE, [(1, 0)], [])]),
    "a tag younger than its lag": ([(1, 0)], 3, [(6, ONE, [(1, 0)], [])]),
    "an older message once": ([(1, 0)], 2, [(3, ONE, [(1, 0)], []), (6, ONE, [], [])]),
    "with lag leftovers until no round can use them": (
        [(1, 0), (2, 0)], 1, [(0, Wanted((1, 2), 1), [(1, 0)], []), (3, ONE, [], [(2, 0)]), (6, ONE, [], [(2, 0)])],
    ),
    **{
        f"a message for a later round only then, lag {lag}": (
            [(1, 0), (1, 3), (2, 0)], lag, [(0, TWO, [(1, 0), (2, 0)], []), (3, ONE, [(1, 3)], [])],
        )
        for lag in (0, 1, 2)
    },
}  # fmt: skip


@pytest.mark.parametrize(("arrivals", "max_lag", "takes"), ROUNDS.values(), ids=ROUNDS)
def test_a_round_takes(arrivals: Tags, max_lag: int, takes: list[tuple[int, Wanted, Tags, Tags]]) -> None:
    mailbox = rounds(*arrivals, max_lag=max_lag)
    for k, wanted, taken, late in takes:
        assert tags(mailbox.take(k, wanted)) == taken
        assert tags(mailbox.late) == late


def test_senders_that_are_not_candidates_of_the_round_do_not_count() -> None:
    mailbox = rounds((9, 0), (1, 0))
    assert not mailbox.satisfied(0, TWO)
    assert tags(mailbox.take(0, TWO)) == [(1, 0)]
    assert tags(mailbox.late) == [(9, 0)]


def test_a_message_that_arrives_after_its_round_is_late_and_never_used() -> None:
    mailbox = rounds()
    mailbox.take(0, ALL)
    mailbox.put(message(1, 0))
    assert tags(mailbox.late) == [(1, 0)]
    assert mailbox.take(3, ALL) == []
    assert tags(mailbox.late) == [(1, 0)]


@pytest.mark.parametrize(
    ("arrivals", "enough", "max_lag", "satisfied"),
    [
        ((), 1, 0, False),
        (((1, 6),), 1, 0, True),
        (((1, 6),), 2, 0, False),
        (((1, 6), (2, 6)), 2, 0, True),
        (((1, 6), (2, 6)), 3, 0, False),
        (((1, 9),), 1, 0, False),  # 1 has dropped tag 6, but 2 and 3 may still come
        (((1, 9), (2, 9)), 1, 0, False),
        (((1, 9), (2, 9), (3, 9)), 1, 0, True),  # all are known to be missing
        (((1, 9), (2, 6), (3, 6)), 3, 0, True),  # what can come has come
        (((1, 3),), 1, 0, False),
        (((1, 3),), 1, 1, True),
        (((1, 0),), 1, 1, False),
        (((1, 9),), 1, 1, True),
        (((1, 9),), 2, 1, False),
    ],
)
def test_when_there_is_nothing_left_to_wait_for(
    arrivals: tuple[tuple[int, int], ...], enough: int, max_lag: int, satisfied: bool
) -> None:
    assert rounds(*arrivals, max_lag=max_lag).satisfied(6, Wanted((1, 2, 3), enough)) is satisfied


def test_a_sender_is_suspect_after_exclude_after_misses_in_a_row() -> None:
    mailbox = rounds(exclude_after=3)
    for k in (0, 3, 6):
        assert mailbox.suspects() == []
        mailbox.put(message(2, k))
        assert not mailbox.satisfied(k, TWO)
        mailbox.missed(k, TWO)
        assert tags(mailbox.take(k, TWO)) == [(2, k)]
    assert mailbox.suspects() == [1]
    assert not mailbox.satisfied(9, TWO)  # 2 is still waited for
    mailbox.put(message(2, 9))
    assert mailbox.satisfied(9, TWO)


def test_a_message_between_two_misses_starts_the_count_anew() -> None:
    mailbox = rounds(exclude_after=2)
    mailbox.missed(0, ONE)
    mailbox.take(0, ONE)
    mailbox.put(message(1, 3))
    mailbox.take(3, ONE)
    mailbox.missed(6, ONE)
    assert mailbox.suspects() == []
    mailbox.missed(9, ONE)
    assert mailbox.suspects() == [1]


@pytest.mark.parametrize("tag", [0, 3, 6])
def test_any_message_of_a_suspect_even_a_late_one_makes_it_awaited_again(tag: int) -> None:
    mailbox = rounds(exclude_after=1)
    mailbox.missed(0, ONE)
    mailbox.take(0, ONE)
    assert mailbox.satisfied(3, ONE)
    mailbox.put(message(1, tag))
    assert mailbox.suspects() == []
    assert mailbox.satisfied(9, ONE) is False


def test_a_full_mailbox_evicts_the_oldest_of_that_sender_only() -> None:
    mailbox = rounds((1, 0), (2, 0), (1, 3), (1, 6), (2, 3), per_sender=2)
    assert tags(mailbox.evicted) == [(1, 0)]
    assert tags(mailbox.take(0, TWO)) == [(2, 0)]
    assert tags(mailbox.take(3, TWO)) == [(1, 3), (2, 3)]
    assert tags(mailbox.take(6, TWO)) == [(1, 6)]
    assert mailbox.late == []


def test_a_mailbox_holds_sixty_four_messages_of_a_sender() -> None:
    mailbox = filled(RoundsMailbox(PERIOD, 0, 3), *((1, tag) for tag in range(0, 66 * PERIOD, PERIOD)), (2, 0))
    assert tags(mailbox.evicted) == [(1, 0), (1, PERIOD)]


def test_a_message_that_was_evicted_is_not_waited_for() -> None:
    mailbox = rounds((1, 0), (1, 3), per_sender=1)
    assert mailbox.satisfied(0, ONE)
    assert mailbox.take(0, ONE) == []


def test_a_second_message_with_the_same_sender_and_tag_is_late_and_the_first_is_used() -> None:
    mailbox = rounds((1, 0), (2, 0))
    first = mailbox.take(0, ONE)
    for size in (11, 12):
        mailbox.put(message(1, 3, size))
    assert [received.size for received in mailbox.late if received.sender == 1] == [12]
    assert [received.size for received in mailbox.take(3, ONE)] == [11]
    assert tags(first) == [(1, 0)]
    mailbox.put(message(1, 3))
    assert mailbox.take(6, ALL) == []
    assert sorted(tags(mailbox.late)) == [(1, 3), (1, 3), (2, 0)]


def test_with_lag_a_copy_of_a_message_that_was_used_is_late() -> None:
    mailbox = rounds((1, 0), max_lag=1)
    mailbox.take(0, ONE)
    mailbox.put(message(1, 0))
    assert mailbox.take(3, ONE) == []
    assert tags(mailbox.late) == [(1, 0)]


def test_a_message_that_will_not_come_is_not_waited_for_but_the_others_and_the_next_ones_are() -> None:
    mailbox = rounds()
    mailbox.will_not_come(1, 6)
    assert not mailbox.satisfied(6, TWO)
    mailbox.put(message(2, 6))
    assert mailbox.satisfied(6, TWO)
    assert tags(mailbox.take(6, TWO)) == [(2, 6)]
    mailbox.put(message(2, 9))
    assert not mailbox.satisfied(9, TWO)


def test_a_spare_takes_the_place_of_a_message_that_will_not_come() -> None:
    mailbox = rounds()
    hedged = Wanted((1, 2, 3), 2)
    mailbox.will_not_come(1, 6)
    mailbox.put(message(2, 6))
    assert not mailbox.satisfied(6, hedged)  # 3 may still come
    mailbox.put(message(3, 6))
    assert mailbox.satisfied(6, hedged)


@pytest.mark.parametrize("arrivals", [[], [(1, 9)]], ids=["said so", "a later one came"])
def test_a_message_that_will_not_come_is_no_miss(arrivals: Tags) -> None:
    mailbox = rounds(*arrivals, exclude_after=1)
    if not arrivals:
        mailbox.will_not_come(1, 6)
    mailbox.missed(6, TWO)
    assert mailbox.suspects() == [2]


def test_a_suspect_whose_message_will_not_come_stays_suspect() -> None:
    mailbox = rounds(exclude_after=1)
    mailbox.missed(0, ONE)
    mailbox.will_not_come(1, 3)
    assert mailbox.suspects() == [1]
    assert mailbox.satisfied(6, ONE)


def test_with_lag_another_message_fills_in_for_one_that_will_not_come() -> None:
    mailbox = rounds((1, 3), max_lag=1)
    mailbox.will_not_come(1, 6)
    assert tags(mailbox.take(6, ONE)) == [(1, 3)]


SENDERS = (0, 1, 2, 3)


class Pile:
    """The obvious mailbox: a pile of (sender, tag) in order of arrival, searched from scratch each time."""

    def __init__(self, max_lag: int, per_sender: int) -> None:
        self.live: Tags = []
        self.used: Tags = []
        self.late: Tags = []
        self.evicted: Tags = []
        self.oldest = 0
        self.max_lag, self.per_sender = max_lag, per_sender

    def put(self, sender: int, tag: int) -> None:
        if tag < self.oldest:
            self.late.append((sender, tag))
            return
        self.live.append((sender, tag))
        of_sender = [item for item in self.live if item[0] == sender]
        if len(of_sender) > self.per_sender:
            self.evicted.append(min(of_sender))
            self.live.remove(min(of_sender))

    def take(self, k: int, enough: int) -> Tags:
        chosen = [item for sender in SENDERS if (item := self.choice(sender, k)) is not None]
        taken = sorted(chosen, key=self.live.index)[:enough]
        self.oldest = k + PERIOD - self.max_lag * PERIOD
        gone = [item for item in taken if item[1] <= k]
        self.used += gone
        self.late += [item for item in self.live if item not in gone and item[1] < self.oldest]
        self.live = [item for item in self.live if item not in gone and item[1] >= self.oldest]
        return taken

    def choice(self, sender: int, k: int) -> tuple[int, int] | None:
        tags = sorted(tag for who, tag in self.live if who == sender)
        later = [tag for tag in tags if tag > k]
        older = [tag for tag in tags if k - self.max_lag * PERIOD <= tag < k]
        by_preference = [k] * (k in tags) + (later[:1] + older[-1:] if self.max_lag else [])
        return (sender, by_preference[0]) if by_preference else None


@settings(max_examples=150, deadline=None)
@given(
    events=st.lists(st.tuples(st.integers(-4, 3), st.integers(1, 3)), max_size=50),
    max_lag=st.integers(0, 2),
    per_sender=st.integers(1, 4),
)
def test_whatever_happens_every_message_has_one_fate_and_a_permitted_tag(
    events: list[tuple[int, int]], max_lag: int, per_sender: int
) -> None:
    """An event of 0 or more is a message of that sender, whose tags ascend with gaps (dropped messages); a negative one
    is the next round, with so many messages enough."""
    mailbox, pile = RoundsMailbox(PERIOD, max_lag, 2, per_sender), Pile(max_lag, per_sender)
    next_tag = dict.fromkeys(SENDERS, 0)
    put: Tags = []
    used: Tags = []
    k = 0
    for event, gap in events:
        if event >= 0:
            put.append((event, next_tag[event]))
            mailbox.put(message(*put[-1]))
            pile.put(*put[-1])
            next_tag[event] += gap * PERIOD
            continue
        taken = tags(mailbox.take(k, Wanted(SENDERS, -event)))
        assert taken == pile.take(k, -event)
        assert max_lag > 0 or all(tag == k for _, tag in taken)
        used += taken
        k += PERIOD
        assert sorted(tags(mailbox.late)) == sorted(pile.late)
        assert tags(mailbox.evicted) == pile.evicted
    assert sorted(pile.used + pile.late + pile.live + pile.evicted) == sorted(put)
    if max_lag == 0:
        assert len(set(used)) == len(used)
        assert len(used) + len(mailbox.late) + len(pile.live) + len(mailbox.evicted) == len(put)


def test_too_many_bytes_evict_the_oldest_of_the_sender_who_put_them() -> None:
    mailbox = rounds((1, 0, 40), (2, 0, 30), (2, 3, 30), (2, 6, 25), most_bytes=100)
    assert tags(mailbox.evicted) == [(2, 0)]
    assert mailbox.bytes == 95


def test_a_sender_who_floods_a_mailbox_costs_the_others_nothing() -> None:
    mailbox = rounds((1, 0, 60), *((2, tag, 50) for tag in range(0, 30, PERIOD)), most_bytes=100)
    assert len(mailbox.evicted) == 10
    assert tags(mailbox.take(0, TWO)) == [(1, 0)]


def test_what_was_taken_late_or_evicted_is_no_longer_in_the_bytes() -> None:
    mailbox = rounds((1, 0), (1, 3), (1, 6), (2, 0, 7), (3, 3, 5), per_sender=2, most_bytes=100)  # evicts (1, 0)
    assert mailbox.bytes == 32
    mailbox.take(0, TWO)  # takes (2, 0)
    assert mailbox.bytes == 25
    mailbox.take(3, ONE)  # takes (1, 3); (3, 3) becomes late
    assert mailbox.bytes == 10


@given(puts=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 60)), max_size=60))
def test_whatever_is_put_a_mailbox_stays_within_its_bytes_and_loses_nothing_uncounted(
    puts: list[tuple[int, int]],
) -> None:
    mailbox = rounds(per_sender=5, most_bytes=150)
    for number, (sender, size) in enumerate(puts):
        mailbox.put(message(sender, number, size))
        assert mailbox.bytes <= 150
    gone = sum(received.size for received in mailbox.evicted)
    assert mailbox.bytes == sum(size for _, size in puts) - gone


@pytest.mark.parametrize(
    ("arrivals", "taken", "late"),
    [
        ([(2, 4), (1, 0), (2, 6)], [(2, 6), (1, 0)], [(2, 4)]),  # the newest of each, in order of their first arrival
        ([(3, 1), (1, 1), (2, 1)], [(3, 1), (1, 1)], [(2, 1)]),  # the first two senders
    ],
)
def test_free_takes_the_newest_of_the_first_senders_the_rest_is_late(arrivals: Tags, taken: Tags, late: Tags) -> None:
    mailbox = free(*arrivals)
    assert tags(mailbox.take(7, Wanted((1, 2, 3), 2))) == taken
    assert tags(mailbox.late) == late


def test_free_is_empty_after_an_aggregation() -> None:
    mailbox = free((1, 1), (2, 1))
    mailbox.take(7, Wanted((1, 2), 1))
    assert mailbox.take(7, TWO) == []
    mailbox.put(message(2, 5))
    assert tags(mailbox.take(7, TWO)) == [(2, 5)]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-3, 4), max_size=60))
def test_free_uses_or_counts_as_late_every_message_exactly_once(events: list[int]) -> None:
    """An event of 0 or more is an arrival from that sender, a negative one an aggregation of so many."""
    mailbox = FreeMailbox()
    put: Tags = []
    used: Tags = []
    since: Tags = []
    for tag, event in enumerate([*events, -3]):
        if event >= 0:
            put.append((event, tag))
            since.append((event, tag))
            mailbox.put(message(event, tag))
            continue
        newest = dict(since)  # a later tag replaces the value and keeps the place
        expected = list(newest.items())[:-event]
        taken = tags(mailbox.take(7, Wanted((0, 1, 2, 3, 4), -event)))
        assert taken == expected
        used += taken
        since = []
    assert sorted(used + tags(mailbox.late)) == sorted(put)


def test_free_never_waits_and_misses_nobody() -> None:
    mailbox = free()
    assert mailbox.satisfied(0, ALL)
    mailbox.missed(0, ALL)
    mailbox.will_not_come(1, 0)
    assert mailbox.take(0, ALL) == []
    mailbox.put(message(1, 0))
    assert tags(mailbox.take(0, ALL)) == [(1, 0)]


FLOOD = [(1, tag) for tag in range(200)]
# what has arrived; of each round what it takes
IN_ORDER: dict[str, tuple[Tags, list[tuple[int, Tags]]]] = {
    "every message up to it in order of arrival, once": (
        [(2, 0), (1, 0), (2, 1), (1, 1)], [(1, [(2, 0), (1, 0), (2, 1), (1, 1)]), (1, [])],
    ),
    "no message of a later round, which stays for that": (
        [(1, 0), (1, 1), (2, 0)], [(0, [(1, 0), (2, 0)]), (1, [(1, 1)])],
    ),
    "all there is, for it is never full": (FLOOD, [(199, FLOOD)]),
}  # fmt: skip


@pytest.mark.parametrize(("arrivals", "takes"), IN_ORDER.values(), ids=IN_ORDER)
def test_in_order_a_round_takes(arrivals: Tags, takes: list[tuple[int, Tags]]) -> None:
    mailbox = in_order(*arrivals)
    for k, taken in takes:
        assert tags(mailbox.take(k, TWO)) == taken
    assert mailbox.evicted == []


def test_a_round_waits_for_what_each_wanted_sender_says_up_to_it() -> None:
    mailbox = in_order((1, 0), (1, 1), (2, 0))
    assert not mailbox.satisfied(1, TWO)
    mailbox.put(message(2, 1))
    assert mailbox.satisfied(1, TWO)


def test_in_order_a_sender_that_was_missing_too_often_is_not_waited_for_until_it_is_heard_again() -> None:
    mailbox = in_order((1, 0), exclude_after=2)
    for _ in range(2):
        assert not mailbox.satisfied(0, TWO)
        mailbox.missed(0, TWO)
    assert mailbox.satisfied(0, TWO)
    mailbox.put(message(2, 0))
    mailbox.put(message(1, 1))
    assert not mailbox.satisfied(1, TWO)


def test_in_order_a_node_that_never_waits_takes_all_there_is() -> None:
    mailbox = in_order((1, 5), (2, 7), waits=False)
    assert mailbox.satisfied(0, TWO)
    assert tags(mailbox.take(0, TWO)) == [(1, 5), (2, 7)]


def test_in_order_a_message_that_came_after_its_round_is_handed_to_the_next() -> None:
    mailbox = in_order()
    assert mailbox.take(0, TWO) == []
    mailbox.put(message(1, 0))
    assert tags(mailbox.take(3, TWO)) == [(1, 0)]


@pytest.mark.parametrize(
    ("arrivals", "enough", "satisfied"),
    [
        ((), 1, False),
        (((1, 5),), 1, False),  # older messages do not make the round complete
        (((1, 6),), 1, True),
        (((1, 6),), 2, False),
        (((1, 9), (2, 6)), 2, True),  # a later one says that nothing is missing any more
        (((1, 6), (2, 6), (3, 6)), 3, True),
    ],
)
def test_a_round_waits_until_enough_senders_have_said_all_up_to_it(
    arrivals: tuple[tuple[int, int], ...], enough: int, satisfied: bool
) -> None:
    assert in_order(*arrivals).satisfied(6, Wanted((1, 2, 3), enough)) is satisfied


def test_in_order_a_message_that_will_not_come_is_neither_waited_for_nor_missed() -> None:
    mailbox = in_order((2, 0), exclude_after=1)
    mailbox.will_not_come(1, 0)
    assert mailbox.satisfied(0, TWO)
    mailbox.missed(0, TWO)
    mailbox.put(message(2, 1))
    assert not mailbox.satisfied(1, TWO)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 9))), st.lists(st.integers(0, 9)))
def test_in_order_no_message_is_lost_or_handed_over_twice(arrivals: Tags, ks: list[int]) -> None:
    mailbox = in_order(*arrivals)
    taken = [tag for k in sorted(ks) for tag in tags(mailbox.take(k, TWO))]
    rest = tags(mailbox.take(9, TWO))
    assert sorted(taken + rest) == sorted(arrivals)
    assert mailbox.late == mailbox.evicted == []
