"""What a node under the clock tells its patience: how long after the begin of a round the round's messages came."""

from dataclasses import replace

import pytest

from pame.algorithms import Received, Wanted
from pame.participant import Participant
from pame.rules import Exchange
from tests.pame.simulator.harness import all_pairs, world

ALL = Wanted(tuple(range(1, 9)), 8)


def node() -> Participant:
    """Node 0 of nine, all joined, with an adaptive patience: 30 s until eight waits are known."""
    setting = replace(world(all_pairs(9), (1,) * 9), exchange=Exchange(patience_s="adaptive"))
    return Participant(setting, 0, setting.nodes()[0])


def begin(made: Participant, k: int, now: float) -> None:
    made.k = k
    made.begin(now, ALL, [])


def deliver_eight(made: Participant, tag: int, now: float) -> None:
    for sender in ALL.senders:
        made.deliver(Received(sender, tag, {}, 10), now)


def test_messages_that_come_during_their_round_teach_how_long_they_took() -> None:
    made = node()
    begin(made, 0, 5.0)
    deliver_eight(made, 0, 6.5)
    assert made.patience.seconds() == pytest.approx(1.5)


def test_messages_that_come_after_their_round_teach_how_long_they_took() -> None:
    made = node()
    begin(made, 0, 5.0)
    made.end_of_wait(5.5)
    begin(made, 1, 6.0)
    deliver_eight(made, 0, 9.0)
    assert made.patience.seconds() == pytest.approx(4.0)


def test_messages_that_were_there_before_their_round_teach_that_they_took_no_waiting() -> None:
    """Eight waits of 0 and seven of 10: the median is 0, and so is the middle distance from it. With nine of 10 the
    median is 10, and the middle distance 0 again: had the early ones been told twice, it would still be 0."""
    made = node()
    begin(made, 0, 0.0)
    deliver_eight(made, 3, 1.0)
    assert made.patience.seconds() == 30.0  # nothing is known before that round begins
    begin(made, 3, 5.0)
    assert made.patience.seconds() == 0.2
    for sender in range(1, 8):
        made.deliver(Received(sender, 0, {}, 10), 10.0)
    assert made.patience.seconds() == 0.2
    begin(made, 3, 20.0)
    for sender in (1, 2):
        made.deliver(Received(sender, 0, {}, 10), 10.0)
    assert made.patience.seconds() == pytest.approx(10.0)


def test_the_begins_of_the_last_sixty_four_rounds_are_remembered() -> None:
    made = node()
    for k in range(65):
        begin(made, k, float(k))
    deliver_eight(made, 0, 80.0)
    assert made.patience.seconds() == 30.0
    deliver_eight(made, 1, 3.0)
    assert made.patience.seconds() == pytest.approx(2.0)


def test_a_node_hands_out_what_is_late_or_evicted_once() -> None:
    made = node()
    begin(made, 0, 0.0)
    for tag in range(66):
        made.deliver(Received(1, tag, {}, 10), 0.0)
    made.deliver(Received(1, 65, {}, 10), 0.0)
    late, evicted = made.unused()
    assert [message.iteration for message in late] == [65]
    assert [message.iteration for message in evicted] == [0, 1]
    assert made.unused() == ([], [])
