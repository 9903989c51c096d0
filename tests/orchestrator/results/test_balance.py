"""Records against links, node by node: what was never recorded, and what nobody knows."""

import numpy as np

from orchestrator.results.record_balance import Recorded, balance
from pame.byte_account import ByteAccount, Fate
from pame.codec import Sizes
from pame.observe import Record


def record(node: int, messages: int) -> Record:
    return Record(node, 0, None, None, 0, 0, None, 0, 0, messages, 10 * messages, 0, None)


def account(**fates: dict[tuple[int, int], int]) -> ByteAccount:
    """So many messages of ten bytes by fate and link."""
    made = ByteAccount(4)
    for fate, links in fates.items():
        for (sender, receiver), messages in links.items():
            ends = np.array([sender]), np.array([receiver]), np.array([messages]), np.array([10 * messages])
            made.add_totals(Fate(fate), *ends)
    return made


def sums(recorded: int, unrecorded: int, unknown: int) -> dict[str, int]:
    return {"recorded": recorded, "unrecorded": unrecorded, "unknown": unknown}


def test_records_are_what_was_sent_and_what_waits_or_fell_out_of_a_queue_is_apart() -> None:
    links = account(sent={(0, 1): 3, (1, 0): 4}, queued={(0, 1): 2}, dropped={(0, 1): 7}, resent={(0, 1): 1}).links()
    recorded = Recorded()
    recorded.add([record(0, 3), record(1, 4)])
    assert balance(links.sender, links.messages, recorded.messages) == sums(recorded=7, unrecorded=0, unknown=0)
    assert balance(links.sender, links.bytes, recorded.bytes) == sums(recorded=70, unrecorded=0, unknown=0)


def test_what_one_node_did_not_record_does_not_make_up_for_what_another_never_reported() -> None:
    links = account(sent={(0, 1): 5, (1, 0): 2}, queued={(1, 2): 1}).links()
    recorded = Recorded()
    recorded.add([record(0, 3), record(1, 7), record(3, 1)])
    assert balance(links.sender, links.messages, recorded.messages) == sums(recorded=11, unrecorded=2, unknown=5 + 1)
    assert balance(links.sender, links.bytes, recorded.bytes) == sums(recorded=110, unrecorded=20, unknown=60)


def test_nothing_sent_and_nothing_recorded_is_a_balance_of_nothing() -> None:
    links = ByteAccount(4).links()
    assert balance(links.sender, links.messages, Recorded().messages) == sums(0, 0, 0)


def test_a_message_that_is_held_leaves_the_sent_for_the_queued_until_it_is_handed_over() -> None:
    made = account(sent={(0, 1): 2})
    made.kinds = Sizes(values=18, framing=2)
    made.hold(0, 1, Sizes(values=9, framing=1))
    assert (made.messages(Fate.SENT), made.bytes(Fate.SENT)) == (1, 10)
    assert (made.messages(Fate.QUEUED), made.bytes(Fate.QUEUED)) == (1, 10)
    assert made.kinds == Sizes(values=9, framing=1)
    made.hand_over(0, 1, Sizes(values=9, framing=1))
    assert (made.bytes(Fate.SENT), made.bytes(Fate.QUEUED), made.kinds.values) == (20, 0, 18)
    assert made.links().queued.tolist() == [0]
