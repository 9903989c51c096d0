"""The mailbox for algorithms that keep replicas."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pame.algorithms import Received, Wanted
from pame.mailbox import InOrderMailbox

TWO = Wanted((1, 2), 2)


def letter(sender: int, tag: int) -> Received:
    return Received(sender, tag, {}, 1)


def filled(*letters: tuple[int, int], exclude_after: int = 3, waits: bool = True) -> InOrderMailbox:
    mailbox = InOrderMailbox(exclude_after, waits)
    for sender, tag in letters:
        mailbox.put(letter(sender, tag))
    return mailbox


def tags(received: list[Received]) -> list[tuple[int, int]]:
    return [(one.sender, one.iteration) for one in received]


def test_every_message_up_to_the_round_is_handed_over_in_order_of_arrival() -> None:
    mailbox = filled((2, 0), (1, 0), (2, 1), (1, 1))
    assert tags(mailbox.take(1, TWO)) == [(2, 0), (1, 0), (2, 1), (1, 1)]
    assert mailbox.take(1, TWO) == []


def test_messages_of_later_rounds_stay_for_them() -> None:
    mailbox = filled((1, 0), (1, 1), (2, 0))
    assert tags(mailbox.take(0, TWO)) == [(1, 0), (2, 0)]
    assert tags(mailbox.take(1, TWO)) == [(1, 1)]


def test_a_round_waits_for_what_each_wanted_sender_says_up_to_it() -> None:
    mailbox = filled((1, 0), (1, 1), (2, 0))
    assert not mailbox.satisfied(1, TWO)
    mailbox.put(letter(2, 1))
    assert mailbox.satisfied(1, TWO)


def test_a_sender_that_was_missing_too_often_is_not_waited_for_until_it_is_heard_again() -> None:
    mailbox = filled((1, 0), exclude_after=2)
    for _ in range(2):
        assert not mailbox.satisfied(0, TWO)
        mailbox.missed(0, TWO)
    assert mailbox.satisfied(0, TWO)
    mailbox.put(letter(2, 0))
    mailbox.put(letter(1, 1))
    assert not mailbox.satisfied(1, TWO)


def test_a_node_that_never_waits_takes_all_there_is() -> None:
    mailbox = filled((1, 5), (2, 7), waits=False)
    assert mailbox.satisfied(0, TWO)
    assert tags(mailbox.take(0, TWO)) == [(1, 5), (2, 7)]


def test_a_message_that_came_after_its_round_is_handed_to_the_next() -> None:
    mailbox = filled()
    assert mailbox.take(0, TWO) == []
    mailbox.put(letter(1, 0))
    assert tags(mailbox.take(3, TWO)) == [(1, 0)]


def test_it_is_never_full() -> None:
    letters = [(1, tag) for tag in range(200)]
    mailbox = filled(*letters)
    assert tags(mailbox.take(199, TWO)) == letters
    assert mailbox.evicted == []


@pytest.mark.parametrize(
    ("letters", "enough", "satisfied"),
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
    letters: tuple[tuple[int, int], ...], enough: int, satisfied: bool
) -> None:
    assert filled(*letters).satisfied(6, Wanted((1, 2, 3), enough)) is satisfied


def test_a_message_that_will_not_come_is_neither_waited_for_nor_missed() -> None:
    mailbox = filled((2, 0), exclude_after=1)
    mailbox.will_not_come(1, 0)
    assert mailbox.satisfied(0, TWO)
    mailbox.missed(0, TWO)
    mailbox.put(letter(2, 1))
    assert not mailbox.satisfied(1, TWO)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 9))), st.lists(st.integers(0, 9)))
def test_no_message_is_lost_or_handed_over_twice(letters: list[tuple[int, int]], rounds: list[int]) -> None:
    mailbox = filled(*letters)
    taken = [tag for k in sorted(rounds) for tag in tags(mailbox.take(k, TWO))]
    rest = tags(mailbox.take(9, TWO))
    assert sorted(taken + rest) == sorted(letters)
    assert mailbox.late == mailbox.evicted == []
