"""The mailbox for algorithms that keep replicas."""

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


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 9))), st.lists(st.integers(0, 9)))
def test_no_message_is_lost_or_handed_over_twice(letters: list[tuple[int, int]], rounds: list[int]) -> None:
    mailbox = filled(*letters)
    taken = [tag for k in sorted(rounds) for tag in tags(mailbox.take(k, TWO))]
    rest = tags(mailbox.take(9, TWO))
    assert sorted(taken + rest) == sorted(letters)
    assert mailbox.late == []
